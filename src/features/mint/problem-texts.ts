import type { TextsOf } from "../../problems/feature.ts";
import type { SequenceError } from "./problems.ts";

/** The page of each problem: pages and documents alone load it. */
export const mintTexts: TextsOf<SequenceError> = {
  "sequence-unavailable": {
    meaning:
      "Numbers for this group are reserved from a durable sequence, which did not respond. Or the setting `SEQUENCE_RANGE` is invalid.",
    remedy: "Retry shortly; no number is ever given twice. The operator corrects the setting, which `/-/ready` lists.",
  },
  "sequence-range-refused": {
    meaning:
      "`SEQUENCE_RANGE` does not go on from the keys that this deployment has given: it has no first key though the sequence began with one, or its first key is not above them.",
    remedy: "The operator sets the former range again, or one `from` a key that no gateway has given. None was given.",
  },
  "sequence-ahead": {
    meaning:
      "IDs of this layout take their time and counter from a sequence, which is 60 s ahead of the clock. The refused request used none of it up.",
    remedy: "Retry after `retry-after`, or ask for fewer IDs.",
  },
  "sequence-exhausted": {
    meaning: "Every primary key that fits the field has been assigned.",
    remedy: "Use another group for new entities.",
  },
};
