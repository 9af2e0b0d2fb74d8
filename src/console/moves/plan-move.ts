import type { Result } from "../../ids/index.ts";
import { type EntityLocation, entryOf, OVERRIDE_PARTS, type Step, takeStep } from "../../routing/moves/steps.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { ownOf } from "../app/own.ts";

/** One step of the move of an entity, as a change of the table's text. */

export interface Located {
  /** The text of the ID that the table has, or the canonical one. */
  readonly key: string;
  readonly at: EntityLocation;
}

type Overrides = Pick<DeclaredTable, "moved" | "moves" | "gone">;

/** Where the table places an ID. `texts`: all texts of it; `routed`: the region of the routes. */
export function locate(
  { moved = {}, moves = {}, gone = {} }: Overrides,
  texts: readonly string[],
  routed: string | undefined,
): Located {
  const [canonical = ""] = texts;
  for (const key of texts) {
    const move = ownOf(moves, key);
    const entry = ownOf(moved, key);
    const removed = ownOf(gone, key);
    if (move !== undefined) return { key, at: move };
    if (typeof entry === "string") return { key, at: { state: "moved", region: entry, epoch: undefined } };
    if (entry !== undefined) return { key, at: { state: "moved", ...entry } };
    if (removed !== undefined) return { key, at: { state: "gone", ...removed } };
  }
  return { key: canonical, at: { state: "routed", region: routed } };
}

/** The table's text after a step. A fault is a sentence. */
export function textAfter(text: string, { key, at }: Located, step: Step): Result<string, string> {
  const next = takeStep(step, at);
  if (!next.ok) return next;
  const table: Record<string, unknown> = JSON.parse(text);
  for (const part of OVERRIDE_PARTS) {
    const entries = table[part] as Record<string, unknown> | undefined;
    if (entries === undefined) continue;
    delete entries[key];
    if (Object.keys(entries).length === 0) delete table[part];
  }
  const entry = entryOf(next.value);
  if (entry !== undefined) {
    table[entry.part] = { ...(table[entry.part] as object | undefined), [key]: entry.value };
  } else if (at.state === "moved" && at.epoch !== undefined) {
    // Later moves of this entity start above it.
    table["epochFloor"] = Math.max(at.epoch, Number(table["epochFloor"] ?? 0));
  }
  return { ok: true, value: `${JSON.stringify(table, null, 2)}\n` };
}
