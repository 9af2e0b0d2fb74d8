import type { ParseError } from "../ids/layout/layout.ts";
import type { Candidate, LoadErrors } from "./table.ts";

export type RoutingError =
  /** `isRespelled`: servers may read it as a path that goes elsewhere. `isOtherHost`: its owners have other hosts. */
  | {
      readonly reason: "unrouted-path";
      readonly path: string;
      readonly isRespelled?: boolean;
      readonly isOtherHost?: boolean;
    }
  | { readonly reason: "malformed-id"; readonly id: string; readonly faults: readonly LayoutFault[] }
  | { readonly reason: "unknown-id"; readonly id: string; readonly candidates: readonly Candidate[] }
  | { readonly reason: "ambiguous-id"; readonly id: string; readonly candidates: readonly Candidate[] }
  | { readonly reason: "entity-gone"; readonly id: string; readonly entity: string }
  | {
      /** The pattern of the path names one layout, and the request another one. */
      readonly reason: "layout-mismatch";
      readonly id: string;
      readonly entity: string;
      /** The layout of the pattern; `said`: the one of the request. */
      readonly layout: string;
      readonly said: string;
    }
  | {
      readonly reason: "wrong-entity";
      readonly id: string;
      readonly entity: string;
      readonly candidates: readonly Candidate[];
    }
  | {
      readonly reason: "unassigned-key";
      /** Absent for a minted ID that is not returned. */
      readonly id?: string;
      readonly entity: string;
      readonly layout: string;
      /** Absent in IDs of public entities, where it is secret. */
      readonly key?: Readonly<Record<string, string>>;
    }
  /** Something must be loaded first: load it and try again. */
  | LoadErrors[keyof LoadErrors]
  | FeatureErrors[keyof FeatureErrors];

/** By reason. Features add theirs. */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it.
export interface FeatureErrors {}

export type LayoutFault = { readonly layout: string; readonly error: ParseError };
