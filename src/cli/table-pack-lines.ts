import { FAULTS_MAX } from "../routing/limits.ts";
import { linesOf } from "./lines.ts";

/** A range as a line says it. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
  readonly region: string;
  /** From 1. */
  readonly line: number;
}

export interface LineFault {
  readonly line: number;
  /** A sentence. */
  readonly message: string;
}

export interface ReadLines {
  /** Sorted, without those at fault. */
  readonly ranges: readonly LineRange[];
  /** By their lines. */
  readonly faults: readonly LineFault[];
}

/** Reads `from,to,region` and `key,region`, or the same as JSON objects, one a line, in any order. `max`: the greatest key. */
export const readRanges = async (chunks: AsyncIterable<Uint8Array>, max: number): Promise<ReadLines> => {
  const ranges: LineRange[] = [];
  const faults: LineFault[] = [];
  let line = 0;
  for await (const text of linesOf(chunks)) {
    line += 1;
    if (!text.ok) faults.push({ line: text.error, message: "The line is too long for a range." });
    else if (text.value.trim() !== "") {
      const range = rangeOf(text.value.trim(), line, max);
      if (typeof range === "string") faults.push({ line, message: range });
      else ranges.push(range);
    }
    if (faults.length >= FAULTS_MAX) break;
  }
  ranges.sort((a, b) => a.from - b.from || a.line - b.line);
  faults.push(...overlapsIn(ranges).slice(0, FAULTS_MAX - faults.length));
  return { ranges, faults: faults.toSorted((a, b) => a.line - b.line) };
};

/** The range, or what is wrong with the line. */
const rangeOf = (text: string, line: number, max: number): LineRange | string => {
  const parts = text.startsWith("{") ? partsOfJson(text) : text.split(",").map((part) => part.trim());
  if (parts === undefined) return 'It is no JSON object with "from", "to" and "region", or with "key" and "region".';
  if (parts.length !== 2 && parts.length !== 3) return "A line is from,to,region or key,region.";
  const [from = "", to = "", region = ""] = parts.length === 2 ? [parts[0], parts[0], parts[1]] : parts;
  const [first, last] = [keyOf(from, max), keyOf(to, max)];
  if (first === undefined || last === undefined) {
    return `${JSON.stringify(first === undefined ? from : to)} is no key: a whole number from 0 to ${max}.`;
  }
  if (last < first) return `The range ends at ${last}, before it begins at ${first}.`;
  return region === "" ? "The region is missing." : { from: first, to: last, region, line };
};

const keyOf = (text: string, max: number): number | undefined => {
  const key = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return key <= max ? key : undefined;
};

const partsOfJson = (text: string): readonly string[] | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { from, to, key, region, ...others } = value as Readonly<Record<string, unknown>>;
  if (Object.keys(others).length > 0 || typeof region !== "string") return undefined;
  const keys = key === undefined ? [from, to] : from === undefined && to === undefined ? [key] : [];
  if (keys.length === 0 || !keys.every((each) => typeof each === "number" || typeof each === "string"))
    return undefined;
  return [...keys.map(String), region];
};

/** A key that two lines have; both are named. */
const overlapsIn = (ranges: readonly LineRange[]): readonly LineFault[] => {
  const faults: LineFault[] = [];
  let widest: LineRange | undefined;
  for (const range of ranges) {
    if (widest !== undefined && range.from <= widest.to) {
      const [first, second] = [widest, range].toSorted((a, b) => a.line - b.line) as [LineRange, LineRange];
      const message = `Key ${range.from} stands in line ${first.line} too, for ${first.region}; one line alone may have it.`;
      faults.push({ line: second.line, message });
    }
    if (widest === undefined || range.to > widest.to) widest = range;
  }
  return faults;
};
