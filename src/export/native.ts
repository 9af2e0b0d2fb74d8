import { NO_ROUTE, type Segments } from "../routing/lookup/id-index.ts";
import type { ExportPlan, IdDecision, PatternPlan } from "./plan.ts";
import { isHexText, type TextShape } from "./text-shape.ts";

/**
 * A path whose region is in a few hex digits of its ID: an engine's own expression and map can decide it. An
 * uncertain case is left to the Lua program.
 */
export interface NativePath {
  /** The whole path as an expression. */
  readonly expression: string;
  readonly id: Slot;
  readonly digits: Slot;
  /** The place of the region by the text of the digits. */
  readonly regions: ReadonlyMap<string, number>;
  readonly decision: IdDecision;
  readonly time: NativeTime | undefined;
}

/** A part of the path. */
interface Slot {
  readonly from: number;
  readonly length: number;
}

/** The first eight digits must be at least `least`, and below `(Unix milliseconds + addMs) * ticks / unit` rounded down. */
export interface NativeTime {
  readonly least: number;
  readonly addMs: number;
  readonly ticks: number;
  readonly unit: number;
}

/** Requests of later paths pass the expressions of those before. */
const PATHS_MAX = 8;
const DIGITS_MAX = 3;

export const nativePaths = (plan: ExportPlan): readonly NativePath[] =>
  plan.patterns.flatMap((pattern) => nativePath(plan, pattern) ?? []).slice(0, PATHS_MAX);

const nativePath = (plan: ExportPlan, pattern: PatternPlan): NativePath | undefined => {
  const start = startOf(plan, pattern);
  const { shape, decision } = plainReading(plan, pattern) ?? {};
  if (start === undefined || shape === undefined || decision === undefined) return;
  const time = timeOf(decision);
  const digits = digitsOf(decision);
  if (time === "unknown" || digits === undefined) return;
  const places = Array.from({ length: shape.length }, (_, at) => at).filter((at) => !shape.separators.has(at));
  const from = places[digits.from] as number;
  if ((places[digits.from + digits.length - 1] as number) - from !== digits.length - 1) return;
  const id = Array.from(
    { length: shape.length },
    (_, at) => shape.separators.get(at) ?? classOf(decision, places.indexOf(at)),
  );
  const short = id.join("").replaceAll(/(?:\[0-9a-f\]){2,}/g, (run) => `[0-9a-f]{${run.length / "[0-9a-f]".length}}`);
  return {
    expression: `${start.replaceAll(".", "[.]")}${short}`,
    id: { from: start.length, length: shape.length },
    digits: { from: start.length + from, length: digits.length },
    regions: regionsOf(plan, decision, digits),
    decision,
    time,
  };
};

/** The constant beginning of a path that ends with its ID; `undefined` if another pattern may take it. */
const startOf = ({ patterns }: ExportPlan, pattern: PatternPlan): string | undefined => {
  const { segments } = pattern;
  const literals = segments.slice(0, -1);
  const isPlain = literals.length > 0 && literals.every((text) => /^[A-Za-z0-9_~-][A-Za-z0-9_.~-]*$/.test(text));
  if (!isPlain || segments.at(-1) !== ":id" || ["-", "any", "mint"].includes(literals[0] as string)) return undefined;
  const isAlone = !patterns.some((one) => one !== pattern && mayTake(one.segments, segments));
  return isAlone ? `/${literals.join("/")}/` : undefined;
};

/** How the ID is read, if it is in one way: lower-case hex digits, of which origins are told nothing. */
const plainReading = ({ shapes }: ExportPlan, { reading = [] }: PatternPlan) => {
  const [reader, otherReader] = reading;
  const [decision, other] = reader?.ids ?? [];
  if (reader === undefined || decision === undefined || otherReader !== undefined || other !== undefined) return;
  const shape = shapes[reader.shape] as TextShape;
  const isPlain = isHexText(shape) && shape.prefix === "" && shape.canonical === "lower" && decision.isCanonical;
  return isPlain && decision.sent.length + decision.bounds.length === 0 ? { shape, decision } : undefined;
};

