import {
  declareLayout,
  type FieldValue,
  type Layout,
  type RandomWords,
  type Row,
  type Words,
} from "../../../ids/index.ts";
import { wordMinter } from "../../../ids/mint/create-minter.ts";
import type { Example } from "../../examples/schema.ts";
import type { SampleReading } from "./sample.ts";

/** The first table of a project, with examples of it. */

export interface FirstRegion {
  readonly name: string;
  readonly url: string;
}

export interface FirstEntity {
  readonly name: string;
  /** Its path, with `:id`. */
  readonly path: string;
}

/** An ID that is there already, and the region that has it. */
export interface KnownId extends SampleReading {
  readonly id: string;
  readonly region: string;
}

export interface FirstTable {
  readonly table: object;
  readonly examples: readonly [Example, ...Example[]];
  /** How its IDs are routed, for the README. */
  readonly about: string;
}

type Routed = Omit<FirstTable, "table"> & {
  /** The parts beside regions. */
  readonly parts: object;
};

export interface FirstChoices {
  readonly regions: readonly [FirstRegion, ...FirstRegion[]];
  readonly entity: FirstEntity;
  /** `undefined`: the project begins with IDs of its own. */
  readonly known: KnownId | undefined;
}

/** Where the clock and randomness come from. */
export interface Minted {
  readonly nowMs: number;
  readonly entropy: RandomWords;
}

export function firstTable(choices: FirstChoices, minted: Minted): FirstTable {
  const { regions, entity, known } = choices;
  const { parts, examples, about } = known === undefined ? ownIds(choices, minted) : knownIds(choices, known);
  const origins = regions.map(({ name, url }) => [name, { origins: [{ url }] }]);
  const [first, ...others] = examples;
  const refused = { name: "a text that is no ID", path: at(entity, "not-an-id"), problem: "malformed-id" } as const;
  return {
    table: {
      $schema: "./node_modules/waybill/routing-table.schema.json",
      regions: Object.fromEntries(origins),
      ...parts,
    },
    examples: [first, ...others, refused],
    about,
  };
}

const at = ({ path }: FirstEntity, id: string): string => path.replace(":id", () => id);

/** A UUID of version 8 (RFC 9562, section 5.8): every UUID column takes it, and other UUIDs may have the same path. */
const OWN_LAYOUT = "sharded-uuid";
const TIME = { field: "mintedAt", bits: 48, role: "time", unit: "ms" } as const;
const ROWS: readonly Row[] = [
  { field: "version", bits: 4, role: "fixed", value: 8 },
  { field: "random", bits: 12, role: "random" },
  { field: "variant", bits: 2, role: "fixed", value: 2 },
  { field: "shardKey", bits: 32, role: "key" },
  { field: "random", bits: 30, role: "random" },
];

const SHARD_KEYS = 2 ** 32;

/** New IDs carry a shard key, and each region has an equal share of the keys. */
function ownIds({ regions, entity }: FirstChoices, minted: Minted): Routed {
  const layout = ownLayout();
  const startOf = (index: number): number => Math.ceil((SHARD_KEYS * index) / regions.length);
  const shares = regions.map(({ name }, index) => ({ region: name, from: startOf(index), to: startOf(index + 1) - 1 }));
  const routes = shares.map(({ region, from, to }) => ({
    when: { entity: entity.name, shardKey: `${from}-${to}` },
    region,
  }));
  const [first, ...others] = shares.map(({ region, from }, index): Example => {
    const id = layout.format(mint(layout, from + 7, minted));
    return { name: `an ID of shard ${from + 7}`, path: at(entity, id), region, route: `/routes/${index}` };
  });
  return {
    parts: {
      layouts: { [OWN_LAYOUT]: { rows: [{ ...TIME, epoch: "1970-01-01T00:00:00Z" }, ...ROWS], text: "uuid" } },
      entities: { [entity.name]: { path: entity.path, ids: [{ layout: OWN_LAYOUT }] } },
      routes,
    },
    examples: [first as Example, ...others],
    about: [
      "IDs of this table are UUIDs of version 8 that carry a shard key of 32 bits: the number of a customer, or a hash of it. Each region has a",
      "share of the keys. UUIDs of other versions can have the same path. The gateway mints new ones:",
      "",
      "```sh",
      `curl -s http://127.0.0.1:8787/mint -d '{"entity":"${entity.name}","shardKey":7}'`,
      "```",
    ].join("\n"),
  };
}

function ownLayout(): Layout {
  const layout = declareLayout({ name: OWN_LAYOUT, rows: [{ ...TIME, epochMs: 0 }, ...ROWS], text: "uuid" });
  if (!layout.ok) throw new Error(`${OWN_LAYOUT}: ${layout.error.reason}`);
  return layout.value;
}

