import type { DeclaredCanary } from "../schema/parts.ts";

/** Where the IDs of a route go: a share of them where its canary does. */
export interface RouteOutcome {
  /** `undefined` where no route and no default takes them. */
  readonly region: string | undefined;
  readonly canary?: DeclaredCanary;
  /** The regions of a split's parts, instead of a region and a canary. */
  readonly split?: readonly string[];
  /** The directory that says the region, instead of one. */
  readonly directory?: string;
  /** Packs that stand before the route, each with its digest: what they hold goes where they say. */
  readonly packs?: readonly string[];
  /** The route that decides, or the default: only where the routes themselves are compared. */
  readonly rule?: string;
}

/** Two outcomes are one if they route every ID alike, however the table writes them. */
export const routeOutcome = (region: string | undefined, canary: DeclaredCanary | undefined): RouteOutcome => {
  if (canary === undefined || canary.percent === 0) return { region };
  return canary.percent === 100 ? { region: canary.region } : { region, canary };
};

/** Percent of the IDs that change the region. Splits cut one line of places; a canary's hash does not depend on it. */
export const percentMoved = (before: RouteOutcome, after: RouteOutcome): number => {
  // The contents of packs and directories are unknown here: every ID may move.
  if (before.packs?.join() !== after.packs?.join() || before.directory !== after.directory) return 100;
  const isSplit = (before.split ?? after.split) !== undefined;
  const hasCanary = (before.canary ?? after.canary) !== undefined;
  const moved = !isSplit ? byCanary(before, after) : hasCanary ? byChance(before, after) : alongOneLine(before, after);
  return Number(moved.toPrecision(12));
};

const byCanary = (before: RouteOutcome, after: RouteOutcome): number => {
  const bounds = [0, before.canary?.percent ?? 0, after.canary?.percent ?? 0, 100].toSorted((a, b) => a - b);
  let moved = 0;
  for (const [at, low] of bounds.entries()) {
    const high = bounds[at + 1] ?? low;
    if (regionAt(before, low) !== regionAt(after, low)) moved += high - low;
  }
  return moved;
};

const regionAt = ({ region, canary }: RouteOutcome, percent: number): string | undefined =>
  canary !== undefined && percent < canary.percent ? canary.region : region;

const partsOf = ({ split, region }: RouteOutcome): readonly (string | undefined)[] => split ?? [region];

const alongOneLine = (before: RouteOutcome, after: RouteOutcome): number => {
  const left = partsOf(before);
  const right = partsOf(after);
  // Whole numbers, so that cuts at one place are one.
  const steps = left.length * right.length;
  let moved = 0;
  for (let step = 0; step < steps; step++) {
    if (left[Math.floor(step / right.length)] !== right[Math.floor(step / left.length)]) moved++;
  }
  return (moved / steps) * 100;
};

const byChance = (before: RouteOutcome, after: RouteOutcome): number => {
  const left = sharesOf(before);
  const right = sharesOf(after);
  let same = 0;
  for (const [region, share] of left) same += share * (right.get(region) ?? 0);
  return (1 - same) * 100;
};

const sharesOf = (outcome: RouteOutcome): ReadonlyMap<string | undefined, number> => {
  const parts = partsOf(outcome);
  const taken = (outcome.canary?.percent ?? 0) / 100;
  const shares = new Map<string | undefined, number>();
  const add = (name: string | undefined, share: number) => shares.set(name, (shares.get(name) ?? 0) + share);
  for (const part of parts) add(part, (1 - taken) / parts.length);
  if (outcome.canary !== undefined) add(outcome.canary.region, taken);
  return shares;
};
