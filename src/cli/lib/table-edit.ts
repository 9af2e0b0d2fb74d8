import { type Node, parseTree } from "jsonc-parser";
import { checkTable } from "../../routing/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { fail, type Runtime } from "../runtime.ts";
import { writeOutput } from "./input.ts";
import { type Checked, checkText, readBytes, TABLE_FILE_DEFAULT, valid } from "./table-file.ts";

/** New values of entries by their keys; `undefined` removes one. */
export type EntryEdits = ReadonlyMap<string, unknown>;

/**
 * Changes entries of an object that is a member of a JSON object; the rest of the text stays. A missing part is added at the end,
 * and an empty one is removed. `modify` of jsonc-parser would reformat neighbours, and parse the text again for each entry.
 */
export const editEntries = (text: string, part: string, edits: EntryEdits): string =>
  editMember(text, part, (object, style) => {
    const raw = [...edits].map(
      ([key, value]) => [key, value === undefined ? undefined : inline(value, style)] as const,
    );
    return rebuild(text, object, new Map(raw), style, 2);
  });

/** Sets a numeric member of a JSON object. The rest of the text stays. */
export const setNumber = (text: string, name: string, value: number): string =>
  editMember(text, name, () => JSON.stringify(value));

const editMember = (
  text: string,
  name: string,
  edit: (before: Node | undefined, style: Style) => string | undefined,
): string => {
  const root = parseTree(text);
  if (root?.type !== "object") throw new Error("the table was not checked");
  const style = styleOf(text, root);
  const before = root.children?.find((property) => keyOf(property) === name)?.children?.[1];
  const after = edit(before, style);
  if (after === undefined && before === undefined) return text;
  const whole = rebuild(text, root, new Map([[name, after]]), style, 1);
  return text.slice(0, root.offset) + whole + text.slice(endOf(root));
};

interface Style {
  /** Empty for a text on one line. */
  readonly eol: string;
  /** One level; empty for a text on one line. */
  readonly indent: string;
  /** After colons and commas, and inside braces on one line. */
  readonly space: string;
}

const styleOf = (text: string, root: Node): Style => {
  const lead = text.slice(root.offset + 1, root.children?.[0]?.offset);
  const [, eol, indent] = /(\r?\n)([ \t]*)$/.exec(lead) ?? [];
  return eol === undefined || indent === undefined
    ? { eol: "", indent: "", space: lead === "" ? "" : " " }
    : { eol, indent, space: " " };
};

/** The text of an object with new values; `undefined` if it becomes empty. `level`: of its entries. */
const rebuild = (
  text: string,
  object: Node | undefined,
  edits: ReadonlyMap<string, string | undefined>,
  style: Style,
  level: number,
): string | undefined => {
  const properties = object?.children ?? [];
  const known = new Set(properties.map(keyOf));
  const kept = properties.flatMap((property, at) => {
    const key = keyOf(property);
    if (edits.has(key) && edits.get(key) === undefined) return [];
    const before = properties[at - 1];
    const gap = before === undefined ? "" : text.slice(endOf(before), property.offset);
    return [{ gap, own: rewrite(text, property, edits.get(key)) }];
  });
  const added = [...edits].flatMap(([key, value]) =>
    value === undefined || known.has(key) ? [] : [`${JSON.stringify(key)}:${style.space}${value}`],
  );
  if (kept.length + added.length === 0) return undefined;
  const { lead, tail, isKept } = spacesOf(text, object, added.length > 0, style, level);
  const between = lead.trim() === "" ? lead : style.eol + style.indent.repeat(level);
  // A comment behind the last entry stays there; its own comma stays last.
  const note = (added.length > 0 && kept.length > 0 && /^[ \t]*\/[^\n\r]*/.exec(tail)?.[0]) || "";
  const body = [
    ...kept.map(({ gap, own }, at) => (at === 0 ? own : (isKept ? gap : `,${lead}`) + own)),
    ...added.map((own, at) =>
      kept.length + at === 0 ? own : `,${at === 0 ? note : ""}${between || style.space}${own}`,
    ),
  ];
  return `{${lead}${body.join("")}${tail.slice(note.length)}}`;
};

/** The white space inside the braces. New entries get a line each if the text has lines. */
const spacesOf = (
  text: string,
  object: Node | undefined,
  grows: boolean,
  { eol, indent, space }: Style,
  level: number,
) => {
  const first = object?.children?.[0];
  const last = object?.children?.at(-1);
  if (object !== undefined && first !== undefined && last !== undefined) {
    const lead = text.slice(object.offset + 1, first.offset);
    const tail = text.slice(endOf(last), endOf(object) - 1);
    if (eol === "" || lead.includes("\n") || !grows) return { lead, tail, isKept: true };
  }
  return eol === ""
    ? { lead: space, tail: space, isKept: true }
    : { lead: eol + indent.repeat(level), tail: eol + indent.repeat(level - 1), isKept: false };
};

const keyOf = ({ children }: Node): string => String(children?.[0]?.value);

const endOf = ({ offset, length }: Node): number => offset + length;

const rewrite = (text: string, property: Node, value: string | undefined): string => {
  const old = property.children?.[1];
  if (old === undefined || value === undefined) return text.slice(property.offset, endOf(property));
  return text.slice(property.offset, old.offset) + value;
};

/** A value on one line: `{ "region": "us", "epoch": 3 }`. */
const inline = (value: unknown, { space }: Style): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}:${space}${JSON.stringify(member)}`,
  );
  return `{${space}${members.join(`,${space}`)}${space}}`;
};

export type OpenTable<Table = DeclaredTable> = { readonly name: string; readonly text: string; readonly table: Table };

export const openForEdit = async (path: string | undefined, runtime: Runtime): Promise<OpenTable> =>
  openAs(path ?? TABLE_FILE_DEFAULT, runtime, (bytes) => checkText(bytes, checkTable));

/** The same, of which `check` reads a part. */
export const openAs = async <Table>(path: string, runtime: Runtime, check: (bytes: Uint8Array) => Checked<Table>) => {
  if (path === "-") fail("error: the table file is edited, so it cannot be stdin (--table)\n");
  const bytes = await readBytes(path, runtime);
  return { name: path, text: new TextDecoder().decode(bytes), table: valid(path, check(bytes)) };
};

const NOT_WRITTEN = "error: nothing was written\n";

/** Writes the edited text, unless it is invalid or `isTrial`. */
export const saveTable = ({ name, text }: OpenTable, edited: string, isTrial: boolean, runtime: Runtime): void => {
  valid(name, checkText(new TextEncoder().encode(edited), checkTable), "stderr", NOT_WRITTEN);
  if (!isTrial && edited !== text) writeOutput(name, edited, runtime, NOT_WRITTEN);
};
