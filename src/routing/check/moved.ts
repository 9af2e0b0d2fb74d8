import { type Layout, luuid, type TextForm, type Words } from "../../ids/index.ts";
import type { Draft } from "../draft.ts";
import type { Place, Report } from "../faults.ts";
import { markFieldOf } from "../layout-fields.ts";
import type { LayoutPlan } from "../layout-plans.ts";
import { allFormsOf, canBeLater, formReader, shortKeyOf } from "../moved.ts";

/** An ID that is singled out must be one that some entity can have, in its canonical text, and stand in one part alone. */
export const checkMoved = (
  draft: Draft,
  plans: ReadonlyMap<string, LayoutPlan>,
  allEntitiesAreRead: boolean,
  report: Report,
): void => {
  const shortKeys = new Map<string, Entry>();
  const known: Known = new Map();
  for (const entry of entriesOf(draft)) {
    const { text, place } = entry;
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
    const rival = addEntry(known, entry, plans);
    if (rival !== undefined) report("moved-id", place, rivalSentence(entry, rival));
    const key = plans.has(luuid.name) ? shortKeyIn(text) : undefined;
    if (key === undefined) continue;
    const other = shortKeys.get(key);
    shortKeys.set(key, other ?? entry);
    if (other === undefined || other.goal === entry.goal || other === rival) continue;
    report(
      "moved-id",
      place,
      `Another ID with this group and primary key ${other.says}, and both have one short key; correct one of them.`,
    );
  }
  checkMoves(draft, report);
};

/** A move leads elsewhere. */
const checkMoves = ({ moves }: Draft, report: Report): void => {
  for (const [text, { from, to }] of moves) {
    if (from !== to) continue;
    report("moved-id", ["moves", text, "to"], `It is in ${JSON.stringify(from)} already; name another region.`);
  }
};

/** What one of the parts says of an ID. */
interface Entry {
  readonly text: string;
  readonly place: Place;
  /** Equal for entries that say the same. */
  readonly goal: string;
  /** Ends a sentence about the ID. */
  readonly says: string;
}

function* entriesOf({ moved, moves, gone }: Draft): Generator<Entry> {
  for (const [text, entry] of moved) {
    const region = typeof entry === "string" ? entry : entry.region;
    yield entryOf("moved", text, entry, `moved to ${JSON.stringify(region)}`);
  }
  for (const [text, entry] of moves) yield entryOf("moves", text, entry, `is moving to ${JSON.stringify(entry.to)}`);
  for (const [text, entry] of gone) yield entryOf("gone", text, entry, "is gone");
}

const entryOf = (part: string, text: string, entry: unknown, says: string): Entry => ({
  text,
  place: [part, text],
  goal: `${part} ${JSON.stringify(entry)}`,
  says,
});

const rivalSentence = ({ text }: Entry, rival: Entry): string =>
  rival.text === text
    ? `It stands in ${JSON.stringify(rival.place[0])} too; remove one of them.`
    : `It is another form of ${JSON.stringify(rival.text)}, which ${rival.says}; correct or remove one of them.`;

/** By form of text, then by the words in it. */
type Known = Map<TextForm, Map<string, Entry>>;

/** Notes what is said of an ID, in all its forms. Returns an entry of the same ID that says something else, if there is one. */
const addEntry = (known: Known, entry: Entry, plans: ReadonlyMap<string, LayoutPlan>): Entry | undefined => {
  let rival: Entry | undefined;
  for (const { form, words } of allFormsOf(entry.text, plans)) {
    const ofForm = known.get(form) ?? new Map<string, Entry>();
    known.set(form, ofForm);
    const other = ofForm.get(words.join());
    if (other === undefined) ofForm.set(words.join(), entry);
    else if (other.goal !== entry.goal) rival ??= other;
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
