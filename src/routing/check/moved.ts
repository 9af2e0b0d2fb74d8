import { type Layout, luuid, type TextForm, type Words } from "../../ids/index.ts";
import type { Draft } from "../draft.ts";
import type { Report } from "../faults.ts";
import { markFieldOf } from "../layout-fields.ts";
import type { LayoutPlan } from "../layout-plans.ts";
import { allFormsOf, canBeLater, formReader, shortKeyOf } from "../moved.ts";

/** A moved ID must be one that some entity can have, written in its canonical text. */
export const checkMoved = (
  draft: Draft,
  plans: ReadonlyMap<string, LayoutPlan>,
  allEntitiesAreRead: boolean,
  report: Report,
): void => {
  const shortKeys = new Map<string, string>();
  const moves: Moves = new Map();
  for (const [text, region] of draft.moved) {
    const place = ["moved", text];
    const read = formReader(text);
    const taker = [...plans.values()].find((plan) => takes(plan, read(plan.layout)));
    if (taker === undefined) {
      const message = `No entity has an ID ${JSON.stringify(text)}; correct it or remove it.`;
      // An entity that could not be read may be the one that has it.
      if (allEntitiesAreRead) report("moved-id", place, message);
      continue;
    }
    const canonical = canonicalOf(taker.layout, text);
    if (canonical !== text) {
      const message = `${JSON.stringify(text)} is not in canonical form; write ${JSON.stringify(canonical)}.`;
      report("moved-id", place, message);
      continue;
    }
    const rival = addMove(moves, { text, region }, plans);
    if (rival !== undefined) {
      const message = `It is another form of ${JSON.stringify(rival.text)}, which moved to ${JSON.stringify(rival.region)}; correct or remove one of them.`;
      report("moved-id", place, message);
    }
    const key = plans.has(luuid.name) ? shortKeyIn(text) : undefined;
    if (key === undefined) continue;
    const other = shortKeys.get(key);
    shortKeys.set(key, other ?? region);
    if (other === undefined || other === region) continue;
    report(
      "moved-id",
      place,
      `Another ID with this group and primary key moved to ${JSON.stringify(other)}, and both have one short key; correct one of them.`,
    );
  }
};

interface Move {
  readonly text: string;
  readonly region: string;
}

/** By form of text, then by the words in it. */
type Moves = Map<TextForm, Map<string, Move>>;

/** Notes where an ID moved, in all its forms. Returns a move of the same ID to another region, if there is one. */
const addMove = (moves: Moves, move: Move, plans: ReadonlyMap<string, LayoutPlan>): Move | undefined => {
  let rival: Move | undefined;
  for (const { form, words } of allFormsOf(move.text, plans)) {
    const known = moves.get(form) ?? new Map<string, Move>();
    moves.set(form, known);
    const other = known.get(words.join());
    if (other === undefined) known.set(words.join(), move);
    else if (other.region !== move.region) rival ??= other;
  }
  return rival;
};

const canonicalOf = (layout: Layout, text: string): string => {
  const words = layout.parse(text);
  return words.ok ? layout.format(words.value) : text;
};

/** Whether some entity can have an ID of a layout, by its words in the layout's form of text. */
const takes = (plan: LayoutPlan, words: Words | undefined): boolean => {
  if (words === undefined || !canBeLater(plan, words)) return false;
  return plan.idsByMark.has(undefined) || plan.idsByMark.has(markFieldOf(plan.layout)?.read(words));
};

const shortKeyIn = (text: string): string | undefined => {
  const words = luuid.parse(text);
  const key = words.ok ? shortKeyOf(luuid, words.value) : undefined;
  return key === undefined ? undefined : `${key.group}/${key.primaryKey}`;
};
