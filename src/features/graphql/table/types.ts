import type { RegionSource } from "../../../routing/resolve/region-sources.ts";
import type { Entity } from "../../../routing/table.ts";

/** How GraphQL is served, compiled. */
export interface Graphql {
  readonly path: string;
  /** Matches paths that an origin may read as this one. */
  readonly spelling: RegExp;
  /** Stands for the entity of what is forwarded: deadlines, header fields, and the name in logs and metrics. */
  readonly entity: Entity;
  /** Where IDs stand; the first rule that fits decides. */
  readonly rules: readonly GraphqlIdRule[];
  /** `undefined`: an ID without an entity is read as `/any/:id` reads it. */
  readonly globalIds: GraphqlGlobalIds | undefined;
  /** Region of `__schema` and `__type`; `undefined`: they are refused. */
  readonly introspection: string | undefined;
  /** Sources of the region of fields without an ID. */
  readonly sources: readonly RegionSource[];
  /** Fields of the root that go where the sources say, whatever stands beside them. */
  readonly bySource: ReadonlySet<string>;
  /** Fields of the root that are never null; with `.*`, the items of a list. */
  readonly nonNull: ReadonlySet<string>;
  readonly queryType: string;
  /** Registered documents by their SHA-256 in hex; `undefined`: none are known. */
  readonly documents: ReadonlyMap<string, string> | undefined;
  readonly limits: GraphqlLimits;
}

export interface GraphqlIdRule {
  readonly argument: string;
  readonly fields: ReadonlySet<string> | undefined;
  readonly type: string | undefined;
  /** `undefined`: a global ID. */
  readonly entity: string | undefined;
  readonly isPlural: boolean;
}

export interface GraphqlGlobalIds {
  readonly form: { readonly form: "base64" | "gid" } | { readonly form: "prefix"; readonly isCoded: boolean };
  readonly entities: ReadonlyMap<string, string>;
}

export interface GraphqlLimits {
  readonly bodyBytesMax: number;
  readonly tokensMax: number;
  readonly depthMax: number;
  readonly aliasesMax: number;
  readonly idsMax: number;
  readonly regionsMax: number;
  /** Limit of one region's answer, where several are put together. */
  readonly answerBytesMax: number;
}

declare module "../../../routing/table.ts" {
  interface CompiledTable {
    /** `undefined`: no path is one of GraphQL. */
    readonly graphql?: Graphql | undefined;
  }
}
