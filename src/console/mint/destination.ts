import { createMinter, type Layout } from "../../ids/index.ts";
import type { Candidate } from "../../routing/index.ts";
import { groupOfId } from "../../routing/layouts/fields.ts";
import type { DeclaredEntityId, DeclaredRoute, DeclaredTable } from "../../routing/schema/table.ts";
import type { Reader } from "../lookup/reader.ts";

/** Where new IDs would go by the page's table: a few are made in the page, and are none of any service. */

export interface NewId {
  readonly entity: string;
  readonly layout: Layout;
  /** ISO 3166-1 code. */
  readonly country?: string | undefined;
  /** Other keys and nodes, by the names of their fields. */
  readonly fields: Readonly<Record<string, number | bigint>>;
}

export interface Destination {
  /** `undefined`: no route takes such IDs. */
  readonly region: string | undefined;
  readonly rule: Candidate["rule"];
  /** Not set where other bits of an ID may lead it elsewhere. */
  readonly isForAll: boolean;
}

const SAMPLES = 8;

/** Conditions that are the same for all IDs of one order, or that only the present time decides. */
const SHARED = ["entity", "layout", "country", "service", "group", "mintedFrom", "mintedBefore"];

/** `undefined` where no ID can be made in the page. */
export function destinationOf(
  reader: Reader,
  table: DeclaredTable,
  wanted: NewId,
  nowMs: number,
): Destination | undefined {
  const found = samplesOf(table, wanted, nowMs).flatMap((text) => {
    const { candidates } = reader.read({ source: text, id: text, path: undefined }, nowMs);
    return candidates.filter(({ entity, layout }) => entity === wanted.entity && layout === wanted.layout.name);
  });
  const [first] = found;
  if (first === undefined) return undefined;
  const { region, rule } = first;
  const isOne = found.every((each) => each.region === region);
  return { region, rule, isForAll: isOne && !dependsOnMore(table, wanted, rule) };
}

function samplesOf(table: DeclaredTable, { entity, layout, country, fields }: NewId, nowMs: number): readonly string[] {
  const own: DeclaredEntityId | undefined = table.entities?.[entity]?.ids.find((id) => id.layout === layout.name);
  const number = country === undefined ? undefined : table.countries?.[country];
  const group = own && groupOfId(own);
  const keys = {
    ...(own?.service !== undefined && { service: own.service }),
    ...(group !== undefined && { group, primaryKey: 1 }),
    ...(number !== undefined && { country: number }),
    ...fields,
  };
  try {
    const mint = createMinter({ layout, ...keys } as Parameters<typeof createMinter>[0], () => nowMs);
    return Array.from({ length: SAMPLES }, () => mint());
  } catch {
    // A key is missing, or the layout is not made from a clock and random bits.
    return [];
  }
}

/** Whether a route up to the one that takes them asks for bits in which they differ. */
function dependsOnMore({ routes }: DeclaredTable, wanted: NewId, rule: Candidate["rule"]): boolean {
  const taken = rule?.kind === "route" || rule?.kind === "canary" ? rule.index : undefined;
  return routes
    .slice(0, taken === undefined ? routes.length : taken + 1)
    .some((route, at) => mayTake(route, wanted) && (asksForMore(route, wanted) || (at === taken && leadsApart(route))));
}

const isAmong = (values: unknown, value: string | undefined): boolean =>
  values === undefined || [values].flat().some((each) => each === value);

const mayTake = ({ when }: DeclaredRoute, { entity, layout, country }: NewId): boolean =>
  isAmong(when.entity, entity) && isAmong(when.layout, layout.name) && isAmong(when.country, country);

function asksForMore({ when }: DeclaredRoute, { fields }: NewId): boolean {
  const asked = [...Object.keys(when).filter((name) => name !== "fields"), ...Object.keys(when.fields ?? {})];
  // Slices are parts of the shard key.
  const isKnown = (name: string) => Object.hasOwn(fields, name === "slices" ? "shardKey" : name);
  return asked.some((name) => !SHARED.includes(name) && !isKnown(name));
}

const leadsApart = ({ split, pack, directory, canary }: DeclaredRoute): boolean =>
  [split, pack, directory, canary].some((each) => each !== undefined);
