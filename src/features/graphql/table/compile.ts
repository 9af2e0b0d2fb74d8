import { namedRegions, sourceOf } from "../../../routing/compile/without-id.ts";
import type { CompileContext, TableFeature } from "../../../routing/feature.ts";
import type { RefusalFeature } from "../../../routing/own-request.ts";
import { listOf } from "../../../routing/schema/records.ts";
import type { Entity } from "../../../routing/table.ts";
import type { DeclaredGraphql } from "./schema.ts";
import type { Graphql, GraphqlGlobalIds, GraphqlIdRule } from "./types.ts";

/** In logs and metrics; no entity may have it. */
export const GRAPHQL_NAME = "graphql";

/** Relay's, behind those of the table. */
const NODE_RULES: readonly GraphqlIdRule[] = [
  { argument: "id", fields: new Set(["node"]), type: undefined, entity: undefined, isPlural: false },
  { argument: "ids", fields: new Set(["nodes"]), type: undefined, entity: undefined, isPlural: true },
];

const compileGraphql = (declared: DeclaredGraphql, { draft, standIn }: CompileContext): Graphql => {
  const { path, ids = [], globalId, introspection, queryType = "Query", persisted, limits = {} } = declared;
  const named = namedRegions(draft.regions.keys());
  return Object.freeze({
    path,
    spelling: spellingOf(path),
    entity: entityOf(declared, standIn),
    rules: [...ids.map(ruleOf), ...NODE_RULES],
    globalIds: globalId && globalIdsOf(globalId),
    introspection,
    sources: (declared.sources ?? draft.sources ?? []).map((source) => sourceOf(source, named)),
    bySource: new Set(declared.bySource),
    nonNull: new Set(declared.nonNull),
    queryType,
    documents: persisted && new Map(Object.entries(persisted)),
    limits: {
      bodyBytesMax: limits.bodyBytesMax ?? 262_144,
      tokensMax: limits.tokensMax ?? 1000,
      depthMax: limits.depthMax ?? 20,
      aliasesMax: limits.aliasesMax ?? 15,
      idsMax: limits.idsMax ?? 100,
      regionsMax: limits.regionsMax ?? 6,
      answerBytesMax: limits.answerBytesMax ?? 524_288,
    },
  });
};

/** A semicolon and the rest of a segment, which some servers cut off. */
const PARAMETERS = "(?:(?:;|%3b)(?:(?!%2f)[^/])*)?";
const SLASH = `(?:${PARAMETERS}(?:[/\\\\]|%2f|%5c))`;

/** A path as servers may read it: escapes decoded, slashes merged, parameters cut, in any case. One pass decides. */
const spellingOf = (path: string): RegExp => {
  const hexOf = (char: string) => `%${char.charCodeAt(0).toString(16)}`;
  const charOf = (char: string) =>
    `(?:\\x${hexOf(char).slice(1)}|${hexOf(char.toLowerCase())}|${hexOf(char.toUpperCase())})`;
  const segments = path.slice(1).split("/");
  const texts = segments.map((segment) => `${SLASH}+${[...segment].map(charOf).join("")}`);
  return new RegExp(`^${texts.join("")}${SLASH}*${PARAMETERS}$`, "i");
};

const entityOf = (
  { path, deadlines, wholeAnswers, fields }: DeclaredGraphql,
  standIn: CompileContext["standIn"],
): Entity => {
  const whole = wholeAnswers === undefined ? {} : { wholeAnswers };
  const own = { path, ...whole, ...(deadlines && { deadlines }), ...(fields && { fields }) };
  return standIn(GRAPHQL_NAME, own, [path]);
};

const ruleOf = ({ argument, field, type, entity, plural = false }: NonNullable<DeclaredGraphql["ids"]>[number]) => ({
  argument,
  fields: field === undefined ? undefined : new Set(listOf<string>(field)),
  type,
  entity,
  isPlural: plural,
});

const globalIdsOf = ({ form, types }: NonNullable<DeclaredGraphql["globalId"]>): GraphqlGlobalIds => ({
  form: form === "base64" || form === "gid" ? { form } : { form: "prefix", isCoded: form === "prefix-base64url" },
  entities: new Map(Object.entries(types)),
});

export const METHODS: readonly string[] = ["GET", "POST", "OPTIONS"];

export const graphqlTable: TableFeature = {
  name: "graphql",
  serves: ["graphql"],
  compile: (context) => {
    const { graphql } = context.draft.table;
    return {
      table: () => ({ graphql: graphql && compileGraphql(graphql, context) }),
      ownPaths: ({ graphql: own }) =>
        own && {
          methods: undefined,
          answeredBy: "chosen-regions",
          ownerAt: (path) => (path === own.path ? own.entity : undefined),
          left: () => [{ pattern: own.path, what: `GraphQL at ${own.path}`, why: "IDs in documents" }],
          plain: () => ({ isGraphql: true }),
        },
    };
  },
};

export const graphqlRefusal: RefusalFeature = {
  name: "graphql",
  refusal: (_, { method }) =>
    METHODS.includes(method) ? undefined : { reason: "method-not-allowed", method, allow: METHODS },
};
