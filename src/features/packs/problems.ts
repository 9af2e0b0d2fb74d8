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
    detail: ({ sha256, why }) => `Pack ${sha256}: ${why}.`,
    members: ["sha256"],
  },
  "invalid-pack": {
    status: 422,
    title: "Bytes do not match the pack",
    detail: ({ part, why }) => `${part === "header" ? "The header" : `Page ${part}`} does not match the pack: ${why}.`,
    members: ["part", "fault"],
  },
};
