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
    detail: ({ name, isRangeInvalid }) =>
      isRangeInvalid === true
        ? `SEQUENCE_RANGE of this deployment is invalid, so the sequence "${name}" gives nothing.`
        : `The sequence "${name}" did not respond.`,
  },
  "sequence-range-refused": {
    status: 503,
    title: "Sequence counted in another way",
    detail: ({ name, least }) =>
      `The sequence "${name}" was counted by another SEQUENCE_RANGE; a new one begins at ${least} or later.`,
  },
  "sequence-ahead": {
    status: 503,
    title: "Numbers used up for now",
    detail: ({ name, retryAfterSeconds }) =>
      `The sequence "${name}" has assigned the numbers of the next 60 s. In ${retryAfterSeconds} s it has as many as were asked for.`,
  },
  "sequence-exhausted": {
    status: 503,
    title: "Sequence exhausted",
    detail: ({ name, max }) => `The sequence "${name}" has assigned every number up to ${max}.`,
  },
};
