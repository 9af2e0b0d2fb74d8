/** Where else than on its entity's path an ID may be, compiled. */

import type { NameTest } from "../../../routing/lookup/values.ts";

/** `label` is how problems name the place. Header names are in lower case. */
export type IdPlace = {
  readonly label: string;
  /** The entity whose ID it is. */
  readonly entity: string;
  readonly isList: boolean;
} & (
  | { readonly kind: "header" | "cookie"; readonly name: string }
  | { readonly kind: "query" | "form"; readonly name: string; readonly test: NameTest; readonly near: NameTest }
  /** `path`: names of a JSON pointer. */
  | { readonly kind: "json" | "claim"; readonly path: readonly string[] }
);

export interface IdPlaces {
  readonly places: readonly IdPlace[];
  readonly readsToken: boolean;
  /** So much of the body is read at most; 0 where no place is in it. */
  readonly peekBytes: number;
  /** Whether bodies of types that no place reads are passed on. */
  readonly passesOtherTypes: boolean;
}

declare module "../../../routing/table.ts" {
  interface Entity {
    /** Where else requests on its paths carry IDs; `undefined`: nowhere. */
    readonly idIn?: IdPlaces | undefined;
  }
  interface WithoutId {
    /** IDs in these places decide before any source. */
    readonly idIn?: IdPlaces | undefined;
  }
}
