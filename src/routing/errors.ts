import type { ParseError } from "../ids/layout/layout.ts";
import type { MissingPage } from "./packs/pack.ts";
import type { Candidate } from "./table.ts";

/** Why a text or a path leads nowhere. */
export type RoutingError =
  | { readonly reason: "unrouted-path"; readonly path: string }
  | { readonly reason: "malformed-id"; readonly id: string; readonly faults: readonly LayoutFault[] }
  | { readonly reason: "unknown-id"; readonly id: string; readonly candidates: readonly Candidate[] }
  | { readonly reason: "ambiguous-id"; readonly id: string; readonly candidates: readonly Candidate[] }
  | {
      readonly reason: "entity-gone";
      readonly id: string;
      readonly entity: string;
    }
  | {
      /** The pattern of the path reads IDs as one layout, and the request says another one. */
      readonly reason: "layout-mismatch";
      readonly id: string;
      readonly entity: string;
      /** Of the pattern, and of the request. */
      readonly layout: string;
      readonly said: string;
    }
  | {
      readonly reason: "wrong-entity";
      readonly id: string;
      readonly entity: string;
      /** What the ID is instead, where the table knows. */
      readonly candidates: readonly Candidate[];
    }
  | {
      readonly reason: "unassigned-key";
      /** Absent for an ID that was minted and is not given out. */
      readonly id?: string;
      readonly entity: string;
      readonly layout: string;
      /** Absent where nobody may see it: in IDs of public entities. */
      readonly key?: Readonly<Record<string, string>>;
    }

  /** Where the ID goes stands in a page that is not in memory: to be loaded, and asked again. */
  | { readonly reason: "table-unavailable"; readonly why: string; readonly missing: MissingPage };

export interface LayoutFault {
  readonly layout: string;
  readonly error: ParseError;
}
