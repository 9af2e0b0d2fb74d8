import {
  architectText,
  err,
  everyLayout,
  type Layout,
  ok,
  type Result,
  type TextForm,
  uuidText,
} from "../ids/index.ts";
import type { CompiledTable } from "../routing/index.ts";
import { escapeControls } from "./printable.ts";
import { suggestion } from "./suggest.ts";

/** Our layouts, and those that a routing table declares. */
export const knownLayouts = (table?: CompiledTable): readonly Layout[] => {
  const layouts = new Map(everyLayout.map((layout) => [layout.name, layout]));
  for (const { layout } of table?.layouts.values() ?? []) layouts.set(layout.name, layout);
  return [...layouts.values()];
};

/** The layout of a name, or a sentence that says what there is instead. */
export const findLayout = (name: string, layouts: readonly Layout[]): Result<Layout, string> => {
  const layout = layouts.find((each) => each.name === name);
  if (layout !== undefined) return ok(layout);
  const near = suggestion(
    name,
    layouts.map((each) => each.name),
  );
  return err(
    `There is no layout "${escapeControls(name)}"${near === "" ? "." : near} \`waybill layout --names\` lists all.`,
  );
};

const UUID_BITS = 128;
const upperHex = architectText("guid", "hexadecimal");

/** The digits of a UUID without hyphens. */
const bareHex: TextForm = { ...upperHex, format: (words) => upperHex.format(words).toLowerCase() };

/**
 * The texts in which people may want an ID: those of its layout, and where it has 128 bits those of a UUID, which databases store.
 * A gateway reads only the layout's own.
 */
export const writtenForms = ({ texts, table }: Layout): readonly TextForm[] =>
  table.text.bits === UUID_BITS
    ? [...texts, ...[uuidText, bareHex].filter(({ name }) => texts.every((form) => form.name !== name))]
    : texts;
