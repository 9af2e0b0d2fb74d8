import type { TextsOf } from "../../problems/feature.ts";
import type { DirectoryError } from "./problems.ts";

/** The page of each problem: pages and documents alone load it. */
export const directoryTexts: TextsOf<DirectoryError> = {
  "malformed-key": {
    meaning:
      "The text is no key of its directory: its percent-encoding, its characters or its length are not those of the declared form. No origin was contacted.",
    remedy: "Correct what `detail` names. The routing table declares the form.",
  },
  "unknown-key": {
    meaning: "The directory has no such key, or its claim is not confirmed yet.",
    remedy: "Check the key. A key that was claimed just now is known after the directory's `absentSeconds`.",
  },
  "key-reserved": {
    meaning: "Another claim holds the key until its lease ends. Nothing was changed.",
    remedy: "Retry after `retry-after`, or choose another key.",
  },
  "claim-lost": {
    meaning: "The key is not reserved by this operation any more: its lease ended, or it was released or taken over.",
    remedy: "Undo what was to be named by the key, or reserve it again.",
  },
  "key-taken": {
    meaning: "The key is confirmed, for another owner or in another region. Nothing was changed.",
    remedy: "Choose another key. A key that is yours is moved by `if-match`.",
  },
  "stale-key": {
    meaning: "`if-match` does not name the key's current version. Nothing was changed.",
    remedy: "Get the key, and send the change with its `etag`.",
  },
  "directory-unavailable": {
    meaning:
      "No layer of the directory could say where the key is, or too many unknown keys are asked for. The key does not count as absent.",
    remedy: "Retry after `retry-after`. A claim may be sent again as it was.",
  },
  "directory-full": {
    meaning: "The Durable Object of the key has no room for another one. Keys that are there are served and changed.",
    remedy: "Remove keys of the directory, or ask the operator.",
  },
};
