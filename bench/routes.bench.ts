import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { pooledEntropy } from "../src/edge/entropy.ts";
import { hotguid, iuid, type Layout, type Words } from "../src/ids/index.ts";
import { type CompiledTable, type Entity, loadTable, resolvePath } from "../src/routing/index.ts";
import type { Bench, BenchOptions } from "./bench.ts";
import { needed, randomFields } from "./random-ids.ts";
import type { Cell, Section } from "./report.ts";
import { type Candidate, sample, spread } from "./sample.ts";
import { countryServiceTable, shardKeyTable } from "./tables.ts";

/** A power of two, so that going round is one AND. */
const IDS = 4096;

/** Compiling is repeated less than a look-up is: the biggest table takes seconds. */
const COMPILE_ROUNDS_MAX = 5;

const DECLARED = {
  "shard-key ranges": [shardKeyTable(10), shardKeyTable(1_000), shardKeyTable(100_000)],
  // There are 249 countries and 256 services: more than 63,744 such routes cannot be.
  "country × service": [countryServiceTable(10, 1), countryServiceTable(100, 10), countryServiceTable(240, 250)],
};

interface Table {
  readonly kind: string;
  readonly json: string;
  readonly compiled: CompiledTable;
  readonly ids: readonly RoutedId[];
}

interface RoutedId {
  readonly entity: Entity;
  readonly words: Words;
  readonly path: string;
}

/** Look-ups in tables of 10, 1,000 and about 100,000 routes, and what compiling them takes. */
export const routesBench: Bench = {
  name: "routes",
  run: async (options) => {
    const tables: Table[] = [];
    const compiling: Cell[][] = [];
    for (const [kind, declared] of Object.entries(DECLARED)) {
      for (const one of declared) {
        const json = JSON.stringify(one);
        const { compiled, figures } = compile(json, Math.min(options.rounds, COMPILE_ROUNDS_MAX));
        options.progress(`compiled ${compiled.routeCount} routes by ${kind}`);
        tables.push({ kind, json, compiled, ids: routedIds(compiled) });
        compiling.push([`${compiled.routeCount} by ${kind}`, json.length / 2 ** 20, ...figures]);
      }
    }
    return [await lookUps(tables, options), compileSection(compiling, Math.min(options.rounds, COMPILE_ROUNDS_MAX))];
  },
};

async function lookUps(tables: readonly Table[], options: BenchOptions): Promise<Section> {
  const { rounds, sampleMs, progress } = options;
  const candidates = tables.flatMap(lookUpCandidates);
  const onRound = (round: number) => progress(`Route look-ups: round ${round} of ${rounds}`);
  const sampled = await sample(candidates, { rounds, sampleMs, onRound });
  return {
    title: "Route look-ups",
    note:
      `Median (range) of ${rounds} rounds in Node, ${IDS} random IDs. "find" goes from an ID's words to its route; ` +
      `"path" from a raw path to the decision, parsing and checking the ID included. The ratio is to 10 routes.`,
    columns: ["work", "ns", "x"],
    rows: sampled.map(({ name, nsPerRun, ratio }) => [name, nsPerRun, ratio]),
  };
}

function lookUpCandidates({ kind, compiled, ids }: Table): Candidate[] {
  const nowMs = Date.now();
  const name = (what: string, routeCount: number) => `${what}: ${routeCount} by ${kind}`;
  const find = (id: RoutedId) => indexOf(id.entity).find(id.entity, id.words)?.region.name.length;
  const path = (id: RoutedId) => {
    const match = compiled.paths.match(id.path);
    if (match === undefined) return undefined;
    const decision = resolvePath(compiled, match, id.path, nowMs);
    return decision.ok ? decision.value.target.region.name.length : undefined;
  };
  return Object.entries({ find, path }).map(([what, lookUp]) => ({
    name: name(what, compiled.routeCount),
    against: name(what, 10),
    run: overIds(ids, lookUp),
  }));
}

/** NaN when one look-up finds nothing: the sampler refuses it. */
const overIds = (ids: readonly RoutedId[], lookUp: (id: RoutedId) => number | undefined) => (times: number) => {
  let sum = 0;
  for (let at = 0; at < times; at++) sum += lookUp(ids[at & (IDS - 1)] as RoutedId) ?? Number.NaN;
  return sum;
};

/** IDs that the table routes, evenly over all its keys. */
function routedIds(table: CompiledTable): RoutedId[] {
  const entropy = pooledEntropy();
  const entities = [...table.entities.values()];
  const countries = [...table.countries.values()];
  return Array.from({ length: IDS }, () => {
    const entity = entities[entropy.word() % entities.length] as Entity;
    const [id] = entity.ids;
    const layout: Layout = id?.service === undefined ? hotguid : iuid;
    const country = countries[entropy.word() % countries.length] ?? 0;
    const keys = id?.service === undefined ? {} : { country, service: id.service };
    const mintedAt = layout === iuid ? Date.now() : Math.floor(Date.now() / 1000);
    const words = needed(layout.encode({ ...randomFields(layout, entropy.word), ...keys, mintedAt }));
    return { entity, words, path: (entity.paths[0] ?? "").replace(":id", layout.format(words)) };
  });
}

function indexOf(entity: Entity) {
  const [id] = entity.ids;
  if (id === undefined) throw new Error(`entity ${entity.name} has no IDs`);
  return id.enabled.index;
}

function compile(json: string, rounds: number): { compiled: CompiledTable; figures: Cell[] } {
  const collectGarbage = garbageCollector();
  const tookMs: number[] = [];
  collectGarbage();
  const before = memoryBytes();
  let compiled: CompiledTable | undefined;
  for (let round = 0; round < rounds; round++) {
    const startedMs = performance.now();
    compiled = needed(loadTable(JSON.parse(json), 1));
    tookMs.push(performance.now() - startedMs);
  }
  collectGarbage();
  if (compiled === undefined) throw new Error("a table is compiled at least once");
  return { compiled, figures: [spread(tookMs), (memoryBytes() - before) / 2 ** 20] };
}

function compileSection(rows: readonly Cell[][], rounds: number): Section {
  return {
    title: "Compiling a table",
    note: `From JSON text, every check included, in Node: median (range) of ${rounds}. Memory is what stays after a collection.`,
    columns: ["routes", "JSON, MiB", "ms", "memory, MiB"],
    rows,
  };
}

function memoryBytes(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** A whole collection at will, without a flag on the command line. */
function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const found: unknown = runInNewContext("gc");
  if (typeof found !== "function") throw new Error("this Node has no garbage collector to call");
  return () => void found();
}