/** Whether another pattern may take paths of this one, of which it may be the beginning. */
const mayTake = (other: readonly string[], own: readonly string[]): boolean =>
  other.every(
    (text, at) =>
      at < own.length && ([":id", "*", own[at]].includes(text) || (own[at] === ":id" && /^[0-9a-f-]+$/.test(text))),
  );

/** All values that the fixed bits leave to a digit. */
const classOf = ({ fixed }: IdDecision, digit: number): string => {
  const nibble = (words: readonly number[]) => ((words[digit >> 3] as number) >>> (28 - 4 * (digit % 8))) & 15;
  const found = [..."0123456789abcdef"].filter(
    (character) => (Number.parseInt(character, 16) & nibble(fixed.mask)) === nibble(fixed.value),
  );
  return found.length === 16 ? "[0-9a-f]" : found.length === 1 ? found.join("") : `[${found.join("")}]`;
};

/** The digits that hold the fields by which routes differ. The first one stands for none. */
const digitsOf = ({ indexes, dimensions }: IdDecision): Slot | undefined => {
  const used = indexes.flatMap(({ slots }) => slots.map((slot) => dimensions[slot]));
  const pieces = used.flatMap((dimension) => (dimension?.kind === "number" ? dimension.pieces : []));
  const touched = pieces.flatMap(({ word, shift, bits }) =>
    [shift + bits - 1, shift].map((bit) => word * 8 + 7 - Math.floor(bit / 4)),
  );
  const from = touched.length === 0 ? 0 : Math.min(...touched);
  const length = Math.max(from, ...touched) - from + 1;
  return length > DIGITS_MAX ? undefined : { from, length };
};

const regionsOf = (plan: ExportPlan, decision: IdDecision, { from, length }: Slot): ReadonlyMap<string, number> => {
  const { indexes, dimensions, packsFrom, fallback, regionOf, ordinalAt } = decision;
  const times = [0, ...indexes.flatMap(({ root, slots }) => startsOf(root, slots, dimensions))];
  const regionAt = (ordinal: number): number => {
    if (packsFrom < NO_ROUTE && ordinal >= packsFrom) return 0;
    return ordinal === NO_ROUTE ? fallback : regionOf(ordinal);
  };
  const regions = new Map<string, number>();
  for (let value = 0; value < 16 ** length; value++) {
    const text = value.toString(16).padStart(length, "0");
    const digits = "0".repeat(from) + text.padEnd(40 - from, "0");
    const words = [0, 8, 16, 24, 32].map((at) => Number.parseInt(digits.slice(at, at + 8), 16));
    const [region = 0, ...others] = new Set(times.map((minted) => regionAt(ordinalAt(words, minted))));
    const origins = plan.regions[region - 1]?.origins.filter(({ weight }) => weight > 0) ?? [];
    // Several origins share IDs by a hash.
    if (others.length === 0 && origins.length === 1) regions.set(text, region);
  }
  return regions;
};

/** The times at which a route may begin or end. */
const startsOf = (
  segments: Segments | undefined,
  [slot = 0, ...inner]: readonly number[],
  dimensions: IdDecision["dimensions"],
): readonly number[] => {
  if (segments === undefined) return [];
  const own = dimensions[slot]?.kind === "minted" ? segments.leads.map(([start]) => start) : [];
  return [...own, ...segments.next.flatMap((next) => startsOf(next, inner, dimensions))];
};

/** Both bounds are on the safe side by less than one unit of the digits. */
const timeOf = ({ minted, window }: IdDecision): NativeTime | "unknown" | undefined => {
  if (window === undefined) return undefined;
  const top = minted?.pieces.find(({ word, shift, bits }) => word === 0 && shift === 0 && bits === 32);
  if (minted === undefined || minted.isSql || top === undefined) return "unknown";
  const { pieces, ms, ticks, epochMs } = minted;
  const addMs = window.aheadMs - epochMs;
  const unit = ms * 2 ** top.place;
  const isTop = pieces.every(({ place }) => place <= top.place);
  // HAProxy's numbers have 63 bits.
  if (!isTop || ticks > 1e5 || ![addMs, unit, ticks].every(Number.isSafeInteger)) return "unknown";
  return { least: Math.max(0, Math.floor(((window.fromMs - epochMs) * ticks) / unit) + 1), addMs, ticks, unit };
};
