import type { TextsOf } from "../../problems/feature.ts";
import type { PackError } from "./problems.ts";

/** The page of each problem: pages and documents alone load it. */
export const packTexts: TextsOf<PackError> = {
  "unknown-pack": {
    meaning:
      "A page was sent before the pack's header, or the pack has no page of this number. Without the header the bytes cannot be verified.",
    remedy: "Send the header first: `PUT /-/table/packs/:sha256`. `waybill table upload-packs` does all of it.",
  },
  "invalid-pack": {
    meaning:
      "The digest of the header is not that in the path, the digest of the page is not that in the header, or the ranges are invalid. `part` names the part and `fault` the error. Nothing was stored.",
    remedy: "Send the bytes again, cut at the offsets of the header; `waybill table check` verifies the file.",
  },
};
