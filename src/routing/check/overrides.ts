import type { Words } from "../../ids/index.ts";
import type { OverrideIndex } from "../compile/overrides.ts";
import { allFormsOf, canBeLater, findShort, indexOverrides, shortKeyIn, TextReader } from "../compile/overrides.ts";
import { ownerKeyField, readingsOf } from "../layouts/fields.ts";
import type { LayoutPlan, LayoutPlans } from "../layouts/plan.ts";
import { type Draft, type Override, overrideKey, overridesIn } from "../schema/draft.ts";
import type { Report } from "../schema/faults.ts";

/** The ID of an override must be one that some entity can have, in canonical text, and in one part only. Returns their index. */
export const checkMoved = (draft: Draft, plans: LayoutPlans, isWhole: boolean, report: Report): OverrideIndex => {
  let areAccepted = true;
  const index = indexOverrides(draft, plans, (reader) => {
    const isAccepted = canonicalOf(reader, plans) === reader.text;
    areAccepted &&= isAccepted;
    return isAccepted;
  });
  // Messages are made only where there is a fault: there may be 100,000 overrides.
  if (!areAccepted || !index.isDistinct) reportEach(draft, plans, index, isWhole, report);
  return index;
};

const reportEach = (draft: Draft, plans: LayoutPlans, index: OverrideIndex, isWhole: boolean, report: Report) => {
  const all = [...overridesIn(draft)];
  const reader = new TextReader();
  for (const [number, override] of all.entries()) {
    const { part, text } = override;
    reader.begin(text);
    const canonical = canonicalOf(reader, plans) ?? canonicalOfOther(text, plans);
    const fault = (message: string): void => report("moved-id", [part, text], message);
    if (canonical === text) for (const message of rivalSentences(reader, number, all, index, plans)) fault(message);
    else if (canonical !== undefined) {
      fault(`${JSON.stringify(text)} is not in canonical form; write ${JSON.stringify(canonical)}.`);
    } else if (isWhole) {
      // An entity with a fault in the schema may be the one that has it.
      fault(`No entity has an ID ${JSON.stringify(text)}; correct it or remove it.`);
    }
  }
};

/** The canonical text of an ID of the first layout whose entities can have it. */
const canonicalOf = (reader: TextReader, plans: LayoutPlans): string | undefined => {
  for (const plan of plans.values()) {
    const words = reader.read(plan.layout);
    if (words !== undefined && takes(plan, words)) return plan.layout.format(words);
  }
  return undefined;
};

/** The canonical text of an ID that is written in another text form of its layout. */
const canonicalOfOther = (text: string, plans: LayoutPlans): string | undefined => {
  for (const plan of plans.values()) {
    const reading = readingsOf(plan.layout, text).find(({ words }) => takes(plan, words));
    if (reading !== undefined) return plan.layout.format(reading.words);
  }
  return undefined;
};

const takes = (plan: LayoutPlan, words: Words): boolean =>
  canBeLater(plan, words) &&
  (plan.idsByMark.has(undefined) || plan.idsByMark.has(ownerKeyField(plan.layout)?.read(words)));

type All = readonly Override[];

/** Messages about other overrides of the same ID, in any of its forms, or of the same short key. */
function* rivalSentences(reader: TextReader, number: number, all: All, index: OverrideIndex, plans: LayoutPlans) {
  const { byForm, byShort } = index;
  const own = all[number] as Override;
  const content = overrideKey(own);
  const otherOf = (found: number | undefined): Override | undefined => {
    const other = all[found ?? number] as Override;
    return overrideKey(other) === content ? undefined : other;
  };
  const [rival] = allFormsOf(reader, plans).flatMap(({ form, words }) => otherOf(byForm.get(form)?.get(words)) ?? []);
  if (rival !== undefined) yield rivalSentence(own, rival);
  const key = shortKeyIn(reader, plans);
  const other = key && otherOf(findShort(byShort, ...key));
  if (other === undefined || other === rival) return;
  yield `Another ID with this group and primary key ${endOf(other)}, and both have one short key; correct one of them.`;
}

const rivalSentence = ({ text }: Override, rival: Override): string =>
  rival.text === text
    ? `It is also in ${JSON.stringify(rival.part)}; remove one of them.`
    : `It is another form of ${JSON.stringify(rival.text)}, which ${endOf(rival)}; correct or remove one of them.`;

const endOf = (override: Override): string => {
  if (override.part === "gone") return "is gone";
  if (override.part === "moves") return `is moving to ${JSON.stringify(override.entry.to)}`;
  const { entry } = override;
  return `moved to ${JSON.stringify(typeof entry === "string" ? entry : entry.region)}`;
};
