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
    meaning:
      "The request carries several IDs where the routing table reads them, and they belong to several regions. `ids` lists each with its place. No origin was contacted.",
    remedy: "Send a request for each region.",
    detail: ({ ids }) =>
      `The IDs of this request lead to ${[...new Set(ids.map(({ region }) => region))].join(" and ")}.`,
    members: ["ids"],
  },
  "id-not-in-time": {
    status: 422,
    title: "The ID comes too late in the body",
    meaning:
      "The routing table reads an ID from the body, within `withinBytes` of its first bytes. They have been read, and the ID has not ended. No origin was contacted.",
    remedy: "Send the member or field with the ID first.",
    detail: ({ withinBytes }) => `No ID ends within the first ${withinBytes} bytes of the body, and the body goes on.`,
    members: ["withinBytes"],
  },
  "id-unreadable": {
    status: 422,
    title: "No ID can be read there",
    meaning:
      "Where the routing table reads an ID is something else: several values, an object, a fraction, or a body whose type or coding the gateway does not read. Passed over, it might lead to another region. No origin was contacted.",
    remedy: "Send what `detail` asks for.",
    detail: ({ detail }) => detail,
  },
};
