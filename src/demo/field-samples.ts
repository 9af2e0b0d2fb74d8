import { type Layout, mintNext, startMinter } from "../ids/index.ts";
import { type Entity, type EntityId, requiredFields } from "../routing/index.ts";
import { rangesOf } from "./demo-table.ts";
import { type Sample, type SampleSource, sampleOf } from "./sample.ts";

/** Samples of layouts whose IDs are made of fields that whoever wants one gives: values that some route is about. */

type Fields = Readonly<Record<string, string>>;

/** Values of a field that are tried, and sets of them in all. */
const VALUES_MAX = 6;
const SETS_MAX = 64;

/** One sample for each region that an ID may go to, whichever values lead there first. */
export function fieldSamples(source: SampleSource, entity: Entity, id: EntityId): Sample[] {
  const { layout } = id.enabled;
  const byRegion = new Map<string, Sample>();
  for (const fields of setsOf(source, id)) {
    for (const sample of mintedWith(source, entity, layout, fields)) {
      if (byRegion.has(sample.region)) continue;
      byRegion.set(sample.region, { ...sample, layout: layout.name, fields: withoutMarks(fields, id) });
    }
  }
  return [...byRegion.values()];
}

/** What marks the entity comes with it. */
const withoutMarks = (fields: Fields, { service, group }: EntityId): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name]) => !(name === "service" && service !== undefined) && !(name === "group" && group !== undefined),
    ),
  );

function mintedWith(source: SampleSource, entity: Entity, layout: Layout, fields: Fields): readonly Sample[] {
  const keys = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, BigInt(value)]));
  const minter = startMinter(layout, keys);
  const minted = minter.ok ? mintNext(minter.value, source.nowMs, source.entropy) : minter;
  if (!minted.ok) return [];
  const about = Object.entries(fields).map(([name, value]) => `${name} ${value}`);
  return sampleOf(source, entity, layout, minted.value.words, about.join(", ") || layout.name);
}

/** Each field with each of its values, as many sets as there may be. */
function setsOf(source: SampleSource, id: EntityId): readonly Fields[] {
  let sets: readonly Fields[] = [{}];
  for (const { name, max } of requiredFields(id.enabled.layout)) {
    const values = valuesOf(source, id, name).filter((value) => BigInt(value) <= BigInt(max));
    sets = sets.flatMap((set) => values.map((value) => ({ ...set, [name]: value }))).slice(0, SETS_MAX);
  }
  return sets;
}

function valuesOf({ declared, table }: SampleSource, { service, group }: EntityId, name: string): readonly string[] {
  if (name === "service" && service !== undefined) return [String(service)];
  if (name === "group" && group !== undefined) return [String(group)];
  const countries = name === "country" ? [...table.countries.values()] : [];
  const routed = declared.routes.flatMap(({ when }) => {
    const numbers = when.fields?.[name];
    return numbers === undefined ? [] : rangesOf(numbers).flat();
  });
  return [...new Set([...countries, ...routed, 1, 0].map(String))].slice(0, VALUES_MAX);
}
