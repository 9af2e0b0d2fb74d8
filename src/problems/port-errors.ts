/** Why a port of the gateway (see `src/ports.ts`) could not give what it is for. */

export type TableError = { readonly reason: "table-unavailable"; readonly why: string };

export type SequenceError =
  | { readonly reason: "sequence-exhausted"; readonly name: string; readonly max: number }
  | { readonly reason: "sequence-unavailable"; readonly name: string };

/** `no-keys`: the deployment has no key for the kind that the entity's IDs have; no entity: for several of them. */
export type PublicIdsError = {
  readonly reason: "public-ids-unavailable";
  readonly why: "no-keys";
  readonly entity?: string;
};
