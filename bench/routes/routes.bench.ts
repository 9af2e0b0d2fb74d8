import { Worker } from "node:worker_threads";
import { nextMessage, OWN_CHECKOUT } from "../lib/checkouts.ts";
import { inNode } from "../lib/measure.ts";
import type { Bench, BenchOptions, Section } from "../lib/report.ts";
import { type Candidate, sample, spread } from "../lib/sample.ts";
import { type CompileFigures, type LookUpRequest, ROUTE_TABLES, type RouteThreadData } from "./route-tables.ts";
import { tableLoads } from "./table-loads.ts";

/** Fewer than for look-ups: the largest table takes seconds. */
const COMPILE_ROUNDS_MAX = 5;

interface Table {
  readonly kind: string;
  readonly against: string;
  readonly figures: CompileFigures;
  readonly thread: Worker;
}

/** Look-ups in tables of 10, 1,000 and about 100,000 routes, compiling them, and reloading the largest tables. */
export const routesBench: Bench = {
  name: "routes",
  run: async (options) => {
    const compileRounds = Math.min(options.rounds, COMPILE_ROUNDS_MAX);
    const { against } = options;
    const tables: Table[] = [];
    const others: Table[] = [];
    try {
      for (const [table, { kind, against: reference = kind, isNew }] of ROUTE_TABLES.entries()) {
        const started = await startThread({ table, compileRounds, checkout: OWN_CHECKOUT });
        tables.push({ kind, against: reference, ...started });
        if (against !== undefined && !isNew) {
          others.push({
            kind,
            against: reference,
            ...(await startThread({ table, compileRounds, checkout: against })),
          });
        }
        options.progress(`compiled ${started.figures.routeCount} routes by ${kind}`);
      }
      return [
        await lookUps(tables, options),
        ...(against === undefined ? [] : [await besideCheckout(against, tables, others, options)]),
        compiling(tables, compileRounds),
        ...(await tableLoads(options)),
      ];
    } finally {
      await Promise.all([...tables, ...others].map(({ thread }) => thread.terminate()));
    }
  },
};

async function startThread(data: RouteThreadData) {
  const thread = new Worker(new URL("route-thread.ts", import.meta.url), { workerData: data });
  return { thread, figures: await nextMessage<CompileFigures>(thread) };
}

async function lookUps(tables: readonly Table[], options: BenchOptions): Promise<Section> {
  const { rounds, sampleMs, progress } = options;
  const candidates = [...tables.map(candidateOf("find")), ...tables.map(candidateOf("path"))];
  const onRound = (round: number) => progress(`Route look-ups: round ${round} of ${rounds}`);
  const sampled = await sample(candidates, { rounds, sampleMs, onRound });
  return {
    title: "Route look-ups",
    note:
      `Median (range) over ${rounds} round(s) in Node, each table in its own isolate. "find" goes from an ID's words to its ` +
      `route; "path" from a raw path to the decision, parsing and checking the ID included. The ratio is to 10 routes.`,
    columns: ["work", "ns", "x"],
    rows: sampled.map(({ name, nsPerRun, ratio }) => [name, nsPerRun, ratio ?? null]),
  };
}

/** The same look-ups by another checkout, in alternating turns. */
async function besideCheckout(
  other: string,
  tables: readonly Table[],
  others: readonly Table[],
  options: BenchOptions,
): Promise<Section> {
  const labelled = (candidate: Candidate): Candidate => ({
    name: `${candidate.name}, of ${other}`,
    run: candidate.run,
  });
  const pairs = (["find", "path"] as const).flatMap((work) =>
    // New tables are the last ones.
    others.flatMap((theirs, at) => {
      const own = tables[at] as Table;
      const before = labelled(candidateOf(work)(theirs));
      return [{ ...candidateOf(work)(own), against: before.name }, before];
    }),
  );
  return inNode(`Route look-ups beside ${other}`, pairs, options);
}

const candidateOf =
  (work: LookUpRequest["work"]) =>
  ({ kind, against, figures, thread }: Table): Candidate => ({
    name: `${work}: ${figures.routeCount} by ${kind}`,
    against: `${work}: 10 by ${against}`,
    run: async (times) => {
      thread.postMessage({ work, times } satisfies LookUpRequest);
      return nextMessage<number>(thread);
    },
  });

function compiling(tables: readonly Table[], rounds: number): Section {
  return {
    title: "Compiling a table",
    note: `From JSON text, with all checks, in Node: median (range) of ${rounds}. Memory is that retained after a collection.`,
    columns: ["routes", "JSON, MiB", "ms", "memory, MiB"],
    rows: tables.map(({ kind, figures: { routeCount, jsonBytes, tookMs, memoryBytes } }) => [
      `${routeCount} by ${kind}`,
      jsonBytes / 2 ** 20,
      spread(tookMs),
      memoryBytes / 2 ** 20,
    ]),
  };
}
