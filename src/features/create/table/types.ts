import type { Entity } from "../../../routing/table.ts";

/** How entities are created, compiled. */

/** Where the value of one field of a new ID comes from. `label` is how a problem names it. */
export type KeySource = { readonly label: string; readonly values: ReadonlyMap<string, string> | undefined } & (
  | { readonly kind: "header"; readonly header: string }
  | { readonly kind: "claim"; readonly path: readonly string[] }
  | { readonly kind: "member"; readonly path: readonly string[] }
  | { readonly kind: "country" }
  | { readonly kind: "parent"; readonly field: string }
  | { readonly kind: "value"; readonly value: string }
);

/** How entities of one kind are created. */
export interface Create {
  readonly entity: Entity;
  /** The path of its collection, with `:id` for one below an entity. */
  readonly paths: readonly [collection: string];
  readonly layout: string;
  readonly key: ReadonlyMap<string, readonly KeySource[]>;
  readonly bodyBytesMax: number;
  readonly bulk: { readonly path: readonly string[]; readonly max: number } | undefined;
  /** Whether the body must be read as JSON. */
  readonly readsBody: boolean;
  readonly readsToken: boolean;
  readonly idempotency: {
    readonly isRequired: boolean;
    readonly ttlMs: number;
    readonly leaseMs: number;
    readonly scopeClaim: readonly string[] | undefined;
    readonly byClientId: boolean;
    readonly keep: { readonly fields: ReadonlySet<string>; readonly bytesMax: number } | undefined;
  };
  readonly clientId: ClientIdRules | undefined;
}

export interface ClientIdRules {
  readonly header: string | undefined;
  readonly path: readonly string[] | undefined;
  readonly createFlag: string | undefined;
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly clock: { readonly header: string; readonly skewMs: number } | undefined;
}

export interface CreateIndex {
  /** `path`: the raw path of the request without the query. */
  readonly match: (
    path: string,
  ) => { readonly entity: Create; readonly idStart: number; readonly idEnd: number } | undefined;
  /** As servers may read it that are less exact, see `PathIndex`. */
  readonly matchRead: CreateIndex["match"];
  readonly byEntity: ReadonlyMap<string, Create>;
}

declare module "../../../routing/table.ts" {
  interface CompiledTable {
    /** Collections that are posted to; `undefined` where there are none. */
    readonly creates?: CreateIndex | undefined;
  }
}
