import { clientIdWindowFault, type Field, type Layout } from "../../../ids/index.ts";
import type { TableChecks } from "../../../routing/check/feature.ts";
import { checkSegments } from "../../../routing/check/paths.ts";
import { keyFieldOf, ownerKeyField } from "../../../routing/layouts/fields.ts";
import { indexPaths } from "../../../routing/lookup/path-index.ts";
import { pathsOf, patternsOf } from "../../../routing/lookup/paths.ts";
import type { Draft } from "../../../routing/schema/draft.ts";
import { type Place, type Report, reportUnknown } from "../../../routing/schema/faults.ts";
import { optional } from "../../../routing/schema/parts.ts";
import { listOf } from "../../../routing/schema/records.ts";
import type { DeclaredEntity } from "../../../routing/schema/table.ts";
import type { PathIndex } from "../../../routing/table.ts";
import { mintingOf, requiredFields } from "../../mint/table/plan.ts";
import { collectionOf } from "./compile.ts";
import { createSchema, type DeclaredCreate, type DeclaredKeySource } from "./schema.ts";

/** A create of the table, and where its faults are told. */
interface Checked {
  readonly draft: Draft;
  readonly name: string;
  readonly entity: DeclaredEntity;
  readonly create: DeclaredCreate;
  /** `undefined` where no path says it. */
  readonly collection: string | undefined;
  readonly place: Place;
  readonly report: Report;
}

/** Every field of a new ID needs a source, and every collection a path of its own. */
const checkCreates = (draft: Draft, report: Report): void => {
  const owners = new Map<string, string>();
  const entityPaths = indexPaths(
    [...draft.entities].map(([name, { path }]) => ({ name, paths: patternsOf(path).map(({ pattern }) => pattern) })),
  );
  for (const [name, entity] of draft.entities) {
    const { create } = entity;
    if (create === undefined) continue;
    const collection = collectionOf(entity, create);
    const place: Place = ["entities", name, "create"];
    const checked = { draft, name, entity, create, collection, place, report };
    checkKey(checked);
    checkCollection(checked, owners, entityPaths);
  }
};

/** `owners`: of the collections before it. */
function checkCollection(
  { draft, name, collection, place, report }: Checked,
  owners: Map<string, string>,
  entityPaths: PathIndex<{ readonly name: string }>,
): void {
  const at = [...place, "collection"];
  if (collection === undefined) {
    report("schema", at, "No path of the entity ends with /:id; name the collection.");
    return;
  }
  checkSegments(draft, collection, at, report);
  const collide = (message: string): void => report("path-collision", at, message);
  const owner = owners.get(collection);
  if (owner !== undefined) {
    collide(`${collection} is already the collection of ${JSON.stringify(owner)}; change one of them.`);
  }
  owners.set(collection, name);
  const parentEnd = collection.indexOf("/:id");
  if (parentEnd !== -1) {
    if (entityPaths.match(collection.slice(0, parentEnd + "/:id".length))?.entity === undefined) {
      report("schema", at, `${collection.slice(0, parentEnd)}/:id is no path of an entity; begin with one.`);
    }
    return;
  }
  const rival = entityPaths.match(collection)?.entity.name;
  if (rival !== undefined) {
    collide(`A path of the entity ${JSON.stringify(rival)} matches ${collection}; change one of them.`);
  }
  // A wider pattern, such as /**, has what no collection takes.
  const entry = [...draft.withoutId].find(([, { path }]) =>
    pathsOf(path).some(({ pattern }) => pattern === collection),
  );
  if (entry !== undefined && (entry[1].methods === undefined || listOf(entry[1].methods).includes("POST"))) {
    collide(
      `POST ${collection} is taken by ${JSON.stringify(entry[0])} without an ID; name its methods, without POST.`,
    );
  }
}

const KINDS = ["header", "jwtClaim", "member", "clientCountry", "parent", "value"] as const;

/** A source after one of these is never asked. */
const LAST: ReadonlySet<string> = new Set(["value", "parent"]);

function checkKey(checked: Checked): void {
  const { draft, name, entity, create, place, report } = checked;
  const id = create.layout === undefined ? entity.ids[0] : entity.ids.find(({ layout }) => layout === create.layout);
  const own = entity.ids.map(({ layout }) => layout);
  const at = [...place, "layout"];
  if (id === undefined) {
    reportUnknown("layout of this entity", create.layout ?? "", own, at, report);
    return;
  }
  if (create.layout === undefined && own.length > 1) {
    report("schema", at, `${JSON.stringify(name)} has IDs of ${own.join(", ")}; name the layout of new ones.`);
  }
  const layout = draft.known.get(id.layout);
  if (layout === undefined) return;
  if (mintingOf(layout) === "none") report("schema", at, `IDs of layout ${layout.name} cannot be minted.`);
  if (create.clientId !== undefined) checkTolerance(draft, entity, create.clientId, [...place, "clientId"], report);
  const owned = id.service ?? id.group ?? id.class;
  const wanted = requiredFields(layout).filter((field) => owned === undefined || field !== ownerKeyField(layout));
  checkFields(checked, layout, wanted);
}

