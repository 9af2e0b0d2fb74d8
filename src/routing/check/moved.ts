import { builtinLayouts, type Layout } from "../../ids/index.ts";
import type { Draft } from "../draft.ts";
import type { Report } from "../faults.ts";
import { groupOfId } from "../groups.ts";
import { shortKeyOf } from "../moved.ts";

/** A moved ID must be one that some entity can have, written in its canonical text. */
export const checkMoved = (draft: Draft, report: Report): void => {
  const takers = takersOf(draft);
  const shortKeys = new Map<string, string>();
  for (const [text, region] of draft.moved) {
    const place = ["moved", text];
    const fault = faultOfText(text, takers);
    if (fault !== undefined) {
      report("moved-id", place, fault);
      continue;
    }
    const key = shortKeyIn(text);
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

interface Taker {
  readonly layout: Layout;
  readonly service: number | undefined;
  readonly group: number | undefined;
}

const takersOf = (draft: Draft): readonly Taker[] =>
  [...draft.entities.values()].flatMap(({ ids }) =>
    ids.flatMap((id) => {
      const layout = builtinLayouts.get(id.layout);
      return layout === undefined ? [] : [{ layout, service: id.service, group: groupOfId(id) }];
    }),
  );

const faultOfText = (text: string, takers: readonly Taker[]): string | undefined => {
  const taker = takers.find((each) => takes(each, text));
  if (taker === undefined) return `No entity's layout can read ${JSON.stringify(text)}; correct it or remove it.`;
  const words = taker.layout.parse(text);
  const canonical = words.ok ? taker.layout.format(words.value) : text;
  return canonical === text
    ? undefined
    : `${JSON.stringify(text)} is not in canonical form; write ${JSON.stringify(canonical)}.`;
};

const takes = ({ layout, service, group }: Taker, text: string): boolean => {
  const words = layout.parse(text);
  if (!words.ok) return false;
  const mark = service ?? group;
  const field = layout.field("service") ?? layout.field("group");
  return mark === undefined || field === undefined || field.read(words.value) === mark;
};

const shortKeyIn = (text: string): string | undefined => {
  const layout = builtinLayouts.get("luuid");
  const words = layout?.parse(text);
  if (layout === undefined || words === undefined || !words.ok) return undefined;
  const key = shortKeyOf(layout, words.value);
  return key === undefined ? undefined : `${key.group}/${key.primaryKey}`;
};
