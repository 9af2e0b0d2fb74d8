import type { Layout } from "../../ids/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { ownOf } from "../app/own.ts";
import { numbersOf } from "../layouts/load-words.ts";
import { type FieldUse, usesOf } from "../layouts/try-layout.ts";

/** How near the table is to its limits. Pure. */

export type Uses = Readonly<Record<string, { readonly used: number; readonly max: number }>>;

export interface Limit {
  readonly key: string;
  readonly name: string;
  readonly about: string;
  readonly used: number;
  readonly max: number;
}

/** Limits of the gateway in words; one that this page does not know has its own name. */
const NAMES: Readonly<Record<string, readonly [name: string, about: string]>> = {
  bytes: ["Text", "bytes of the table"],
  routes: ["Routes", ""],
  regions: ["Regions", ""],
  entities: ["Entities", ""],
  paths: ["Paths", "of all entities"],
  layouts: ["Layouts", "in use or declared"],
  withoutId: ["Requests without an ID", "entries of withoutId"],
  overrides: ["Single entities", "moving, moved, gone"],
  values: ["Values", "all but routes and single entities"],
  complexity: ["Complexity", "work to load the table"],
  packs: ["Packs", ""],
  packRanges: ["Ranges of a pack", "of the largest one"],
  packBytes: ["Packs, bytes", "all packs together"],
};

const fieldLimit = (layout: string, { field, used, max }: FieldUse): Limit => ({
  key: `${layout} ${field}`,
  name: numbersOf(field),
  about: `of ${layout}`,
  used,
  max,
});

/** Shard keys with a route are used up by intent: a table that routes all of them is whole, not full. */
const isNumbering = ({ field }: FieldUse): boolean => field !== "shardKey";

export const shareOf = ({ used, max }: Pick<Limit, "used" | "max">): number => (max === 0 ? 1 : used / max);

/** The nearest first. */
export function limitsOf(uses: Uses, table: DeclaredTable | undefined, layouts: readonly Layout[]): readonly Limit[] {
  const own = Object.entries(uses).map(([key, use]): Limit => {
    const [name, about] = ownOf(NAMES, key) ?? [key, ""];
    return { key, name, about, used: use.used, max: use.max };
  });
  const fields =
    table === undefined
      ? []
      : layouts.flatMap((layout) =>
          usesOf(layout, table)
            .filter(isNumbering)
            .map((use) => fieldLimit(layout.name, use)),
        );
  return [...own, ...fields].toSorted((a, b) => shareOf(b) - shareOf(a));
}

export const WARN_FROM = 0.6;
export const BAD_FROM = 0.9;

export const moodOf = (share: number): "bad" | "warn" | undefined =>
  share >= BAD_FROM ? "bad" : share >= WARN_FROM ? "warn" : undefined;

/** Below it a limit is far away. */
export const FAR_BELOW = 0.001;
