import { DECIMAL } from "../../../ids/text/alphabets.ts";
import { targetOf } from "../../../routing/compile/targets.ts";
import type { CompileContext, TableFeature } from "../../../routing/feature.ts";
import { patternsOf } from "../../../routing/lookup/paths.ts";
import { claimPathOf } from "../../../routing/resolve/region-sources.ts";
import { keysOfPointer } from "../../../routing/schema/faults.ts";
import type { DeclaredEntity } from "../../../routing/schema/table.ts";
import type { Entity, EntityId, Regions } from "../../../routing/table.ts";
import { regionFilter } from "./filter.ts";
import { CURSOR_CHARACTERS_MAX } from "./limits.ts";
import type { DeclaredList } from "./schema.ts";
import type { List, ListOrder, NextPage } from "./types.ts";

/** The path before `/:id`, unless the table says otherwise. */
export const listPathOf = (entity: DeclaredEntity, { path }: DeclaredList): string | undefined =>
  path ??
  patternsOf(entity.path)
    .find(({ pattern }) => /^(?:\/[^/:*]+)+\/:id$/.test(pattern))
    ?.pattern.slice(0, -"/:id".length);

type Context = Pick<CompileContext, "draft" | "plans" | "regions">;

/** By path; `undefined` where no collection is listed. */
const indexLists = (context: Context, entities: ReadonlyMap<string, Entity>): ReadonlyMap<string, List> | undefined => {
  const lists = new Map<string, List>();
  for (const [name, declared] of context.draft.entities) {
    const entity = entities.get(name);
    if (declared.list === undefined || entity === undefined) continue;
    const list = listOf(context, entity, declared, declared.list);
    lists.set(list.path, list);
  }
  return lists.size === 0 ? undefined : lists;
};

export const PAGE_SIZE = 100;
export const PAGE_BYTES = 1024 * 1024;
export const ITEMS = 10_000;
export const LIMIT = { query: "limit", default: 100, max: 1000 } as const;
export const CURSOR_QUERY = "cursor";

/** Size of a cursor, beside the regions' own ones: its key and digests; and for each region numbers and quotes. */
const BASE_CHARACTERS = 1_800;
const REGION_CHARACTERS = 18;

/** Sealed, text takes a third more. */
const PLAIN_SHARE = 0.74;

/** Characters that each region's own cursor may have. */
export const pageCursorMaxOf = (regions: Iterable<string>): number => {
  const names = [...regions];
  const taken = names.reduce((sum, name) => sum + name.length + REGION_CHARACTERS, BASE_CHARACTERS);
  return Math.min(1024, Math.floor((CURSOR_CHARACTERS_MAX * PLAIN_SHARE - taken) / Math.max(1, names.length)));
};

const listOf = (context: Context, entity: Entity, declared: DeclaredEntity, list: DeclaredList): List => {
  const path = listPathOf(declared, list);
  if (path === undefined) throw new Error(`the list of ${entity.name} was not checked`);
  const { limit = {}, filters = {}, answer = {} } = list;
  return Object.freeze({
    entity,
    path,
    items: pathOf(list.items),
    id: pathOf(list.id ?? "/id"),
    next: nextOf(list),
    order: orderOf(list, entity),
    pageSize: list.pageSize ?? PAGE_SIZE,
    pageSizeQuery: list.pageSizeQuery,
    pageBytesMax: list.pageBytesMax ?? PAGE_BYTES,
    limit: { ...LIMIT, ...limit, default: limit.default ?? Math.min(LIMIT.default, limit.max ?? LIMIT.max) },
    pagesMax: list.pagesMax ?? 500,
    cursorQuery: list.cursorQuery ?? CURSOR_QUERY,
    cursorMs: (list.cursorSeconds ?? 86_400) * 1000,
    pageCursorMax: pageCursorMaxOf(context.regions.keys()),
    ...scopeOf(list),
    regionDeadlineMs: list.regionDeadlineMs ?? 10_000,
    mayBePartial: list.partial !== "refuse",
    filters: {
      region: filters.region,
      country: filters.country,
      mintedAfter: filters.mintedAfter,
      mintedBefore: filters.mintedBefore,
    },
    answer: { items: "items", next: "next", summary: "summary", ...answer },
    targets: targetsOf(context.regions),
    regionsOf: regionsOf(context, entity, list),
  });
};

const orderOf = ({ order }: DeclaredList, { ids }: Entity): ListOrder | undefined => {
  if (order === "none") return undefined;
  const isDecimal = ({ enabled }: EntityId) => enabled.layout.table.text.numeral?.digits === DECIMAL.digits;
  return {
    path: order.by === "id-time" ? undefined : pathOf(order.by.member),
    type: order.by === "id-time" ? "number" : order.by.type,
    isDescending: order.direction === "desc",
    hasDecimalIds: ids.length > 0 && ids.every(isDecimal),
  };
};

/** The claim or the cookie that says whose list it is. */
const scopeOf = ({ scope }: DeclaredList): Pick<List, "scopeClaim" | "scopeCookie"> => ({
  scopeClaim: scope && "jwtClaim" in scope ? claimPathOf(scope.jwtClaim) : undefined,
  scopeCookie: scope && "cookie" in scope ? scope.cookie : undefined,
});

/** Another region has entities of its own: its list would look like this one's. */
const targetsOf = (regions: Regions): List["targets"] =>
  new Map(
    [...regions].map(([name, region]) => {
      const alone = Object.freeze({ ...region, failover: [] });
      return [name, targetOf(alone, Object.freeze({ kind: "source" }))] as const;
    }),
  );

/** Only a filter by what IDs say narrows the regions, and only where IDs are routed by what they say. */
const regionsOf = ({ draft, plans }: Context, entity: Entity, { filters = {} }: DeclaredList): List["regionsOf"] => {
  const narrows = (filters.country ?? filters.mintedAfter ?? filters.mintedBefore) !== undefined;
  const isRoutedById = entity.ids.length > 0;
  return narrows && isRoutedById ? regionFilter(draft, plans, entity.name) : undefined;
};

const nextOf = ({ next }: DeclaredList): NextPage => {
  if (next === undefined) return { kind: "none" };
  if ("link" in next) return { kind: "link" };
  if ("member" in next) return { kind: "member", path: pathOf(next.member) };
  return { kind: "cursor", path: pathOf(next.cursor), query: next.query };
};

/** The names of a JSON pointer (RFC 6901 §3); none for the whole document. */
const pathOf = (pointer: string): readonly string[] => (pointer === "" ? [] : keysOfPointer(pointer));

export const listsTable: TableFeature = {
  name: "lists",
  readsRoutes: ({ entities = {} }) => Object.values(entities).some(({ list }) => list !== undefined),
  compile: ({ draft, plans, regions }) => ({
    table: ({ entities }) => ({ lists: indexLists({ draft, plans, regions }, entities) }),
    ownPaths: ({ lists }) =>
      lists && {
        methods: ["GET", "HEAD"],
        answeredBy: "all-regions",
        ownerAt: (path) => lists.get(path)?.entity,
        left: () =>
          [...lists.keys()].map((pattern) => ({ pattern, what: `GET ${pattern}`, why: "lists over all regions" })),
        plain: (owner) => ({ lists: owner }),
      },
  }),
};
