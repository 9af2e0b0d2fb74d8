import { err, ok } from "../../ids/index.ts";
import { loadTable } from "../../routing/index.ts";
import { unknownIdError } from "../../routing/resolve/describe.ts";
import { allOwners, dropUnlikelyDigits, targetOf } from "../../routing/resolve/match.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import type { CompiledTable, TargetOrNone } from "../../routing/table.ts";
import { detailOf } from "../lib/errors.ts";
import { editEntries, setNumber } from "../lib/table-edit.ts";
import { type EntityLocation, entryOf, OVERRIDE_PARTS, type OverridePart } from "./move-steps.ts";

/**
 * Locates entities in a valid table, and reads their IDs as strictly as `/any/:id`. `id`: in its canonical text. `routed`: the
 * permanent region by the routes alone; `undefined`: none, or a canary may change it. An error is a sentence.
 */
export const locator = (declared: DeclaredTable, nowMs: number) => {
  const whole = compiled(declared);
  const routes = compiled({ ...declared, moved: {}, moves: {}, gone: {} });
  const ownersIn = (table: CompiledTable, text: string) => dropUnlikelyDigits(allOwners(table, text, nowMs), text);
  return (text: string) => {
    const readings = ownersIn(routes, text);
    if (readings.length === 0) return err(detailOf(unknownIdError(routes, text, nowMs)));
    const [id = "", ...otherIds] = new Set(readings.map((reading) => reading.id.enabled.layout.format(reading.words)));
    const targets = readings.map((reading) => targetOf(routes, reading.id, reading.words));
    const unknown = targets.find((target) => target?.rule.kind === "unloaded");
    if (unknown !== undefined && overridden(declared, id) === undefined) {
      return err("its region is in a pack, which this command does not read; use `waybill explain`");
    }
    const [region, ...otherRegions] = new Set(targets.map((target) => target?.region?.name));
    const at = overridden(declared, id);
    if (otherIds.length > 0 || (at === undefined && otherRegions.length > 0)) {
      const layouts = [...new Set(readings.map((reading) => reading.id.enabled.layout.name))];
      return err(`it can be read in several ways (${layouts.join(", ")}) that do not route to the same place`);
    }
    const [other] = at === undefined ? ownersIn(whole, text) : [];
    const override = other && targetOf(whole, other.id, other.words);
    if (override !== undefined && ["moved", "moving", "gone"].includes(override.rule.kind)) {
      return err("it is in the table in another form, or as another ID with its short key; use that one");
    }
    const isSettled = otherRegions.length === 0 && targets.every(isForGood);
    const place: EntityLocation = at ?? { state: "routed", region };
    return ok({ id, at: place, routed: isSettled ? region : undefined });
  };
};

/** A canary may still change the region. */
const isForGood = (target: TargetOrNone): boolean =>
  target?.region !== undefined && target.rule.kind !== "canary" && target.canary === undefined;

const compiled = (declared: DeclaredTable): CompiledTable => {
  const table = loadTable(declared, 0);
  if (!table.ok) throw new Error("the table was not checked");
  return table.value;
};

const overridden = ({ moved = {}, moves = {}, gone = {} }: DeclaredTable, id: string): EntityLocation | undefined => {
  const own = <Entry>(part: Readonly<Record<string, Entry>>) => (Object.hasOwn(part, id) ? part[id] : undefined);
  const move = own(moves);
  if (move !== undefined) return move;
  const settled = own(moved);
  if (typeof settled === "string") return { state: "moved", region: settled, epoch: undefined };
  if (settled !== undefined) return { state: "moved", ...settled };
  const tombstone = own(gone);
  return tombstone === undefined ? undefined : { state: "gone", ...tombstone };
};

/** The table's text with new locations of entities, by canonical ID, and a new `epochFloor` unless that is 0. */
export const rewriteTable = (text: string, changes: ReadonlyMap<string, EntityLocation>, epochFloor: number) => {
  const edits = new Map<OverridePart, Map<string, unknown>>(OVERRIDE_PARTS.map((part) => [part, new Map()]));
  for (const [id, after] of changes) {
    const entry = entryOf(after);
    for (const [part, values] of edits) values.set(id, entry?.part === part ? entry.value : undefined);
  }
  const edited = [...edits].reduce((before, [part, values]) => editEntries(before, part, values), text);
  return epochFloor === 0 ? edited : setNumber(edited, "epochFloor", epochFloor);
};
