import type { KeyFault } from "../features/directory/table/normalise.ts";
import type { KeyUnavailable } from "../features/directory/table/types.ts";
import type { MissingPage } from "../features/packs/table/pack.ts";
import type { ParseError } from "../ids/layout/layout.ts";
import type { Candidate, KeyLookup } from "./table.ts";

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
  /** The text is no key of the directory. */
  | (KeyFault & { readonly id?: string; readonly entity?: string; readonly directory: string })
  | { readonly reason: "unknown-key"; readonly id: string; readonly entity?: string; readonly directory: string }
  /** The decision needs a key that is not looked up yet: look it up and try again. */
  | (KeyUnavailable & { readonly lookup: KeyLookup })
  /** The decision needs a page that is not in memory: load it and try again. */
  | { readonly reason: "table-unavailable"; readonly why: string; readonly missing: MissingPage };

export type LayoutFault = { readonly layout: string; readonly error: ParseError };
