import type { TableFeature } from "../../../routing/feature.ts";
import { indexExactPaths } from "../../../routing/lookup/path-index.ts";
import { patternsOf } from "../../../routing/lookup/paths.ts";
import { claimPathOf } from "../../../routing/resolve/region-sources.ts";
import type { Draft } from "../../../routing/schema/draft.ts";
import { listOf } from "../../../routing/schema/records.ts";
import type { DeclaredEntity } from "../../../routing/schema/table.ts";
import type { Entity } from "../../../routing/table.ts";
import type { DeclaredCreate, DeclaredKeySource } from "./schema.ts";
import type { Create, CreateIndex, KeySource } from "./types.ts";

/** The path before `/:id`, unless the table says otherwise. */
export const collectionOf = (entity: DeclaredEntity, { collection }: DeclaredCreate): string | undefined =>
  collection ??
  patternsOf(entity.path)
    .find(({ pattern }) => pattern.endsWith("/:id") && pattern.length > "/:id".length && !pattern.includes("*"))
    ?.pattern.slice(0, -"/:id".length);

/** `undefined` where no entity is created through the gateway. */
const indexCreates = (draft: Draft, entities: ReadonlyMap<string, Entity>): CreateIndex | undefined => {
  const byEntity = new Map<string, Create>();
  for (const [name, declared] of draft.entities) {
    const entity = entities.get(name);
    if (declared.create !== undefined && entity !== undefined) {
      byEntity.set(name, createOf(entity, declared, declared.create));
    }
  }
  if (byEntity.size === 0) return undefined;
  const { match, matchRead } = indexExactPaths(byEntity.values());
  return { byEntity, match, matchRead };
};

const DAY_SECONDS = 86_400;

function createOf(entity: Entity, declared: DeclaredEntity, create: DeclaredCreate): Create {
  const { key = {}, bulk, idempotency = {}, clientId, bodyBytesMax = 1024 * 1024 } = create;
  const { required = false, ttlSeconds = DAY_SECONDS, leaseSeconds = 60, scope, byClientId = false } = idempotency;
  const keep = idempotency.keepAnswer;
  const sources = new Map(
    Object.entries(key).map(([field, each]) => [field, listOf<DeclaredKeySource>(each).map(sourceOf)]),
  );
  const all = [...sources.values()].flat();
  const collection = collectionOf(declared, create);
  const layout = create.layout ?? declared.ids[0]?.layout;
  if (collection === undefined || layout === undefined) throw new Error(`creating ${entity.name} was not checked`);
  return Object.freeze<Create>({
    entity,
    paths: [collection],
    layout,
    key: sources,
    bodyBytesMax,
    bulk: bulk && { path: pathOf(bulk.array), max: bulk.max },
    readsBody: bulk !== undefined || clientId?.member !== undefined || all.some(({ kind }) => kind === "member"),
    readsToken: scope !== undefined || all.some(({ kind }) => kind === "claim"),
    idempotency: {
      isRequired: required,
      ttlMs: ttlSeconds * 1000,
      leaseMs: leaseSeconds * 1000,
      scopeClaim: scope && claimPathOf(scope.jwtClaim),
      byClientId,
      keep: keep && {
        fields: new Set(keep.fields?.map((field) => field.toLowerCase())),
        bytesMax: keep.bytesMax ?? 65_536,
      },
    },
    clientId: clientId && {
      header: clientId.header?.toLowerCase(),
      path: clientId.member === undefined ? undefined : pathOf(clientId.member),
      createFlag: clientId.createFlag?.toLowerCase(),
      beforeMs: clientId.beforeSeconds * 1000,
      afterMs: clientId.afterSeconds * 1000,
      clock: clientId.clock && {
        header: clientId.clock.header.toLowerCase(),
        skewMs: clientId.clock.skewSeconds * 1000,
      },
    },
  });
}

/** The names of a JSON pointer (RFC 6901 §3); none for the whole document. */
const pathOf = (pointer: string): readonly string[] => (pointer === "" ? [] : claimPathOf(pointer));

/** The check has made sure that a source has one kind. */
function sourceOf(declared: DeclaredKeySource): KeySource {
  const { header, jwtClaim, member, clientCountry, parent, value } = declared;
  const values =
    declared.values && new Map(Object.entries(declared.values).map(([said, meant]) => [said, String(meant)]));
  if (header !== undefined) {
    return { kind: "header", label: `header ${header.toLowerCase()}`, header: header.toLowerCase(), values };
  }
  if (jwtClaim !== undefined) {
    return { kind: "claim", label: `claim ${jwtClaim} of the bearer token`, path: claimPathOf(jwtClaim), values };
  }
  if (member !== undefined)
    return { kind: "member", label: `member ${member} of the body`, path: pathOf(member), values };
  if (clientCountry !== undefined) return { kind: "country", label: "the client's country", values };
  if (parent !== undefined) return { kind: "parent", label: `${parent} of the parent's ID`, field: parent, values };
  return { kind: "value", label: "a fixed value", value: String(value), values: undefined };
}

const headersOf = ({ key, clientId }: Create): readonly string[] => [
  ...[...key.values()].flat().flatMap((source) => ("header" in source ? source.header : [])),
  ...[clientId?.header, clientId?.createFlag, clientId?.clock?.header].filter((name) => name !== undefined),
];

export const createTable: TableFeature = {
  name: "create",
  compile: ({ draft }) => ({
    table: ({ entities }) => ({ creates: indexCreates(draft, entities) }),
    ownPaths: ({ creates }) =>
      creates && {
        methods: ["POST"],
        answeredBy: "chosen-regions",
        ownerAt: (path) => creates.match(path)?.entity.entity,
        left: () =>
          [...creates.byEntity.values()].map(({ paths: [pattern] }) => ({
            pattern,
            what: `POST ${pattern}`,
            why: "creation",
          })),
        plain: (owner) => ({ creates: owner }),
      },
    headersRead: ({ creates }) => [...(creates?.byEntity.values() ?? [])].flatMap(headersOf),
  }),
};
