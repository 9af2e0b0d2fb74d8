import { findNodeAtLocation, format, type Node, type ParseError, parse, parseTree } from "jsonc-parser";
import { parseJson, plainJson } from "../../routing/index.ts";

/**
 * Changes of single values of a table's text. All else stays as it stands, comments too: `modify` of jsonc-parser writes lists and
 * objects over many lines.
 */

export type JsonPath = readonly (string | number)[];

export interface Edit {
  readonly path: JsonPath;
  /** `undefined` removes the member or element. */
  readonly value: unknown;
  /** The last part of the path is the place of a new element, and those from there on follow it. */
  readonly isInsert?: boolean;
}

/** One after the other. Throws where the text cannot say what is asked: it is no JSON, or has not the place. */
export function editText(text: string, edits: readonly Edit[]): string {
  let edited = text;
  for (const edit of edits) {
    const next = editOnce(edited, edit);
    // The text must say what was asked: a mistake here would be published.
    const [is, wanted] = [parseJson(plainJson(next)), applied(parseJson(plainJson(edited)), edit)];
    if (JSON.stringify(is) !== JSON.stringify(wanted)) throw new Error("the edited text does not say what was asked");
    edited = next;
  }
  return edited;
}

function editOnce(text: string, { path, value, isInsert = false }: Edit): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root === undefined) throw new Error("the text is not JSON");
  const node = isInsert ? undefined : findNodeAtLocation(root, [...path]);
  if (value === undefined) return node === undefined ? text : removed(text, node);
  const style = styleOf(text);
  if (node !== undefined) return replaced(text, node.offset, node.length, inline(value, style));
  const at = path.at(-1) ?? "";
  const parent = findNodeAtLocation(root, path.slice(0, -1));
  // Parents that are not there come with it.
  if (parent === undefined) return editOnce(text, { path: path.slice(0, -1), value: newParent(at, value) });
  const written = likeSiblings(text, parent, value, style);
  const item = parent.type === "array" ? written : `${JSON.stringify(at)}:${style}${written}`;
  return added(text, parent, item, parent.type === "array" ? Number(at) : Number.POSITIVE_INFINITY, style);
}

const newParent = (at: string | number, value: unknown): unknown =>
  typeof at === "number" ? [value] : { [at]: value };

const replaced = (text: string, offset: number, length: number, by: string): string =>
  text.slice(0, offset) + by + text.slice(offset + length);

const endOf = ({ offset, length }: Node): number => offset + length;

/** Behind colons and commas: the text's own way. */
const styleOf = (text: string): string => (/":\S/.test(text) && !/": /.test(text) ? "" : " ");

function added(text: string, parent: Node, item: string, at: number, style: string): string {
  const children = parent.children ?? [];
  const [next, last] = [children[at], children.at(-1)];
  if (next !== undefined) return replaced(text, next.offset, 0, `${item},${gapBefore(text, next, style)}`);
  if (last === undefined) {
    const room = parent.type === "array" ? "" : style;
    return replaced(text, parent.offset + 1, endOf(parent) - parent.offset - 2, room + item + room);
  }
  const gap = gapBefore(text, last, style);
  const end = endOf(last);
  const [, comma = "", comment = ""] = /^\s*?(,?)([ \t]*(?:\/\/[^\n]*|\/\*[^\n]*?\*\/))?/.exec(text.slice(end)) ?? [];
  // A comment on the line of the last one stays with it.
  const tail = /^[ \t]*\S/.test(comment) && gap.includes("\n") ? comment : "";
  const cut = tail === "" ? 0 : text.slice(end).indexOf(tail) + tail.length;
  return replaced(text, end, cut, `,${tail}${gap}${item}${cut > 0 && comma !== "" ? "," : ""}`);
}

/** On one line, or over many where the others of its kind are. */
function likeSiblings(text: string, parent: Node, value: unknown, style: string): string {
  const last = parent.children?.at(-1);
  const isLong = last !== undefined && text.slice(last.offset, endOf(last)).includes("\n");
  const gap = last === undefined ? "" : gapBefore(text, last, "");
  if (!isLong || !gap.includes("\n") || typeof value !== "object") return inline(value, style);
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  return JSON.stringify(value, null, unit).replaceAll("\n", gap);
}

