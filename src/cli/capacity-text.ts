import { type Capacity, isoTime, type Load } from "../ids/index.ts";
import { alignColumns } from "./columns.ts";
import { countOf } from "./table-file.ts";

/** What was asked and what came out, with the times that people read. */
export interface Answer {
  readonly load: Load;
  readonly capacity: Capacity;
  /** Whether the time, or the numbers of a sequence, last as long as the load does. */
  readonly lasts: boolean;
  /** When they run out; `undefined` where they never do, or beyond the year 9999. */
  readonly end: string | undefined;
}

/** What a layout bears, for people. */
export const formatCapacity = (answer: Answer): string => {
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
  return `${[head, "", ...alignColumns(lines).map((line) => `  ${line}`)].join("\n")}\n`;
};

const formatLifetime = ({ capacity: { time, supply }, end }: Answer): string => {
  if (supply !== undefined) {
    return `${amount(supply.ids)} numbers of ${supply.field}, until ${end ?? "after the year 9999"} at this rate`;
  }
  if (time === undefined) return "for ever: no time is in it";
  return `until ${end ?? "after the year 9999"}, ${time.field} from ${isoTime(time.firstMs) ?? time.firstMs} on`;
};

const rateLines = ({ load, capacity: { rate } }: Answer): readonly (readonly string[])[] => {
  if (rate === undefined) return [["one minter", "as many as it likes: nothing is counted"]];
  const by = rate.field === undefined ? "one" : `${amount(rate.idsPerTick)} by ${rate.field}`;
  const ticks = rate.ticksPerSecond === 1 ? "each second" : `a tick, ${amount(rate.ticksPerSecond)} ticks a second`;
  const one = ["one minter", `${amount(rate.minterIdsPerSecond)} IDs a second: ${by} ${ticks}`];
  return load.minters === 1 ? [one] : [one, ["all", `${amount(rate.allIdsPerSecond)} IDs a second`]];
};

const formatMinters = ({ capacity: { minters, supply } }: Answer): string => {
  if (supply !== undefined) return "as many as share one sequence";
  if (minters === undefined) return "as many as there are: chance tells them apart";
  return `${amount(minters.max)} at most, told apart by ${minters.fields.join(" and ")}`;
};

const formatCollisions = ({ load, capacity: { collisions, minters, sameNode } }: Answer): string => {
  if (collisions !== undefined) {
    const { probability, values, groups, expectedPairs } = collisions;
    const any =
      expectedPairs < 1
        ? `a chance of ${odds(probability)} that there are any`
        : `about ${amount(round(expectedPairs))} pairs`;
    return `${any}, by ${amount(values)} random values${groups === 1 ? "" : ` in each of ${amount(round(groups))} ticks`}`;
  }
  const apart =
    minters === undefined ? "no number is used twice" : `no two minters have the same ${minters.fields.join(" and ")}`;
  const random =
    sameNode === undefined || load.minters === 1 ? "" : `; drawn at random, two do with a chance of ${odds(sameNode)}`;
  return `none while ${apart}${random}`;
};

const formatVerdict = ({ load, lasts, capacity }: Answer): string => {
  const { isEnough, rate, minters, collisions } = capacity;
  if (minters !== undefined && load.minters > minters.max) return "too many minters";
  if (!isEnough && rate !== undefined) return "too many IDs a second";
  if (collisions?.areExpected) return "equal IDs are to be expected";
  return lasts ? "bears it" : "does not last so long";
};

/** Whole numbers with separators up to 16 digits, beyond in powers of ten. */
const amount = (value: number): string =>
  value < 1e16
    ? value.toLocaleString("en-US", { maximumFractionDigits: 3 })
    : value.toExponential(2).replace("e+", "e");

/** Least probability that is shown in per cent. */
const PER_CENT_MIN = 0.01;

const odds = (probability: number): string => {
  if (probability === 0) return "0";
  if (probability >= PER_CENT_MIN) return `${(probability * 100).toPrecision(3)} %`;
  return `1 in ${amount(round(1 / probability))}`;
};

/** To three digits. */
const round = (value: number): number => Number(value.toPrecision(3));
