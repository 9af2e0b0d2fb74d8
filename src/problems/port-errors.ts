/** Why a port of the gateway (see `src/ports.ts`) could not give what it is for. */

export type TableError = { readonly reason: "table-unavailable"; readonly why: string };

export type SequenceError =
  | { readonly reason: "sequence-exhausted"; readonly name: string; readonly max: number }
  | { readonly reason: "sequence-unavailable"; readonly name: string };