/** The room before an element: a line of its own, or a space. */
function gapBefore(text: string, node: Node, style: string): string {
  const line = text.lastIndexOf("\n", node.offset - 1);
  const lead = text.slice(line + 1, node.offset);
  if (line === -1 || lead.trim() !== "") return style;
  return (text[line - 1] === "\r" ? "\r\n" : "\n") + lead;
}

function removed(text: string, value: Node): string {
  const node = value.parent?.type === "property" ? value.parent : value;
  const siblings = node.parent?.children ?? [];
  const at = siblings.indexOf(node);
  const [before, next] = [siblings[at - 1], siblings[at + 1]];
  if (next !== undefined) return removedBefore(text, node, next);
  if (before !== undefined) return removedLast(text, node, before);
  const { offset = 0, length = text.length } = node.parent ?? {};
  return replaced(text, offset + 1, length - 2, "");
}

const hasOwnLine = (text: string, node: Node): boolean => gapBefore(text, node, "").includes("\n");

/** With its comma, and the comment on its line. */
function removedBefore(text: string, node: Node, next: Node): string {
  const end = endOf(node);
  const rest = /^[ \t]*,[ \t]*(?:\/\/[^\n]*|\/\*[^\n]*?\*\/)?(?:\r?\n)?/.exec(text.slice(end))?.[0] ?? "";
  if (!hasOwnLine(text, node) || !rest.endsWith("\n"))
    return replaced(text, node.offset, next.offset - node.offset, "");
  const from = text.lastIndexOf("\n", node.offset - 1) + 1;
  return replaced(text, from, end + rest.length - from, "");
}

/** The comma of the one before goes too; it may stand before a comment. */
function removedLast(text: string, node: Node, before: Node): string {
  const end = endOf(before);
  if (!hasOwnLine(text, node)) return replaced(text, end, endOf(node) - end, "");
  const line = text.lastIndexOf("\n", node.offset - 1);
  const from = text[line - 1] === "\r" ? line - 1 : line;
  const without = replaced(text, from, endOf(node) - from, "");
  const comma = text.indexOf(",", end);
  return comma < from ? replaced(without, comma, 1, "") : without;
}

/** On one line: `{ "region": "us", "epoch": 3 }`. */
function inline(value: unknown, style: string): string {
  if (Array.isArray(value)) return `[${value.map((each) => inline(each, style)).join(`,${style}`)}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${JSON.stringify(name)}:${style}${inline(member, style)}`);
  return members.length === 0 ? "{}" : `{${style}${members.join(`,${style}`)}${style}}`;
}

/** The value with the edit. */
function applied(value: unknown, { path, value: next, isInsert = false }: Edit): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return next;
  const inner = (before: unknown) =>
    rest.length === 0 ? next : applied(before, { path: rest, value: next, isInsert });
  if (typeof first === "number") {
    const all = Array.isArray(value) ? [...value] : [];
    if (rest.length === 0 && next === undefined) all.splice(first, 1);
    else if (rest.length === 0 && isInsert) all.splice(first, 0, next);
    else if (first >= all.length) all.push(inner(undefined));
    else all[first] = inner(all[first]);
    return all;
  }
  const members = new Map(Object.entries((value ?? {}) as object));
  const changed = inner(members.get(first));
  if (changed === undefined) members.delete(first);
  else members.set(first, changed);
  return Object.fromEntries(members);
}

const STYLE = { insertSpaces: true, tabSize: 2, eol: "\n", insertFinalNewline: true } as const;

/**
 * The text with two spaces for each level. Spaces alone change, so that comments, numbers and keys that come twice stay. A text with
 * faults of syntax stays as it is.
 */
export function formatText(text: string): string {
  const faults: ParseError[] = [];
  parse(text, faults);
  if (faults.length > 0) return text;
  // Its `applyEdits` writes all of the text for each edit: minutes for ten thousand routes.
  const parts: string[] = [];
  let at = 0;
  for (const { offset, length, content } of format(text, undefined, STYLE)) {
    parts.push(text.slice(at, offset), content);
    at = offset + length;
  }
  parts.push(text.slice(at));
  return parts.join("");
}
