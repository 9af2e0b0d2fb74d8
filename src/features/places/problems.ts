import type { ProblemsOf } from "../../problems/feature.ts";

export type PlaceError =
  | {
      readonly reason: "ids-disagree";
      /** `id`: absent for a public entity. */
      readonly ids: readonly {
        readonly place: string;
        readonly entity: string;
        readonly id?: string;
        readonly region: string;
      }[];
    }
  | { readonly reason: "id-not-in-time"; readonly withinBytes: number }
  | { readonly reason: "id-unreadable"; readonly detail: string };

export const placeProblems: ProblemsOf<PlaceError> = {
  "ids-disagree": {
    status: 422,
    title: "The IDs lead to several regions",
    detail: ({ ids }) =>
      `The IDs of this request lead to ${[...new Set(ids.map(({ region }) => region))].join(" and ")}.`,
    members: ["ids"],
  },
  "id-not-in-time": {
    status: 422,
    title: "The ID comes too late in the body",
    detail: ({ withinBytes }) => `No ID ends within the first ${withinBytes} bytes of the body, and the body goes on.`,
    members: ["withinBytes"],
  },
  "id-unreadable": {
    status: 422,
    title: "No ID can be read there",
    detail: ({ detail }) => detail,
  },
};
