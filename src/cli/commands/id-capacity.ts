import { type Capacity, COLLISION_ODDS_MAX, capacityOf, isoTime, type Load } from "../../ids/index.ts";
import { command, option, required, withDefault } from "../command.ts";
import { countingNumber, positiveNumber } from "../lib/input.ts";
import { openLayout } from "../lib/layouts.ts";
import { alignColumns, countOf, indented, jsonText, linesText } from "../lib/output.ts";
import { EXIT, misuse } from "../runtime.ts";
import { whyNotMinted } from "./mint.ts";

type Answer = ReturnType<typeof answerOf>;

const formatCapacity = (answer: Answer): string => {
  const { load, capacity } = answer;
  const minters = countOf(load.minters, "minter");
  const head = `${capacity.layout} at ${amount(load.idsPerSecond)} IDs a second from ${minters}, for ${countOf(load.years, "year")}`;
  const lines = [
    ["lasts", formatLifetime(answer)],
    ...rateLines(answer),
    ["minters", formatMinters(answer)],
    ["equal IDs", formatCollisions(answer)],
    ["verdict", formatVerdict(answer)],
  ];
  return linesText([head, "", ...indented(alignColumns(lines))]);
};

const formatLifetime = ({ capacity: { time, supply }, end, announced = [] }: Answer): string => {
  if (supply !== undefined) {
    const steps = announced.flatMap(({ percent, at }) => (at === undefined ? [] : [`${percent} % at ${at}`]));
    const by = ["", ...steps].join(", ");
    return `${amount(supply.ids)} numbers of ${supply.field}, until ${end ?? "after the year 9999"} at this rate${by}`;
  }
  if (time === undefined) return "unlimited: it contains no time";
  return `until ${end ?? "after the year 9999"}, ${time.field} from ${isoTime(time.firstMs) ?? time.firstMs} on`;
};

const rateLines = ({ load, capacity: { rate } }: Answer): readonly (readonly string[])[] => {
  if (rate === undefined) return [["one minter", "unlimited: nothing is counted"]];
  const by = rate.field === undefined ? "one" : `${amount(rate.idsPerTick)} by ${rate.field}`;
  const ticks = rate.ticksPerSecond === 1 ? "each second" : `a tick, ${amount(rate.ticksPerSecond)} ticks a second`;
  const one = ["one minter", `${amount(rate.minterIdsPerSecond)} IDs a second: ${by} ${ticks}`];
  return load.minters === 1 ? [one] : [one, ["all", `${amount(rate.allIdsPerSecond)} IDs a second`]];
};

const formatMinters = ({ capacity: { minters, supply } }: Answer): string => {
  if (supply !== undefined) return "as many as share one sequence";
  if (minters === undefined) return "unlimited: random bits distinguish them";
  return `${amount(minters.max)} at most, distinguished by ${minters.fields.join(" and ")}`;
};

const formatCollisions = ({ load, capacity: { collisions, minters, sameNode } }: Answer): string => {
  if (collisions !== undefined) {
    const { probability, values, groups, expectedPairs } = collisions;
    const pairs = `about ${amount(round(expectedPairs))} pairs`;
    const any = expectedPairs < 1 ? `a probability of ${odds(probability)} of any` : pairs;
    return `${any}, by ${amount(values)} random values${groups === 1 ? "" : ` in each of ${amount(round(groups))} ticks`}`;
  }
  if (minters === undefined) return "none while no number is used twice";
  const apart = `none while no two minters have the same ${minters.fields.join(" and ")}`;
  if (sameNode === undefined || load.minters === 1) return apart;
  return `${apart}; with random fields, two do with a probability of ${odds(sameNode)}`;
};

const formatVerdict = ({ load, lasts, capacity }: Answer): string => {
  const { rate, minters, collisions } = capacity;
  if (minters !== undefined && load.minters > minters.max) return "too many minters";
  if (rate !== undefined && load.idsPerSecond > rate.allIdsPerSecond) return "too many IDs a second";
  if (collisions?.areExpected) return "equal IDs are expected";
  if (collisions?.areTooLikely) return `equal IDs are too likely: ${odds(COLLISION_ODDS_MAX)} or more`;
  if (!lasts) return "does not last that long";
  return mayShareNode(capacity) ? `sufficient only if ${minters?.fields.join(" and ")} are assigned` : "sufficient";
};

