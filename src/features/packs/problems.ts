import type { ProblemsOf } from "../../problems/feature.ts";
import type { PackFault } from "./table/format.ts";

/** Why a part of a pack was rejected. `fault`: the error in its bytes. */
export type PackError =
  | { readonly reason: "unknown-pack"; readonly sha256: string; readonly why: string }
  | {
      readonly reason: "invalid-pack";
      readonly part: "header" | number;
      readonly fault: PackFault["reason"];
      readonly why: string;
    };

export const packProblems: ProblemsOf<PackError> = {
  "unknown-pack": {
    status: 404,
    title: "Unknown pack or page",
    meaning:
      "A page was sent before the pack's header, or the pack has no page of this number. Without the header the bytes cannot be verified.",
    remedy: "Send the header first: `PUT /-/table/packs/:sha256`. `waybill table upload-packs` does all of it.",
    detail: ({ sha256, why }) => `Pack ${sha256}: ${why}.`,
    members: ["sha256"],
  },
  "invalid-pack": {
    status: 422,
    title: "Bytes do not match the pack",
    meaning:
      "The digest of the header is not that in the path, the digest of the page is not that in the header, or the ranges are invalid. `part` names the part and `fault` the error. Nothing was stored.",
    remedy: "Send the bytes again, cut at the offsets of the header; `waybill table check` verifies the file.",
    detail: ({ part, why }) => `${part === "header" ? "The header" : `Page ${part}`} does not match the pack: ${why}.`,
    members: ["part", "fault"],
  },
};
