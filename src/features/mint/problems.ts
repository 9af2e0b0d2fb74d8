import type { ProblemsOf } from "../../problems/feature.ts";

export type SequenceError =
  | { readonly reason: "sequence-exhausted"; readonly name: string; readonly max: number }
  /** `isRangeInvalid`: SEQUENCE_RANGE cannot be read, so no retry helps. */
  | { readonly reason: "sequence-unavailable"; readonly name: string; readonly isRangeInvalid?: true }
  /** `least`: the first key that SEQUENCE_RANGE may name now. */
  | { readonly reason: "sequence-range-refused"; readonly name: string; readonly least: number }
  | { readonly reason: "sequence-ahead"; readonly name: string; readonly retryAfterSeconds: number };

export const mintProblems: ProblemsOf<SequenceError> = {
  "sequence-unavailable": {
    status: 503,
    title: "Sequence unavailable",
    meaning:
      "Numbers for this group are reserved from a durable sequence, which did not respond. Or the setting `SEQUENCE_RANGE` is invalid.",
    remedy: "Retry shortly; no number is ever given twice. The operator corrects the setting, which `/-/ready` lists.",
    detail: ({ name, isRangeInvalid }) =>
      isRangeInvalid === true
        ? `SEQUENCE_RANGE of this deployment is invalid, so the sequence "${name}" gives nothing.`
        : `The sequence "${name}" did not respond.`,
  },
  "sequence-range-refused": {
    status: 503,
    title: "Sequence counted in another way",
    meaning:
      "`SEQUENCE_RANGE` does not go on from the keys that this deployment has given: it has no first key though the sequence began with one, or its first key is not above them.",
    remedy: "The operator sets the former range again, or one `from` a key that no gateway has given. None was given.",
    detail: ({ name, least }) =>
      `The sequence "${name}" was counted by another SEQUENCE_RANGE; a new one begins at ${least} or later.`,
  },
  "sequence-ahead": {
    status: 503,
    title: "Numbers used up for now",
    meaning:
      "IDs of this layout take their time and counter from a sequence, which is 60 s ahead of the clock. The refused request used none of it up.",
    remedy: "Retry after `retry-after`, or ask for fewer IDs.",
    detail: ({ name, retryAfterSeconds }) =>
      `The sequence "${name}" has assigned the numbers of the next 60 s. In ${retryAfterSeconds} s it has as many as were asked for.`,
  },
  "sequence-exhausted": {
    status: 503,
    title: "Sequence exhausted",
    meaning: "Every primary key that fits the field has been assigned.",
    remedy: "Use another group for new entities.",
    detail: ({ name, max }) => `The sequence "${name}" has assigned every number up to ${max}.`,
  },
};
