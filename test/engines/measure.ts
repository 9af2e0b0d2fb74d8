import type { Layout, Words } from "../../src/ids/index.ts";
import { bigToWords, wordsToBig } from "../../src/ids/layout/words.ts";
import { columnAdvice } from "../../src/ids/stores/advice.ts";
import type { StoreColumn } from "../../src/ids/stores/column.ts";
import type { EngineName } from "../../src/ids/stores/engine.ts";
import { storePeriod } from "../../src/ids/stores/period.ts";
import { waybill } from "../cli/fake-runtime.ts";
import { MINTED, PERIOD } from "./minted.ts";
import type { Engine } from "./servers/engine.ts";

/** A table of 300 IDs in a column as `waybill id column` prints it, and what its engine finds in it. */

/** Makes the table. The number in `place` is that in the order of minting. */
export const fill = async (
  engine: Engine,
  name: EngineName,
  { layout, type, write }: StoreColumn,
  ids: readonly Words[],
): Promise<void> => {
  const advice = columnAdvice(name, layout, "id", { type: type.type });
  if (!advice.ok) throw new Error(advice.error.reason);
  // Rows come in no order of the IDs: 77 and 300 have no common divisor.
  const rows = ids.map((_, at) => (at * 77 + 13) % MINTED).map((at) => `(${write(ids[at] as Words)}, ${at})`);
  await engine.run("DROP TABLE IF EXISTS ids");
  await engine.run(`CREATE TABLE ids (${advice.value.definition}, place INTEGER)`);
  await engine.run(`INSERT INTO ids VALUES ${rows.join()}`);
};

const placesBy = async (engine: Engine, clause: string): Promise<readonly number[]> =>
  (await engine.list(`SELECT place FROM ids ${clause}`)).map(Number);

/** How many IDs stand elsewhere than in the order of minting. */
export const misplaced = async (engine: Engine): Promise<number> =>
  (await placesBy(engine, "ORDER BY id")).filter((place, at) => place !== at).length;

export interface Equality {
  /** IDs that find exactly themselves. */
  readonly self: number;
  /** IDs whose neighbours in the last digit find nothing, as far as these were not minted. */
  readonly apart: number;
}

export const equality = async (
  engine: Engine,
  { layout, literal }: StoreColumn,
  ids: readonly Words[],
): Promise<Equality> => {
  const minted = new Map(ids.map((words, at) => [`${wordsToBig(words)}`, at]));
  const near = (words: Words): readonly Words[] =>
    [-1n, 1n].map((step) => bigToWords(wordsToBig(words) + step, words.length)).filter((each) => layout.fits(each));
  const probes = ids.flatMap((words, at) => [
    { at, words, isSelf: true },
    ...near(words).map((each) => ({ at, words: each, isSelf: false })),
  ]);
  const found = await placesOf(
    engine,
    probes.map(({ words }) => literal(words)),
  );
  const missed = { self: new Set<number>(), apart: new Set<number>() };
  for (const [probe, { at, words, isSelf }] of probes.entries()) {
    const expected = minted.get(`${wordsToBig(words)}`);
    if (`${found[probe] ?? ""}` !== `${expected ?? ""}`) missed[isSelf ? "self" : "apart"].add(at);
  }
  return { self: ids.length - missed.self.size, apart: ids.length - missed.apart.size };
};

/** Conditions in one statement: an engine's time goes into statements more than into rows. */
const BATCH = 60;

/** For each literal: the places of the rows whose ID is equal. */
const placesOf = async (
  engine: Engine,
  literals: readonly string[],
): Promise<readonly (readonly number[] | undefined)[]> => {
  const found: (number[] | undefined)[] = [];
  for (let from = 0; from < literals.length; from += BATCH) {
    const selects = literals
      .slice(from, from + BATCH)
      .map((literal, at) => `SELECT ${(from + at) * MINTED} + place FROM ids WHERE id = ${literal}`);
    for (const text of await engine.list(selects.join(" UNION ALL "))) {
      const sum = Number(text);
      const probe = Math.floor(sum / MINTED);
      found[probe] = [...(found[probe] ?? []), sum % MINTED];
    }
  }
  return found;
};

