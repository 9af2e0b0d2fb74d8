import { iuid } from "../../../ids/index.ts";
import type { KnownTable } from "../../app/session.ts";
import type { Reader } from "../../lookup/reader.ts";
import { WORLD_DOTS } from "./world-dots.generated.ts";

/** Dots of the map, and where new IDs of each country go. Pure. */

/** Dots stand in the middle of a square of four. */
export const STEP = 4;

interface Run {
  readonly code: string;
  /** An SVG path through the middles of its dots: its dashes paint them. */
  readonly path: string;
}

const SEA = "--";

/** Dots in a row that are one country's. */
export function runsOf({ columns, runs }: { readonly columns: number; readonly runs: string }): readonly Run[] {
  let at = 0;
  const found: Run[] = [];
  for (const [, code = "", count] of runs.matchAll(/([A-Z]{2}|--|__)(\d*)/g)) {
    let left = Number(count || 1);
    while (left > 0) {
      const column = at % columns;
      const length = Math.min(left, columns - column);
      if (code !== SEA) found.push({ code, path: pathOf(column, Math.floor(at / columns), length) });
      at += length;
      left -= length;
    }
  }
  return found;
}

/** A path of no length has no dot. */
const pathOf = (column: number, row: number, length: number): string =>
  `M${column * STEP + 2} ${row * STEP + 2}h${length === 1 ? 0.01 : (length - 1) * STEP}`;

export const WORLD_RUNS = runsOf(WORLD_DOTS);

/** Where a new ID of each country of the table would go, read as the gateway reads it. */
export function regionByCountry(reader: Reader, { declared }: KnownTable, nowMs: number): ReadonlyMap<string, string> {
  const entity = Object.values(declared.entities ?? {}).find(({ ids }) =>
    ids.some(({ layout }) => layout === iuid.name),
  );
  const service = entity?.ids.find(({ layout }) => layout === iuid.name)?.service ?? 0;
  const regions = new Map<string, string>();
  for (const [code, country] of Object.entries(declared.countries ?? {})) {
    const words = iuid.encode({ mintedAt: nowMs, country, service, random: 1n });
    const id = words.ok ? iuid.format(words.value) : "";
    const region = reader.read({ source: id, id, path: undefined }, nowMs).decision?.region;
    if (region !== undefined) regions.set(code, region);
  }
  return regions;
}
