import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { pooledEntropy } from "../../../src/edge/platform.ts";
import { isolateMinters, MINTERS_MAX } from "../../../src/features/mint/edge/minters.ts";
import { durableSequences } from "../../../src/features/mint/edge/sequences.ts";
import { type MintOrder, mintingOf, requiredFields } from "../../../src/features/mint/table/plan.ts";
import {
  compareWords,
  declareLayout,
  everyLayout,
  type FieldValue,
  type Layout,
  layoutNamed,
  type TimeUnit,
  type Words,
} from "../../../src/ids/index.ts";
import { wordsIn } from "../../../src/ids/mint/mint.ts";

const { SEQUENCES } = env as Env;
const NOW_MS = Date.UTC(2026, 10, 21, 12);

const minters = (nowMs: () => number) =>
  isolateMinters({ clock: { nowMs }, entropy: pooledEntropy(), sequences: durableSequences(SEQUENCES) });

const named = (name: string): Layout => {
  const layout = layoutNamed(name);
  if (layout === undefined) throw new Error(`no layout ${name}`);
  return layout;
};

const orderOf = (layout: Layout, keys: Readonly<Record<string, FieldValue>> = {}): MintOrder => ({
  layout,
  keys: { ...Object.fromEntries(requiredFields(layout).map(({ name }) => [name, 1])), ...keys },
});

async function mint(isolate: ReturnType<typeof minters>, order: MintOrder, count: number): Promise<readonly Words[]> {
  const minted = await isolate.mint(order, count);
  if (!minted.ok) throw new Error(JSON.stringify(minted.error));
  return wordsIn(minted.value, order.layout.fixed.value.length);
}

const MINTABLE = everyLayout.filter((layout) => mintingOf(layout) !== "none");

/** The rows' order is that of the words only where the bytes are not moved. */
const sortsByWords = ({ table }: Layout): boolean => table.octetOrder === undefined;

describe("every layout that can be minted", () => {
  it.each(MINTABLE.map((layout) => [layout.name, layout] as const))(
    "%s is, with the keys that were asked for and the time that it is",
    async (_, layout) => {
      const first = minters(() => NOW_MS);
      const second = minters(() => NOW_MS);
      const order = orderOf(layout);
      const [mine, others] = await Promise.all([mint(first, order, 600), mint(second, order, 600)]);
      const texts = [...mine, ...others, ...(await mint(first, order, 5))].map(layout.format);
      expect(new Set(texts).size).toBe(1205);
      for (const words of mine) {
        expect(layout.parse(layout.format(words))).toEqual({ ok: true, value: words });
        for (const [name, value] of Object.entries(order.keys))
          expect(layout.field(name)?.readBig(words)).toBe(BigInt(value));
      }
      const mintedMs = layout.mintedAtMs?.(mine[0] as Words) ?? NOW_MS;
      expect(Math.abs(mintedMs - NOW_MS)).toBeLessThanOrEqual(2000);
    },
  );

  it("is every layout but those whose IDs come of something else", () => {
    const others = everyLayout.filter((layout) => !MINTABLE.includes(layout)).map(({ name }) => name);
    expect(others).toEqual(["uuid-v2", "uuid-v3", "uuid-v5", "uuid-v8", "uuid-nil", "uuid-max", "uuid"]);
  });
});

/** Readings of a clock, call by call, beside the time that it should read. */
const STEPS_MS = [0, 3, -20, 40, 0, 41];

