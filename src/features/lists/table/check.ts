import type { TableChecks } from "../../../routing/check/feature.ts";
import { checkSegments } from "../../../routing/check/paths.ts";
import { indexPaths } from "../../../routing/lookup/path-index.ts";
import { pathsOf, patternsOf } from "../../../routing/lookup/paths.ts";
import type { Draft } from "../../../routing/schema/draft.ts";
import type { Place, Report } from "../../../routing/schema/faults.ts";
import { hasMember, memberOf } from "../../../routing/schema/member.ts";
import { optional } from "../../../routing/schema/parts.ts";
import { listOf } from "../../../routing/schema/records.ts";
import type { DeclaredEntity } from "../../../routing/schema/table.ts";
import { CURSOR_QUERY, ITEMS, LIMIT, listPathOf, PAGE_BYTES, PAGE_SIZE, pageCursorMaxOf } from "./compile.ts";
import { PAGE_CURSOR_MIN, PAGES_BYTES_MAX } from "./limits.ts";
import { type DeclaredList, listSchema } from "./schema.ts";

/** Every list has a path of its own, fits into memory, and can be put in order. */
const checkLists = (draft: Draft, report: Report): void => {
  const owners = new Map<string, string>();
  const entityPaths = indexPaths(
    [...draft.entities].map(([name, { path }]) => ({ name, paths: patternsOf(path).map(({ pattern }) => pattern) })),
  );
  for (const [name, entity] of draft.entities) {
    const { list } = entity;
    if (list === undefined) continue;
    const place: Place = ["entities", name, "list"];
    checkPublic(entity, place, report);
    checkSizes(draft, list, place, report);
    checkOrder(draft, entity, list, place, report);
    checkQueries(list, place, report);
    const path = listPathOf(entity, list);
    const at = [...place, "path"];
    if (path === undefined) {
      report("schema", at, "No path of the entity is literal text before /:id; name the path of the list.");
      continue;
    }
    checkSegments(draft, path, at, report);
    const owner = (isOfGraphql(draft, path) ? "graphql" : owners.get(path)) ?? entityPaths.match(path)?.entity.name;
    if (owner !== undefined) {
      report("path-collision", at, `${path} is already a path of ${JSON.stringify(owner)}; change one of them.`);
    }
    owners.set(path, name);
    checkOwnRegion(draft, path, place, report);
  }
};

const isOfGraphql = ({ table }: Draft, path: string): boolean =>
  memberOf(memberOf(table, "graphql") ?? {}, "path") === path;

/** Items are passed on as they are. */
const checkPublic = (entity: DeclaredEntity, place: Place, report: Report): void => {
  if (!hasMember(entity, "public") && !hasMember(entity, "publicFields")) return;
  const message = "Items of a list are not searched for public IDs; remove `list`, or `public` and `publicFields`.";
  report("public-ids", place, message);
};

const checkSizes = ({ names }: Draft, list: DeclaredList, place: Place, report: Report): void => {
  const regions = Math.max(1, names.regions.size);
  const { pageSize = PAGE_SIZE, itemsMax = ITEMS, pageBytesMax = PAGE_BYTES, limit = {} } = list;
  if (pageSize * regions > itemsMax) {
    const message = `A page of each of ${regions} regions has ${pageSize * regions} items, and itemsMax is ${itemsMax}; lower pageSize or raise itemsMax.`;
    report("size", [...place, "pageSize"], message);
  }
  if (pageBytesMax * regions > PAGES_BYTES_MAX) {
    const message = `Pages of ${regions} regions may take ${PAGES_BYTES_MAX} bytes together; lower pageBytesMax to ${Math.floor(PAGES_BYTES_MAX / regions)}.`;
    report("size", [...place, "pageBytesMax"], message);
  }
  if (pageCursorMaxOf(names.regions) < PAGE_CURSOR_MIN) {
    const message = `A cursor has no room for ${regions} regions with such names; a list is for fewer.`;
    report("size", place, message);
  }
  if ((limit.default ?? 0) > (limit.max ?? LIMIT.max)) {
    report("schema", [...place, "limit", "default"], "The default is more than the maximum; lower it.");
  }
};

const checkOrder = (
  draft: Draft,
  { ids }: DeclaredEntity,
  { order }: DeclaredList,
  place: Place,
  report: Report,
): void => {
  if (order === "none" || order.by !== "id-time") return;
  if (ids.length === 0) report("schema", [...place, "order", "by"], "Keys of a directory tell no time; name a member.");
  for (const { layout: name } of ids) {
    const layout = draft.known.get(name);
    if (layout !== undefined && layout.mintedAtMs === undefined) {
      report("schema", [...place, "order", "by"], `IDs of ${name} tell no time; name a member of the items.`);
    }
  }
};

/** A parameter has one meaning. */
const checkQueries = (list: DeclaredList, place: Place, report: Report): void => {
  const { limit, cursorQuery = CURSOR_QUERY, pageSizeQuery, next, filters = {} } = list;
  const own = [limit?.query ?? LIMIT.query, cursorQuery, ...Object.values(filters)];
  const twice = own.find((query, at) => own.indexOf(query) !== at);
  if (twice !== undefined) {
    report("schema", place, `The query parameter ${JSON.stringify(twice)} has two meanings; rename one.`);
  }
  const regions = [pageSizeQuery, next !== undefined && "query" in next ? next.query : undefined];
  const shared = Object.values(filters).find((query) => regions.includes(query));
  if (shared !== undefined) {
    report("schema", [...place, "filters"], `The regions' own parameter ${JSON.stringify(shared)} is no filter.`);
  }
};

/** Requests on the same path whose region something else says are not for all regions. */
const checkOwnRegion = (draft: Draft, path: string, place: Place, report: Report): void => {
  for (const [name, entry] of draft.withoutId) {
    if (!pathsOf(entry.path).some(({ pattern }) => pattern === path)) continue;
    if (entry.methods !== undefined && !listOf(entry.methods).includes("GET")) continue;
    const sources = entry.sources ?? draft.sources ?? [];
    const isOwnWord = sources.some((source) => OWN_WORDS.some((word) => word in source));
    const readsIds = hasMember(entry, "idIn");
    const message = readsIds
      ? `A list of all regions reads no IDs as ${JSON.stringify(name)} does on ${path}; remove GET from its methods, or \`idIn\`.`
      : `No source of ${JSON.stringify(name)} is the client's own word, so GET ${path} would never get there; remove GET from its methods.`;
    if (readsIds || !isOwnWord) report("path-collision", [...place, "path"], message);
  }
};

/** Sources of a region that are not assumed. */
const OWN_WORDS = ["header", "headers", "cookie", "jwtClaim", "query", "host", "hostLabel"];

export const listsChecks: TableChecks = {
  name: "lists",
  schema: { entity: { list: optional(listSchema, "GET on the collection asks all regions and merges their lists.") } },
  requests: checkLists,
};
