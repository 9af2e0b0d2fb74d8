import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { TableChecks } from "../../../routing/check/feature.ts";
import { checkRegion } from "../../../routing/check/names.ts";
import { checkSegments } from "../../../routing/check/paths.ts";
import { checkSources } from "../../../routing/check/sources.ts";
import { GRAPHQL_RESULT_BYTES_MAX } from "../../../routing/limits.ts";
import { indexPaths } from "../../../routing/lookup/path-index.ts";
import { pathsOf, patternsOf } from "../../../routing/lookup/paths.ts";
import type { Draft } from "../../../routing/schema/draft.ts";
import { type Place, type Report, reportUnknown } from "../../../routing/schema/faults.ts";
import { hasMember } from "../../../routing/schema/member.ts";
import { optional } from "../../../routing/schema/parts.ts";
import { listOf } from "../../../routing/schema/records.ts";
import { collectionOf } from "../../create/table/compile.ts";
import { GRAPHQL_NAME } from "./compile.ts";
import { type DeclaredGraphql, graphqlSchema } from "./schema.ts";

const AT: Place = ["graphql"];

/** The endpoint has a path of its own, its IDs are of known entities, and each registered document has its hash. */
const checkGraphql = (graphql: DeclaredGraphql, draft: Draft, report: Report): void => {
  checkPath(graphql, draft, report);
  if (draft.names.entities.has(GRAPHQL_NAME) || draft.withoutId.has(GRAPHQL_NAME)) {
    const message = 'Logs and metrics call GraphQL "graphql", so nothing else has that name; rename the other.';
    report("name-clash", AT, message);
  }
  // Results have no schema here: nothing says where in them an internal ID would have to be made public.
  const sealed = [...draft.entities].find(([, entity]) => hasMember(entity, "public"));
  if (sealed !== undefined) {
    const message = `The IDs of ${JSON.stringify(sealed[0])} are public, and results of GraphQL would show the internal ones; remove one of both.`;
    report("public-ids", AT, message);
  }
  const { introspection, sources, bySource, globalId } = graphql;
  if (introspection !== undefined) checkRegion(draft, introspection, [...AT, "introspection"], report);
  if (sources !== undefined) checkSources(draft, sources, [...AT, "sources"], report);
  if (bySource !== undefined && (sources ?? draft.sources) === undefined) {
    report("schema", [...AT, "bySource"], "No source says where these fields go; add `sources`.");
  }
  checkRules(graphql, draft, report);
  const { regionsMax = 6, answerBytesMax = 524_288 } = graphql.limits ?? {};
  if (regionsMax * answerBytesMax > GRAPHQL_RESULT_BYTES_MAX) {
    const message = `All parts of a result are in memory: regionsMax times answerBytesMax is at most ${GRAPHQL_RESULT_BYTES_MAX}; lower one.`;
    report("size", [...AT, "limits"], message);
  }
  for (const [type, entity] of Object.entries(globalId?.types ?? {})) {
    checkEntity(draft, entity, [...AT, "globalId", "types", type], report);
  }
  for (const [hash, text] of Object.entries(graphql.persisted ?? {})) {
    // A table is checked in one go, and WebCrypto has no digest without a promise.
    const right = bytesToHex(sha256(utf8ToBytes(text)));
    if (right === hash) continue;
    report("schema", [...AT, "persisted", hash], `The SHA-256 of this document is ${right}; write that as its key.`);
  }
};

const checkPath = ({ path }: DeclaredGraphql, draft: Draft, report: Report): void => {
  const at = [...AT, "path"];
  checkSegments(draft, path, at, report);
  const entityPaths = indexPaths(
    [...draft.entities].map(([name, declared]) => ({
      name,
      paths: patternsOf(declared.path).map(({ pattern }) => pattern),
    })),
  );
  const rival =
    entityPaths.match(path)?.entity.name ??
    [...draft.withoutId].find(([, declared]) => pathsOf(declared.path).some(({ pattern }) => pattern === path))?.[0] ??
    [...draft.entities].find(([, each]) => each.create && collectionOf(each, each.create) === path)?.[0];
  if (rival === undefined) return;
  report("path-collision", at, `${path} is already a path of ${JSON.stringify(rival)}; change one of them.`);
};

const checkRules = ({ ids = [] }: DeclaredGraphql, draft: Draft, report: Report): void => {
  const taken = new Set<string>();
  for (const [index, { argument, field, type, entity, plural }] of ids.entries()) {
    const at = [...AT, "ids", index];
    if (entity !== undefined) checkEntity(draft, entity, [...at, "entity"], report);
    if (plural === true && field === undefined) {
      report("schema", [...at, "plural"], "Only some fields answer one entry for each ID; name them in `field`.");
    }
    const keys = (field === undefined ? ["*"] : listOf<string>(field)).map(
      (each) => `${argument} ${each} ${type ?? "*"}`,
    );
    const isTaken = (key: string) =>
      taken.has(key) || taken.has(`${argument} * *`) || taken.has(`${argument} * ${type ?? "*"}`);
    if (keys.every(isTaken)) {
      report("unreachable-source", at, "An earlier rule always decides; remove this one, or move it up.");
    }
    for (const key of keys) taken.add(key);
  }
};

const checkEntity = (draft: Draft, entity: string, place: Place, report: Report): void => {
  if (!draft.names.entities.has(entity)) reportUnknown("entity", entity, draft.names.entities, place, report);
};

export const graphqlChecks: TableChecks = {
  name: "graphql",
  schema: { table: { graphql: optional(graphqlSchema, "GraphQL: operations go to the regions of the IDs in them.") } },
  requests: (draft, report) => {
    if (draft.table.graphql !== undefined) checkGraphql(draft.table.graphql, draft, report);
  },
};