/** The places that the condition of the period finds, as `waybill id range` prints it, or why it prints none. */
export const placesOfPeriod = async (
  engine: Engine,
  name: EngineName,
  layout: Layout,
  type?: string,
): Promise<readonly number[] | string> => {
  const period = storePeriod(name, layout, { ...PERIOD, name: "id" }, { type });
  const printed = await printedCondition(name, layout, type);
  if (!period.ok || printed === undefined) return period.ok ? "printed nothing" : period.error.reason;
  return (await placesBy(engine, `WHERE ${printed}`)).toSorted((a, b) => a - b);
};

/** The condition that the command prints for the period; `undefined`: it refuses. */
export const printedCondition = async (
  name: EngineName,
  { name: layout }: Layout,
  type?: string,
): Promise<string | undefined> => {
  const [from, to] = [PERIOD.fromMs, PERIOD.toMs].map((ms) => new Date(ms).toISOString());
  const period = ["--from", from ?? "", "--to", to ?? "", "--for", name];
  const run = await waybill(["id", "range", layout, ...period, ...(type === undefined ? [] : ["--type", type])]);
  return run.code === 0 ? run.stdout.trim() : undefined;
};

/** How an engine is told of partitions, and which ones a condition reads. */
export interface Partitioning {
  /** The statements of a table `parts` with the column's definition: a partition before the period, `period`, and one after. */
  readonly create: (definition: string, before: string, period: string, after: string) => string;
  /** The names of the partitions that a condition reads. */
  readonly read: (engine: Engine, condition: string) => Promise<readonly string[]>;
}

/** The partitions that the period's condition reads; `undefined`: `waybill id range` prints no bounds. */
export const partitionsOfPeriod = async (
  engine: Engine,
  { create, read }: Partitioning,
  name: EngineName,
  layout: Layout,
): Promise<readonly string[] | undefined> => {
  const { fromMs, toMs } = PERIOD;
  const lengthMs = toMs - fromMs;
  const [before, period, after] = [-1, 0, 1].map((step) => {
    const part = { fromMs: fromMs + step * lengthMs, toMs: toMs + step * lengthMs, name: "id" };
    const found = storePeriod(name, layout, part);
    return found.ok ? found.value : undefined;
  });
  if (before?.partition === undefined || period?.partition === undefined || after?.partition === undefined)
    return undefined;
  const advice = columnAdvice(name, layout, "id");
  if (!advice.ok) throw new Error(advice.error.reason);
  await engine.run("DROP TABLE IF EXISTS parts");
  await engine.run(create(advice.value.definition, before.partition, period.partition, after.partition));
  await engine.run(`INSERT INTO parts SELECT id FROM ids WHERE ${period.condition}`);
  return read(engine, period.condition);
};

export const postgresPartitions: Partitioning = {
  create: (definition, before, period, after) => `CREATE TABLE parts (${definition}) PARTITION BY RANGE (id);
    CREATE TABLE p_before PARTITION OF parts ${before}; CREATE TABLE p_period PARTITION OF parts ${period};
    CREATE TABLE p_after PARTITION OF parts ${after}`,
  read: async (engine, condition) => {
    const plan = await engine.list(`EXPLAIN (COSTS OFF) SELECT * FROM parts WHERE ${condition}`);
    return [...new Set(plan.join("\n").match(/\bp_(?:before|period|after)\b/g))];
  },
};

export const mariadbPartitions: Partitioning = {
  create: (definition, before, period, after) => `CREATE TABLE parts (${definition}) PARTITION BY RANGE COLUMNS (id) (
    PARTITION p_before ${before}, PARTITION p_period ${period}, PARTITION p_after ${after})`,
  read: async (engine, condition) => {
    const [plan = ""] = await engine.list(`EXPLAIN FORMAT=JSON SELECT * FROM parts WHERE ${condition}`);
    return plan.match(/\bp_(?:before|period|after)\b/g) ?? [];
  },
};
