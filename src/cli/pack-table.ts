import { err, ok, type Result } from "../ids/index.ts";
import { type CompiledTable, checkTable } from "../routing/index.ts";
import { idlePacks } from "./idle-packs.ts";
import { editEntries } from "./move-edits.ts";
import { escapeControls } from "./printable.ts";
import { checkText, compile, formatFaults, formatTableError, readBytes } from "./table-file.ts";
import type { Runtime } from "./world.ts";

/** A table that is to get the entry of a pack. */
export interface PackTable {
  readonly name: string;
  readonly text: string;
  /** What it declares beside the pack and its routes: those may stand there before the pack does. */
  readonly rest: CompiledTable;
}

/** Opens the table for the pack of a name. Errors are sentences for stderr. */
export const openPackTable = async (
  path: string,
  pack: string,
  runtime: Runtime,
): Promise<Result<PackTable, string>> => {
  if (path === "-") return err("error: the table is edited in its file, so it cannot come from stdin (--table)\n");
  const bytes = await readBytes(path, runtime);
  if (!bytes.ok) return err(formatTableError({ reason: "unreadable", name: path, why: bytes.error }));
  const rest = checkText(bytes.value, (json) => compile(withoutPack(json, pack)));
  if (rest.ok) return ok({ name: path, text: new TextDecoder().decode(bytes.value), rest: rest.value });
  // Places are those of the whole text: without some routes the others have other numbers.
  const whole = checkText(bytes.value, checkTable);
  return err(formatTableError({ reason: "faulty", name: path, faults: whole.ok ? rest.error : whole.error }));
};

const withoutPack = (json: unknown, name: string): unknown => {
  if (!isObject(json)) return json;
  const { routes, packs } = json;
  const isOther = (route: unknown) => !isObject(route) || route["pack"] !== name;
  return {
    ...json,
    ...(Array.isArray(routes) ? { routes: routes.filter(isOther) } : {}),
    ...(isObject(packs) ? { packs: Object.fromEntries(Object.entries(packs).filter(([key]) => key !== name)) } : {}),
  };
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A table's text with the entry of a pack, and whether no route leads to the pack yet. */
interface TextWithEntry {
  readonly text: string;
  readonly isIdle: boolean;
}

/** The table with the entry, if it could be served so. The text is nowhere yet: its faults have no line. */
export const withEntry = ({ name, text }: PackTable, pack: string, entry: object): Result<TextWithEntry, string> => {
  const edited = editEntries(text, "packs", new Map([[pack, entry]]));
  const checked = checkText(new TextEncoder().encode(edited), checkTable);
  if (checked.ok) return ok({ text: edited, isIdle: idlePacks(checked.value).includes(pack) });
  const lines = checked.error.map(({ pointer, message }) => `${escapeControls(`${pointer}: ${message}`)}\n`);
  const sentence = `error: with this pack ${escapeControls(name)} could not be served: ${formatFaults(lines.length)}; nothing was written\n`;
  return err(lines.join("") + sentence);
};