describe("layouts with too few random bits", () => {
  const NAMES = MINTABLE.filter((layout) => mintingOf(layout) === "numbers").map(({ name }) => name);

  it("are those without", () => {
    expect(NAMES.toSorted()).toEqual([
      "discord-snowflake",
      "elasticflake",
      "flake",
      "flake-id",
      "lexical-uuid",
      "object-id",
      "sharding-id",
      "snowflake",
      "sonyflake",
      "sonyflake-v2",
      "uuid-v1",
      "uuid-v6",
      "xid",
    ]);
  });

  it.each(NAMES)(
    "%s: isolates of one machine, whose clocks differ and go back, never make one ID twice",
    async (name) => {
      const layout = named(name);
      let tick = 0;
      const clock = (): number => NOW_MS + 86_400_000 + (STEPS_MS[tick++ % STEPS_MS.length] ?? 0);
      const isolates = Array.from({ length: 4 }, () => minters(clock));
      const order = orderOf(layout);
      const all: string[] = [];
      const rising = await Promise.all(
        isolates.map(async (isolate) => {
          const own: Words[] = [];
          for (let turn = 0; turn < 8; turn++) own.push(...(await mint(isolate, order, 1 + ((turn * 37) % 90))));
          return own;
        }),
      );
      for (const own of rising) {
        all.push(...own.map(layout.format));
        if (!sortsByWords(layout)) continue;
        for (const [at, words] of own.slice(1).entries()) expect(compareWords(own[at] as Words, words)).toBe(-1);
      }
      expect(new Set(all).size).toBe(all.length);
    },
  );

  it("go into the next ticks when one is used up, and say so when they would be too far ahead", async () => {
    const layout = named("sonyflake");
    const isolate = minters(() => NOW_MS + 2 * 86_400_000);
    const order = orderOf(layout, { machine: 65535 });
    const ids = await mint(isolate, order, 1000);
    const ticks = new Set(ids.map((words) => layout.mintedAtMs?.(words)));
    expect([...ticks].map((ms) => (ms ?? 0) - NOW_MS - 2 * 86_400_000)).toEqual([0, 10, 20, 30]);
    const behind = minters(() => NOW_MS);
    expect(await behind.mint(order, 1)).toMatchObject({
      ok: false,
      error: { reason: "sequence-ahead", retryAfterSeconds: 2 * 86_400 - 60 + 1 },
    });
  });

  it("say truly when there are more: then there are, and just before there are not", async () => {
    const layout = named("sonyflake");
    let nowMs = NOW_MS + 5 * 86_400_000;
    const isolate = minters(() => nowMs);
    const order = orderOf(layout, { machine: 9 });
    const isFull = async () => {
      const minted = await isolate.mint(order, 1000);
      return minted.ok || minted.error.reason !== "sequence-ahead" ? undefined : minted.error.retryAfterSeconds;
    };
    // A window has 256 numbers for each 10 ms of 60 s: with 6,001 ticks 1,536 requests fit.
    let given = 0;
    while ((await isFull()) === undefined) given++;
    expect(given).toBe(1536);
    for (let turn = 0; turn < 200; turn++) expect(await isFull()).toBe(1);
    nowMs += 1000;
    expect(await isFull()).toBeUndefined();
  });

  it("refuse a count that no window holds, without asking", async () => {
    const rows = [{ field: "mintedAt", bits: 40, role: "time", unit: "s", epochMs: 0 }] as const;
    const layout = declareLayout({ name: "own-seconds", text: "hex", rows });
    if (!layout.ok) throw new Error("no layout");
    expect(await minters(() => NOW_MS).mint(orderOf(layout.value), 100)).toEqual({
      ok: false,
      error: { reason: "key-out-of-range", field: "count", value: "100", max: "61" },
    });
  });

  it("have a counter for each set of keys where those are few", async () => {
    const layout = named("snowflake");
    const isolate = minters(() => NOW_MS + 3 * 86_400_000);
    const [one] = await mint(isolate, orderOf(layout, { worker: 7 }), 1);
    const [other] = await mint(isolate, orderOf(layout, { worker: 8 }), 1);
    expect([one, other].map((words) => layout.field("sequence")?.read(words as Words))).toEqual([0, 0]);
  });
});

describe("layouts of one's own", () => {
  const declare = (rows: Parameters<typeof declareLayout>[0]["rows"]): Layout => {
    const layout = declareLayout({ name: `own-${rows.map(({ bits }) => bits).join("-")}`, text: "hex", rows });
    if (!layout.ok) throw new Error(JSON.stringify(layout.error));
    return layout.value;
  };

  it.each([
    [
      "a key and a counter, and no time",
      declare([
        { field: "shard", bits: 8, role: "key" },
        { field: "counter", bits: 40, role: "counter" },
      ]),
      "numbers",
    ],
    [
      "a time and few random bits",
      declare([
        { field: "mintedAt", bits: 32, role: "time", unit: "s", epochMs: Date.UTC(2025, 0, 1) },
        { field: "random", bits: 24, role: "random" },
      ]),
      "numbers",
    ],
    ["a time alone", declare([{ field: "mintedAt", bits: 48, role: "time", unit: "ms", epochMs: 0 }]), "numbers"],
    [
      "a counter that does not use its bits",
      declare([
        { field: "mintedAt", bits: 48, role: "time", unit: "ms", epochMs: 0 },
        { field: "counter", bits: 16, role: "counter", max: 999 },
      ]),
      "numbers",
    ],
    [
      "many random bits of few values, and no time",
      declare([
        { field: "shard", bits: 8, role: "key" },
        { field: "random", bits: 41, role: "random", max: 1 },
      ]),
      "none",
    ],
    [
      "a time, and many random bits of few values",
      declare([
        { field: "mintedAt", bits: 48, role: "time", unit: "s", epochMs: 0 },
        { field: "random", bits: 40, role: "random", max: 1 },
        { field: "more", bits: 8, role: "random" },
      ]),
      "numbers",
    ],
    ["random bits alone", declare([{ field: "random", bits: 64, role: "random" }]), "chance"],
    ["a key and nothing else", declare([{ field: "shard", bits: 64, role: "key" }]), "none"],
  ] as const)("with %s", async (_, layout, minting) => {
    expect(mintingOf(layout)).toBe(minting);
    if (minting === "none") return;
    const texts: string[] = [];
    for (const isolate of [minters(() => NOW_MS), minters(() => NOW_MS)]) {
      const ids = await mint(isolate, orderOf(layout), 1000);
      for (const words of ids) expect(layout.fits(words)).toBe(true);
      texts.push(...ids.map(layout.format));
    }
    expect(new Set(texts).size).toBe(2000);
  });
});

