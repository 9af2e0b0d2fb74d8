import type { Layout, Result, TextForm } from "../../ids/index.ts";
import { architectText, err, everyLayout, ok, uuidText } from "../../ids/index.ts";
import type { CompiledTable } from "../../routing/index.ts";
import { misuse, type Runtime } from "../runtime.ts";
import { openTable } from "./open-table.ts";
import { escapeControls } from "./output.ts";

const DISTANCE_MAX = 3;
const SUGGESTIONS_MAX = 3;

/** `; did you mean ulid?`, or nothing if no name is similar. */
export const suggestion = (typed: string, names: readonly string[]): string => {
  const distances = names.map((name) => ({ name, distance: distanceOf(typed, name) }));
  const near = distances
    .filter(({ name, distance }) => distance <= Math.min(DISTANCE_MAX, name.length / 2) || isPart(typed, name))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, SUGGESTIONS_MAX)
    .map(({ name }) => name);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
};

const PART_LENGTH_MIN = 3;

const isPart = (typed: string, name: string): boolean => typed.length >= PART_LENGTH_MIN && name.includes(typed);

/** The edit distance (V. Levenshtein, 1966). */
const distanceOf = (a: string, b: string): number => {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [row, character] of [...a].entries()) {
    const line = [row + 1];
    for (let column = 1; column <= b.length; column++) {
      const changed = (above[column - 1] as number) + (character === b[column - 1] ? 0 : 1);
      line.push(Math.min(changed, (above[column] as number) + 1, (line[column - 1] as number) + 1));
    }
    above = line;
  }
  return above[b.length] as number;
};

/** Built-in layouts, and those that a routing table declares. */
export const knownLayouts = (table?: CompiledTable): readonly Layout[] => {
  const layouts = new Map(everyLayout.map((layout) => [layout.name, layout]));
  for (const { layout } of table?.layouts.values() ?? []) layouts.set(layout.name, layout);
  return [...layouts.values()];
};

/** The layout of a name, or a sentence with similar names. */
export const findLayout = (name: string, layouts: readonly Layout[]): Result<Layout, string> => {
  const layout = layouts.find((each) => each.name === name);
  if (layout !== undefined) return ok(layout);
  const known = layouts.map((each) => each.name);
  const near = suggestion(name, known) || ".";
  return err(`There is no layout "${escapeControls(name)}"${near} \`waybill layout --names\` lists all.`);
};

/** All layouts, with those that the table of an option declares. Without the option there is no table, not even the default file. */
export const openLayouts = async (tablePath: string | undefined, runtime: Runtime): Promise<readonly Layout[]> =>
  knownLayouts(await openTable(tablePath ?? false, runtime));

export const openLayout = async (name = "", tablePath: string | undefined, runtime: Runtime): Promise<Layout> => {
  const layout = findLayout(name, await openLayouts(tablePath, runtime));
  return layout.ok ? layout.value : misuse(`error: ${layout.error}\n`);
};

const UUID_BITS = 128;
const upperHex = architectText("guid", "hexadecimal");

const bareHex: TextForm = { ...upperHex, format: (words) => upperHex.format(words).toLowerCase() };

/** The texts of a layout, and for 128 bits those of a UUID, as databases store them. A gateway reads only the layout's own. */
export const writtenForms = ({ texts, table }: Layout): readonly TextForm[] =>
  table.text.bits === UUID_BITS
    ? [...texts, ...[uuidText, bareHex].filter(({ name }) => texts.every((form) => form.name !== name))]
    : texts;

/** A text form of a layout by its name, or a sentence. */
export const findForm = (layout: Layout, text: string): Result<TextForm, string> => {
  const forms = writtenForms(layout);
  const form = forms.find(({ name }) => name === text);
  if (form !== undefined) return ok(form);
  const known = forms.map(({ name }) => name).join(", ");
  return err(`A ${layout.name} has no text "${escapeControls(text)}"; it has ${known}.`);
};
