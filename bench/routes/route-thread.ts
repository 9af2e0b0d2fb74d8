import { parentPort, workerData } from "node:worker_threads";
import { pooledEntropy } from "../../src/edge/platform.ts";
import type { Words } from "../../src/ids/index.ts";
import type * as Routing from "../../src/routing/index.ts";
import type { CompiledTable, Entity } from "../../src/routing/index.ts";
import { sourceOf } from "../lib/checkouts.ts";
import { needed, randomFields } from "../lib/random.ts";
import { retainedBytes } from "./memory.ts";
import { type CompileFigures, type LookUpRequest, ROUTE_TABLES, type RouteThreadData } from "./route-tables.ts";

/** One table in its own isolate, as at the edge: other tables' look-ups must not affect its compiled code. */

/** A power of two: the next index is one AND. */
const IDS = 4096;

interface RoutedId {
  readonly entity: Entity;
  readonly words: Words;
  readonly path: string;
}

const { table, compileRounds, checkout }: RouteThreadData = workerData;
const { loadTable, resolvePath } = await sourceOf<typeof Routing>(checkout, "routing/index.ts");
const json = JSON.stringify(ROUTE_TABLES[table]?.declare());
const { compiled, figures } = compile(json, compileRounds);
const ids = routedIds(compiled);
const nowMs = Date.now();

parentPort?.postMessage(figures);
parentPort?.on("message", ({ work, times }: LookUpRequest) => {
  parentPort?.postMessage(work === "find" ? findAll(times) : resolveAll(times));
});

/** From an ID's words to its route. NaN if a look-up finds nothing: the sampler rejects it. */
function findAll(times: number): number {
  let sum = 0;
  for (let at = 0; at < times; at++) {
    const { entity, words } = ids[at & (IDS - 1)] as RoutedId;
    sum += entity.ids[0]?.find(words)?.region?.name.length ?? Number.NaN;
  }
  return sum;
}

/** From a raw path to the decision. */
function resolveAll(times: number): number {
  let sum = 0;
  for (let at = 0; at < times; at++) {
    const { path } = ids[at & (IDS - 1)] as RoutedId;
    const match = compiled.paths.match(path);
    const decision = match && resolvePath(compiled, match, path, nowMs);
    sum += decision?.ok ? decision.value.target.region.name.length : Number.NaN;
  }
  return sum;
}

/** IDs that the table routes, spread evenly over its keys. */
function routedIds(within: CompiledTable): RoutedId[] {
  const { word } = pooledEntropy();
  const entities = [...within.entities.values()];
  const countries = [...within.countries.values()];
  return Array.from({ length: IDS }, () => {
    const entity = entities[word() % entities.length] as Entity;
    const { service, enabled } = entity.ids[0] as Entity["ids"][number];
    const { layout } = enabled;
    const country = countries[word() % countries.length] ?? 0;
    const isInSeconds = layout.table.rows.some((row) => row.role === "time" && row.unit === "s");
    const mintedAt = isInSeconds ? Math.floor(Date.now() / 1000) : Date.now();
    const keys = service === undefined ? { mintedAt } : { mintedAt, country, service };
    const words = needed(layout.encode({ ...randomFields(layout, word), ...keys }));
    return { entity, words, path: (entity.paths[0] ?? "").replace(":id", layout.format(words)) };
  });
}

function compile(text: string, rounds: number): { compiled: CompiledTable; figures: CompileFigures } {
  const tookMs: number[] = [];
  const before = retainedBytes();
  let last: CompiledTable | undefined;
  for (let round = 0; round < rounds; round++) {
    const startedMs = performance.now();
    last = needed(loadTable(JSON.parse(text), 1));
    tookMs.push(performance.now() - startedMs);
  }
  const after = retainedBytes();
  if (last === undefined) throw new Error("at least one round is needed");
  const figures = { routeCount: last.routeCount, jsonBytes: text.length, tookMs, memoryBytes: after - before };
  return { compiled: last, figures };
}