describe("a time that the field does not hold", () => {
  const epochMs = Date.UTC(2026, 0, 1);
  const counted = (bits: number, unit: TimeUnit, more: object = {}): Layout => {
    const layout = declareLayout({
      name: `own-${unit}-${bits}`,
      text: "hex",
      rows: [
        { field: "mintedAt", bits, role: "time", unit, epochMs, ...more },
        { field: "counter", bits: 64 - bits, role: "counter" },
      ],
    });
    if (!layout.ok) throw new Error(JSON.stringify(layout.error));
    return layout.value;
  };

  it.each([
    ["10 bits of milliseconds", counted(10, "ms"), "1023"],
    ["32 bits of milliseconds", counted(32, "ms"), "4294967295"],
    ["40 bits of nanoseconds", counted(40, "ns"), "1099511627775"],
    ["a greatest value below what the bits hold", counted(48, "ms", { max: 1_000_000 }), "1000000"],
    ["three days of an SQL Server's", counted(34, "sql-datetime"), "17179869183"],
    ["an epoch that is to come", counted(40, "s", { epochMs: NOW_MS + 120_000 }), "1099511627775"],
  ])("%s makes no ID", async (_, layout, max) => {
    let takes = 0;
    const sequences = {
      take: () => Promise.reject(new Error(`${++takes}`)),
      peek: () => Promise.reject(new Error("not to be asked")),
      refusal: () => undefined,
    };
    const isolate = isolateMinters({ clock: { nowMs: () => NOW_MS }, entropy: pooledEntropy(), sequences });
    expect(await isolate.mint(orderOf(layout), 1)).toMatchObject({
      ok: false,
      error: { reason: "key-out-of-range", field: "mintedAt", max },
    });
    expect(takes).toBe(0);
  });

  it("ends with the last tick, and no ID comes twice", async () => {
    const rows = [
      { field: "mintedAt", bits: 10, role: "time", unit: "ms", epochMs: NOW_MS - 1000 },
      { field: "shard", bits: 16, role: "key" },
      { field: "counter", bits: 6, role: "counter" },
    ] as const;
    const layout = declareLayout({ name: "own-last", text: "hex", rows });
    if (!layout.ok) throw new Error(JSON.stringify(layout.error));
    const isolate = minters(() => NOW_MS);
    const ids = await mint(isolate, orderOf(layout.value), 24 * 64);
    expect(new Set(ids.map(layout.value.format)).size).toBe(24 * 64);
    expect(layout.value.decode(ids.at(-1) as Words)).toEqual({ mintedAt: 1023, shard: 1, counter: 63 });
    expect(await isolate.mint(orderOf(layout.value), 1)).toMatchObject({
      ok: false,
      error: { reason: "sequence-exhausted" },
    });
  });
});

it("minters are forgotten beyond a number, and their IDs are new all the same", async () => {
  const layout = named("cuid");
  const isolate = minters(() => NOW_MS);
  const all: string[] = [];
  for (let round = 0; round < 2; round++) {
    for (let fingerprint = 0; fingerprint < MINTERS_MAX + 10; fingerprint++) {
      all.push(...(await mint(isolate, orderOf(layout, { fingerprint }), 1)).map(layout.format));
    }
  }
  expect(new Set(all).size).toBe(all.length);
});