/** Whether random node fields fail to keep the minters apart. */
const mayShareNode = ({ sameNode = 0, equalByNode = 0 }: Capacity): boolean =>
  sameNode >= PER_CENT_MIN || equalByNode >= COLLISION_ODDS_MAX;

/** Whole numbers with separators up to 16 digits, then in scientific notation. */
const amount = (value: number): string =>
  value < 1e16
    ? value.toLocaleString("en-US", { maximumFractionDigits: 3 })
    : value.toExponential(2).replace("e+", "e");

/** The lowest probability that is shown in per cent. */
const PER_CENT_MIN = 0.01;

const odds = (probability: number): string => {
  if (probability === 0) return "0";
  if (probability >= PER_CENT_MIN) return `${(probability * 100).toPrecision(3)} %`;
  return `1 in ${amount(round(1 / probability))}`;
};

const round = (value: number): number => Number(value.toPrecision(3));

export const idCapacity = command({
  name: "capacity",
  description: "check whether a layout supports a load: lifetime, IDs per second, collision odds",
  args: [["<layout>", "a layout that can be minted"]],
  options: [
    required("--rate <number>", "average IDs per second of all minters together", positiveNumber),
    withDefault("--minters <number>", "number of concurrent minters", 1, countingNumber),
    withDefault("--years <number>", "for how long", 10, positiveNumber),
    option("--table <file>", "a routing table with custom layouts"),
    option("--json", "one JSON object"),
  ],
  help: `
Examples:
  $ waybill id capacity snowflake --rate 50000 --minters 16
  $ waybill id capacity uuid-v7 --rate 1e6 --years 30 --json

docs/reference/cli.md has the formulas. Exit code: 0 if the layout supports the load, otherwise 1.`,
  run: async (runtime, [name], options) => {
    const layout = await openLayout(name, options.table, runtime);
    const { rate: idsPerSecond, minters, years } = options;
    const load = { idsPerSecond, minters, years };
    const capacity = capacityOf(layout, load);
    if (!capacity.ok) {
      if (capacity.error.reason === "load") throw new Error(`--${capacity.error.name} was let through`);
      return misuse(`error: ${whyNotMinted(layout)}\n`);
    }
    const answer = answerOf(load, capacity.value, runtime.nowMs());
    await runtime.print(options.json ? jsonText(plainOf(answer)) : formatCapacity(answer));
    return isEnoughFor(answer) ? EXIT.ok : EXIT.failed;
  },
});

const YEAR_MS = 31_557_600_000;

/** `lasts`: time and sequence last as long as the load. `end`: when they run out; `undefined`: never, or after the year 9999. */
const answerOf = (load: Load, capacity: Capacity, nowMs: number) => {
  const { time, supply } = capacity;
  const suppliedMs = supply === undefined ? Number.POSITIVE_INFINITY : nowMs + supply.seconds * 1000;
  const endMs = Math.min(time?.endMs ?? Number.POSITIVE_INFINITY, suppliedMs);
  // The gateway counts and logs these steps.
  const announced = supply && [90, 99].map((percent) => ({ percent, at: isoTime(stepMs(nowMs, supply, percent)) }));
  return { load, capacity, lasts: endMs >= nowMs + load.years * YEAR_MS, end: isoTime(endMs), announced };
};

const stepMs = (nowMs: number, { seconds }: NonNullable<Capacity["supply"]>, percent: number): number =>
  Math.floor(nowMs + seconds * percent * 10);

const isEnoughFor = ({ lasts, capacity }: Answer): boolean => lasts && capacity.isEnough && !mayShareNode(capacity);

const plainOf = (answer: Answer): object => {
  const { load, capacity, lasts, end, announced } = answer;
  const { layout, ...rest } = capacity;
  return { layout, load, suffices: isEnoughFor(answer), lasts, end, announced, ...rest };
};
