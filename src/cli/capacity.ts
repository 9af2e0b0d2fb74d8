import type { Command } from "commander";
import { type Capacity, capacityOf, isoTime, type Load } from "../ids/index.ts";
import type { Act } from "./action.ts";
import { type Answer, formatCapacity } from "./capacity-text.ts";
import { findLayout, knownLayouts } from "./layouts.ts";
import { whyNotMinted } from "./mint-refusal.ts";
import { fail } from "./refuse.ts";
import { formatTableError, openNamedTable } from "./table-file.ts";
import { countingNumber, positiveNumber } from "./values.ts";
import { EXIT, type Runtime } from "./world.ts";

interface Options {
  readonly rate: number;
  readonly minters: number;
  readonly years: number;
  readonly table?: string;
  readonly json?: boolean;
}

/** Long enough for a system, and said in every answer. */
const YEARS_DEFAULT = 10;

/** `waybill id capacity`: what a layout can bear. */
export const addCapacity = (parent: Command, act: Act): void => {
  parent
    .command("capacity")
    .description("say whether a layout bears a load: until when, how many IDs a second, the odds of equal ones")
    .argument("<layout>", "a layout that is minted")
    .requiredOption("--rate <number>", "IDs a second of all minters together, on average", positiveNumber)
    .option("--minters <number>", "how many mint at once", countingNumber, 1)
    .option("--years <number>", "for how long", positiveNumber, YEARS_DEFAULT)
    .option("--table <file>", "a routing table that declares layouts of its own")
    .option("--json", "one JSON object")
    .addHelpText("after", HELP)
    .action(act(printCapacity));
};

const HELP = `
Examples:
  $ waybill id capacity snowflake --rate 50000 --minters 16
  $ waybill id capacity uuid-v7 --rate 1e6 --years 30 --json

docs/reference/cli.md has the formulas. Exit code: 0 when the layout bears the load, 1 when it does not.`;

const printCapacity = async (runtime: Runtime, [name]: readonly string[], options: Options) => {
  const opened = await openNamedTable(options.table, runtime);
  if (!opened.ok) {
    return fail(formatTableError(opened.error), runtime);
  }
  const layout = findLayout(name as string, knownLayouts(opened.value?.table));
  if (!layout.ok) {
    return fail(`error: ${layout.error}\n`, runtime);
  }
  const { rate: idsPerSecond, minters, years } = options;
  const load = { idsPerSecond, minters, years };
  const capacity = capacityOf(layout.value, load);
  if (!capacity.ok) {
    if (capacity.error.reason === "load") throw new Error(`--${capacity.error.name} was let through`);
    return fail(`error: ${whyNotMinted(layout.value)}\n`, runtime);
  }
  const answer = answerOf(load, capacity.value, runtime.nowMs());
  await runtime.print(options.json ? `${JSON.stringify(plainOf(answer))}\n` : formatCapacity(answer));
  return bears(answer) ? EXIT.ok : EXIT.failed;
};

const YEAR_MS = 31_557_600_000;

const answerOf = (load: Load, capacity: Capacity, nowMs: number): Answer => {
  const { time, supply } = capacity;
  const suppliedMs = supply === undefined ? Number.POSITIVE_INFINITY : nowMs + supply.seconds * 1000;
  const endMs = Math.min(time?.endMs ?? Number.POSITIVE_INFINITY, suppliedMs);
  return { load, capacity, lasts: endMs >= nowMs + load.years * YEAR_MS, end: isoTime(endMs) };
};

const bears = ({ lasts, capacity }: Answer): boolean =>
  lasts && capacity.isEnough && capacity.collisions?.areExpected !== true;

const plainOf = (answer: Answer): object => {
  const { load, capacity, lasts, end } = answer;
  const { layout, ...rest } = capacity;
  return { layout, load, bears: bears(answer), lasts, end, ...rest };
};
