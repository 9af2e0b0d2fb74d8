import type { ProblemsOf } from "../../problems/feature.ts";

export type ListError =
  | { readonly reason: "list-cursor-invalid"; readonly why: "malformed" | "expired" | "other-list" | "other-caller" }
  /** `regions`: what each that failed lacked, by name. */
  | {
      readonly reason: "list-incomplete";
      readonly entity: string;
      readonly regions: Readonly<Record<string, string>>;
    }
  | { readonly reason: "cursors-unavailable" };

export const listProblems: ProblemsOf<ListError> = {
  "list-cursor-invalid": {
    status: 400,
    title: "Invalid cursor",
    detail: ({ why }) => `${CURSOR_SENTENCES[why]} Start again without a cursor.`,
    members: ["why"],
  },
  "list-incomplete": {
    status: 503,
    title: "List incomplete",
    detail: ({ regions }) => `The list lacks the items of ${Object.keys(regions).join(", ")}.`,
    members: ["regions"],
  },
  "cursors-unavailable": {
    status: 503,
    title: "No key for cursors",
    detail: "This deployment has no key to seal cursors with.",
  },
};

const CURSOR_SENTENCES = {
  malformed: "The cursor is not one that this gateway made.",
  expired: "The cursor has expired.",
  "other-list": "The cursor belongs to another list, or to one with other parameters.",
  "other-caller": "The cursor belongs to another caller.",
} as const;