function mint(layout: Layout, shardKey: number, { nowMs, entropy }: Minted): Words {
  const minter = wordMinter(layout, { shardKey }, entropy);
  const words = minter.ok ? minter.value(nowMs) : minter;
  if (!words.ok) throw new Error(`no ID for shard key ${shardKey}: ${words.error.reason}`);
  return words.value;
}

function knownIds({ regions, entity }: FirstChoices, known: KnownId): Routed {
  const { layout, declared, region } = known;
  const name = declared === undefined ? layout.name : `${entity.name}-id`;
  const base = {
    ...(declared !== undefined && { layouts: { [name]: declared } }),
    entities: { [entity.name]: { path: entity.path, ids: [{ layout: name, ...markOf(known) }] } },
  };
  const kept = { ...known, path: at(entity, known.id) };
  const key = layout.fields.find(({ role }) => role === "key");
  // A service or a group says the entity; its IDs have one region until a route says more.
  if (regions.length === 1 || isMarked(layout)) return byEntity(base, kept, entity, region);
  const elsewhere = regions.find((each) => each.name !== region)?.name ?? region;
  return key === undefined
    ? byDirectory(base, kept, { entity: entity.name, layout: name, elsewhere })
    : byKey(base, kept, { entity, name, key: key.name });
}

type Kept = KnownId & { readonly path: string };

const isMarked = (layout: Layout): boolean => MARKS.some((mark) => layout.field(mark) !== undefined);

const MARKS = ["service", "group"] as const;

const markOf = ({ layout, words }: KnownId): object =>
  Object.fromEntries(
    MARKS.flatMap((mark) => {
      const field = layout.field(mark);
      return field === undefined ? [] : [[mark, field.read(words)]];
    }),
  );

function byEntity(base: object, { path, layout }: Kept, { name }: FirstEntity, region: string): Routed {
  return {
    parts: { ...base, routes: [{ when: { entity: name }, region }] },
    examples: [{ name: "the first ID", path, region, entity: name, route: "/routes/0" }],
    about: `IDs are read as ${layout.name}, and all of ${name} are in ${region}: add a route for those that are elsewhere.`,
  };
}

/** The key of the ID has a route; others get `unassigned-key` until one is written. */
function byKey(
  base: object,
  { path, layout, words, region, id }: Kept,
  { entity, name, key }: { readonly entity: FirstEntity; readonly name: string; readonly key: string },
): Routed {
  const value = layout.field(key)?.readBig(words) ?? 0n;
  const when =
    key === "shardKey"
      ? { entity: entity.name, shardKey: `${value}` }
      : { entity: entity.name, fields: { [key]: `${value}` } };
  const other = withField(layout, words, key, value === 0n ? 1n : 0n);
  const text = id === layout.format(words) ? layout.format(other) : undefined;
  const elsewhere: readonly Example[] =
    text === undefined
      ? []
      : [{ name: `an ID of another ${key}`, path: at(entity, text), problem: "unassigned-key", entity: entity.name }];
  return {
    parts: { ...base, routes: [{ when, region }] },
    examples: [
      { name: `an ID of ${key} ${value}`, path, region, entity: entity.name, route: "/routes/0" },
      ...elsewhere,
    ],
    about: `IDs are read as ${name}, and ${key} decides: ${value} is in ${region}. IDs of another ${key} get the problem \`unassigned-key\` until a route or a \`default\` takes them.`,
  };
}

function withField(layout: Layout, words: Words, name: string, value: bigint): Words {
  const fields = layout.fields.filter(({ role }) => role !== "fixed");
  const values = Object.fromEntries(
    fields.map((field): [string, FieldValue] => [field.name, field.name === name ? value : field.readBig(words)]),
  );
  const encoded = layout.encode(values);
  if (!encoded.ok) throw new Error(`${layout.name} takes no other ${name}: ${encoded.error.reason}`);
  return encoded.value;
}

/** The ID says nothing of its region: a directory knows it, and those that it does not know are where the first one is. */
function byDirectory(
  base: object,
  { path, id, region }: Kept,
  { entity, layout, elsewhere }: Readonly<Record<"entity" | "layout" | "elsewhere", string>>,
): Routed {
  const directory = `${entity}-regions`;
  return {
    parts: {
      ...base,
      routes: [{ when: { layout }, directory }],
      directory: { [directory]: { key: { layout }, unknown: region } },
    },
    examples: [
      {
        name: "an ID that the directory does not have",
        path,
        region,
        entity,
        directory: { [directory]: { [id]: null } },
      },
      {
        name: `an ID that the directory has in ${elsewhere}`,
        path,
        region: elsewhere,
        directory: { [directory]: { [id]: elsewhere } },
        route: `/directory/${directory}`,
      },
    ],
    about: [
      `IDs are read as ${layout}, which says nothing of a region. So the directory \`${directory}\` knows the region of each, and those that it does`,
      `not know are in ${region}. \`npx waybill directory import\` fills it; \`node_modules/waybill/docs/reference/directory.md\` has the rest.`,
    ].join("\n"),
  };
}
