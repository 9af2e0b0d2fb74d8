import { err, ok, type Result } from "../ids/index.ts";
import { type CompiledTable, checkTable } from "../routing/index.ts";
import { idlePacks } from "./idle-packs.ts";
import { editEntries } from "./move-edits.ts";
import { printable } from "./printable.ts";
import { checkText, compile, faultsText, readOctets, tableErrorText } from "./table-file.ts";
import type { World } from "./world.ts";

/** A table that is to get the entry of a pack. */
export interface PackTable {
  readonly name: string;
  readonly text: string;
  /** What it declares beside the pack and its routes: those may stand there before the pack does. */
  readonly rest: CompiledTable;
}

/** Opens the table for the pack of a name. Errors are sentences for stderr. */
export const openPackTable = async (path: string, pack: string, world: World): Promise<Result<PackTable, string>> => {
  if (path === "-") return err("error: the table is edited in its file, so it cannot come from stdin (--table)\n");
  const octets = await readOctets(path, world);
  if (!octets.ok) return err(tableErrorText({ reason: "unreadable", name: path, why: octets.error }));
  const rest = checkText(octets.value, (json) => compile(withoutPack(json, pack)));
  if (rest.ok) return ok({ name: path, text: new TextDecoder().decode(octets.value), rest: rest.value });
  // Places are those of the whole text: without some routes the others have other numbers.
  const whole = checkText(octets.value, checkTable);
  return err(tableErrorText({ reason: "faulty", name: path, faults: whole.ok ? rest.error : whole.error }));
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
  const lines = checked.error.map(({ pointer, message }) => `${printable(`${pointer}: ${message}`)}\n`);
  const sentence = `error: with this pack ${printable(name)} could not be served: ${faultsText(lines.length)}; nothing was written\n`;
  return err(lines.join("") + sentence);
};
