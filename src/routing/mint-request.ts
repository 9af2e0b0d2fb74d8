/** What a client says about the IDs that it wants. Numbers are not yet checked against their fields. */
export interface MintRequest {
  readonly entity?: string | undefined;
  readonly layout?: string | undefined;
  /** ISO 3166-1 alpha-2 code, as the table declares it. */
  readonly country?: string | undefined;
  readonly service?: number | undefined;
  readonly group?: number | undefined;
  readonly shardKey?: number | undefined;
  /** Parts of the key by name; together they must give every bit of it. */
  readonly slices?: Readonly<Record<string, number>> | undefined;
  /** Key and node fields by name; in decimal where a number would not be exact. */
  readonly fields?: Readonly<Record<string, number | string>> | undefined;
}

/** Why a wish is no order. */
export type MintPlanError =
  | { readonly reason: "malformed-request"; readonly detail: string; readonly pointer?: string }
  | { readonly reason: "unknown-name"; readonly what: string; readonly name: string; readonly known: readonly string[] }
  | { readonly reason: "key-out-of-range"; readonly field: string; readonly value: string; readonly max: string };

export function malformed(detail: string, pointer: string): MintPlanError {
  return { reason: "malformed-request", detail, pointer };
}

/** Most names that an answer lists. */
const KNOWN_NAMES_MAX = 50;

export function unknownName(what: string, name: string, known: Iterable<string>): MintPlanError {
  return { reason: "unknown-name", what, name, known: [...known].slice(0, KNOWN_NAMES_MAX) };
}
