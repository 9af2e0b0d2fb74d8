import type { Layout, RandomWords, Words } from "../ids/index.ts";
import { type CompiledTable, type Entity, primaryPattern, regionsOfMinted } from "../routing/index.ts";
import { type AnyTable, pathWithId } from "./demo-table.ts";

/** An ID with what the table says of it. */
export interface Sample {
  readonly entity: string;
  readonly id: string;
  /** The part of the ID that decides, in words. */
  readonly about: string;
  readonly region: string;
  /** The entity's own path, `/orders/<id>`. */
  readonly path: string;
  /** A second path to the same entity, where its layout has a short form. */
  readonly shortPath: string | undefined;
  /** What an ID with the same keys is minted for, where its layout has a country. */
  readonly country: string | undefined;
  /** The same for a layout that is minted by its fields, with its name. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly layout?: string;
}

export interface SampleSource {
  readonly declared: AnyTable;
  readonly table: CompiledTable;
  readonly nowMs: number;
  readonly entropy: RandomWords;
}

/** One sample, or none when the table sends it nowhere. */
export function sampleOf(
  { table }: SampleSource,
  entity: Entity,
  layout: Layout,
  words: Words,
  about: string,
): Sample[] {
  const region = regionOf(table, entity, layout, words);
  if (region === undefined) return [];
  const id = layout.format(words);
  const path = pathWithId(primaryPattern(entity, layout.name) ?? "", id);
  return [{ entity: entity.name, id, about, region, path, shortPath: undefined, country: undefined }];
}

/** The order of trust is the gateway's: what the table says of the entity alone, then the routes with their canaries. */
function regionOf(table: CompiledTable, entity: Entity, layout: Layout, words: Words): string | undefined {
  const alone = table.moved.find(layout, words);
  if (alone !== undefined) return alone.region?.name;
  const enabled = table.layouts.get(layout.name);
  const regions = enabled && regionsOfMinted(entity, enabled, [words]);
  return regions?.ok ? regions.value[0] : undefined;
}
