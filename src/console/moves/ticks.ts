import type { EntityLocation } from "../../routing/moves/steps.ts";

/** Boxes that are ticked at a step, by the ID and its epoch: each step begins with none. */
export type MoveTicks = Readonly<Record<string, readonly number[]>>;

const nameOf = (key: string, at: EntityLocation): string => `${key} ${"epoch" in at ? at.epoch : ""} ${at.state}`;

export const tickedAt = (ticks: MoveTicks, key: string, at: EntityLocation): ReadonlySet<number> =>
  new Set(Object.hasOwn(ticks, nameOf(key, at)) ? ticks[nameOf(key, at)] : []);

export const withTicks = (
  ticks: MoveTicks,
  key: string,
  at: EntityLocation,
  ticked: ReadonlySet<number>,
): MoveTicks => ({ ...ticks, [nameOf(key, at)]: [...ticked] });