/** Each field to give has a source, and no other field has one. */
function checkFields(checked: Checked, layout: Layout, wanted: readonly Field[]): void {
  const { draft, create, place, report } = checked;
  const slices = draft.layouts.get(layout.name)?.slices ?? {};
  const sources = Object.entries(create.key ?? {});
  const given = new Set(sources.map(([field]) => field));
  const key = keyFieldOf(layout);
  const byName = new Set(wanted.map((field) => field.name));
  for (const [field, declared] of sources) {
    const at = [...place, "key", field];
    if (!byName.has(field) && !(key !== undefined && byName.has(key.name) && Object.hasOwn(slices, field))) {
      reportUnknown(`field to give for ${layout.name}`, field, [...byName, ...Object.keys(slices)], at, report);
    }
    checkSources(checked, field, listOf(declared), at);
  }
  for (const { name: field, bits } of wanted) {
    if (given.has(field)) continue;
    const parts = Object.entries(slices).filter(([slice]) => given.has(slice));
    const covered = field === key?.name ? parts.reduce((sum, [, part]) => sum + bitsOf(part), 0) : 0;
    if (covered === bits) continue;
    const message =
      covered === 0
        ? `A new ${layout.name} needs a source for ${field}; add it.`
        : `The slices give ${covered} of the ${bits} bits of ${field}; give every bit once.`;
    report("schema", [...place, "key"], message);
  }
}

/** Clients may bring IDs of every layout of the entity, and each must tell its time. */
function checkTolerance(
  draft: Draft,
  { ids }: DeclaredEntity,
  { beforeSeconds, afterSeconds }: NonNullable<DeclaredCreate["clientId"]>,
  place: Place,
  report: Report,
): void {
  for (const { layout: name } of ids) {
    const layout = draft.known.get(name);
    const fault =
      layout && clientIdWindowFault(layout, { beforeMs: beforeSeconds * 1000, afterMs: afterSeconds * 1000 });
    if (fault?.reason === "no-time")
      report("schema", place, `IDs of ${name} tell no time, so their age cannot be checked.`);
    if (fault?.reason === "too-wide") {
      const most = Math.floor(fault.sumMaxMs / 1000);
      report(
        "time-range",
        place,
        `${name} tells times apart for ${most} s only; lower beforeSeconds and afterSeconds.`,
      );
    }
  }
}

const bitsOf = (slice: NonNullable<NonNullable<ReturnType<Draft["layouts"]["get"]>>["slices"]>[string]): number =>
  "bits" in slice ? slice.bits : slice[1];

/** `place`: of the field. */
function checkSources(
  { draft, collection, report }: Checked,
  field: string,
  sources: readonly DeclaredKeySource[],
  place: Place,
): void {
  let isDecided = false;
  for (const [index, source] of sources.entries()) {
    const at = [...place, index];
    const [kind, second] = KINDS.filter((each) => source[each] !== undefined);
    if (kind === undefined || second !== undefined) {
      report("schema", at, `A source has exactly one of ${KINDS.map((each) => `\`${each}\``).join(", ")}.`);
      continue;
    }
    if (isDecided)
      report("unreachable-source", at, "An earlier source always decides; remove this one, or move it up.");
    isDecided ||= LAST.has(kind);
    if (kind === "clientCountry" && field !== "country" && source.values === undefined) {
      report("schema", at, "A country is no number: give `values`, or take it for the field country.");
    }
    if (kind === "value" && source.values !== undefined)
      report("schema", at, "`value` says it itself; remove `values`.");
    if (field === "country") checkCountries(draft, source, at, report);
    if (kind === "parent") checkParent(draft, collection, source.parent as string, at, report);
  }
}

/** Countries are named by their code. */
function checkCountries(draft: Draft, { value, values }: DeclaredKeySource, place: Place, report: Report): void {
  const named = [...(value === undefined ? [] : [value]), ...Object.values(values ?? {})];
  for (const country of named) {
    if (!draft.countries.has(String(country))) {
      reportUnknown("country", String(country), draft.countries.keys(), place, report);
    }
  }
}

function checkParent(draft: Draft, collection: string | undefined, field: string, place: Place, report: Report): void {
  const parentPath = collection?.slice(0, collection.indexOf("/:id") + "/:id".length) ?? "";
  if (collection?.includes("/:id") !== true) {
    report("schema", place, "`parent` needs a collection below an entity, such as /orders/:id/items.");
    return;
  }
  for (const { path, ids } of draft.entities.values()) {
    if (!patternsOf(path).some(({ pattern }) => pattern === parentPath)) continue;
    for (const id of ids) {
      const layout: Layout | undefined = draft.known.get(id.layout);
      if (layout === undefined || layout.fields.some(({ name }) => name === field)) continue;
      reportUnknown(
        `field of ${layout.name}`,
        field,
        layout.fields.map(({ name }) => name),
        place,
        report,
      );
    }
  }
}

export const createChecks: TableChecks = {
  name: "create",
  schema: {
    entity: { create: optional(createSchema, "POST to the collection mints an ID and goes to the region of its key.") },
  },
  requests: checkCreates,
};
