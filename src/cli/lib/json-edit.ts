import { isDeepStrictEqual } from "node:util";
import { type Node, parseTree } from "jsonc-parser";
import { plainJson } from "../../routing/schema/json-scanner.ts";
import { fail } from "../runtime.ts";
import {
  commentsIn,
  endOf,
  endsInLineComment,
  type Item,
  keyOf,
  lineStart,
  type Opened,
  openObject,
  splitLead,
} from "./json-parts.ts";
import { type Members, objectOf } from "./json-values.ts";

/**
 * New values of members by key, or of elements by index. `undefined` removes a member; edits as a value change what is inside. An
 * object without comments goes with its last member.
 */
export type Edits = ReadonlyMap<string | number, unknown>;

/** `removed`: comments of removed entries. */
export type Edited = { readonly text: string; readonly removed: readonly string[] };

/**
 * Changes members of a JSONC object; the rest of the text stays. A comment belongs to the entry before it on its line,
 * else to the entry below. A blank line parts them. It moves and goes with its entry. `text`: valid, without duplicate
 * keys. `modify` of jsonc-parser drops comments of neighbours, and parses the text again for each entry.
 */
export const editJson = (text: string, edits: Edits): Edited => {
  const mark = text.startsWith("\ufeff") ? "\ufeff" : "";
  const source = text.slice(mark.length);
  const plain = plainJson(source);
  const root = parseTree(plain);
  if (root?.type !== "object") throw new Error("the table was not checked");
  const carried = commentsOfRemoved(source, root, edits);
  const context = { text: source, style: styleOf(source, root), carried };
  const whole = rebuild(context, root, edits, 1) ?? "{}";
  const edited = source.slice(0, root.offset) + whole + source.slice(endOf(root));
  if (!saysSame(JSON.parse(plainJson(edited)), applied(JSON.parse(plain), edits), edits)) {
    fail("error: the edited text would not say what was asked; nothing was written\n");
  }
  return { text: mark + edited, removed: [...carried.values()].flatMap(({ before, after }) => [...before, ...after]) };
};

const asJson = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

/** The value with its edits. */
const applied = (value: unknown, edits: Edits): unknown => {
  const change = (before: unknown, key: string | number): unknown => {
    const edit = edits.get(key);
    return edit instanceof Map ? applied(before ?? {}, edit) : asJson(edit);
  };
  if (Array.isArray(value)) return value.map((element, at) => (edits.has(at) ? change(element, at) : element));
  const members = new Map(Object.entries(value as Members));
  for (const key of edits.keys()) members.set(String(key), change(members.get(String(key)), key));
  return Object.fromEntries([...members].filter(([, member]) => member !== undefined));
};

/** An emptied object may stay for its comments. */
const saysSame = (is: unknown, wanted: unknown, edits: Edits): boolean => {
  const filled = (value: unknown) =>
    Object.entries(value as Members).filter(
      ([key, member]) => !(edits.get(key) instanceof Map && Object.keys(objectOf(member) ?? { key }).length === 0),
    );
  return isDeepStrictEqual(Object.fromEntries(filled(is)), Object.fromEntries(filled(wanted)));
};

interface Style {
  readonly eol: string;
  /** Whether the members of the whole have lines of their own. */
  readonly hasLines: boolean;
  /** One level. */
  readonly indent: string;
  /** After colons and commas, and inside braces on one line. */
  readonly space: string;
}

const styleOf = (text: string, root: Node): Style => {
  const { items } = openObject(text, root);
  const lead = items.map((item) => lineStart(item.lead)).find((start) => start !== undefined);
  return {
    eol: /\r?\n/.exec(text)?.[0] ?? "\n",
    hasLines: lead !== undefined,
    indent: lead?.replace(/^\r?\n/, "") ?? "  ",
    space: lead === undefined && items[0]?.lead === "" ? "" : " ",
  };
};

type Comments = { readonly before: readonly string[]; readonly after: readonly string[] };

interface Context {
  readonly text: string;
  readonly style: Style;
  /** Comments of removed entries by key, until an entry of that key is added. */
  readonly carried: Map<string, Comments>;
}

/** Edits inside a value, if an object stays one. */
const editsOf = (edit: unknown, before: Node | undefined): Edits | undefined => {
  if (edit instanceof Map) return edit;
  const members = objectOf(edit);
  if (members === undefined || before?.type !== "object") return undefined;
  const kept = (before.children ?? []).map((property) => [keyOf(property), undefined] as const);
  return new Map([...kept, ...Object.entries(members)]);
};

const commentsOfRemoved = (text: string, root: Node, edits: Edits): Map<string, Comments> => {
  const found = new Map<string, Comments>();
  const visit = (node: Node, changes: Edits): void => {
    if (node.type === "array") {
      for (const [at, edit] of changes) {
        const element = node.children?.[Number(at)];
        const inner = editsOf(edit, element);
        if (element !== undefined && inner !== undefined) visit(element, inner);
      }
      return;
    }
    for (const { key, lead, core, trail, value } of openObject(text, node).items) {
      if (!changes.has(key) || value === undefined) continue;
      const edit = changes.get(key);
      const inner = editsOf(edit, value);
      if (inner !== undefined) visit(value, inner);
      if (edit !== undefined) continue;
      const { before, after } = found.get(key) ?? { before: [], after: [] };
      const own = [...commentsIn(splitLead(lead)[1]), ...commentsIn(core)];
      found.set(key, { before: [...before, ...own], after: [...after, ...commentsIn(trail)] });
    }
  };
  visit(root, edits);
  return found;
};

/** The entry before a new one; others are added at the end. */
const PLACES: Readonly<Record<string, string>> = { canary: "region" };

const insert = (items: Item[], item: Item): void => {
  const before = items.findIndex((other) => other.key === PLACES[item.key]);
  items.splice(before === -1 ? items.length : before + 1, 0, item);
};

/** The text of an object with new values; `undefined` if nothing is left. `level`: of its entries. */
const rebuild = (context: Context, object: Node | undefined, edits: Edits, level: number): string | undefined => {
  const { style } = context;
  const opened = openObject(context.text, object);
  const { items, rest } = keptItems(context, opened, edits, level);
  const known = new Set(opened.items.map(({ key }) => key));
  const added = [...edits].filter(([key, edit]) => edit !== undefined && !known.has(String(key)));
  const starts = opened.items.map(({ lead }) => lineStart(lead));
  let line = starts.findLast((start) => start !== undefined);
  let tail = rest + opened.tail;
  // A part on one line gets more of them when it grows.
  if (added.length > 0 && line === undefined && level === 2 && style.hasLines && isOnOneLine(opened)) {
    line = style.eol + style.indent.repeat(level);
    tail = rest + style.eol + style.indent.repeat(level - 1);
    for (const [at, item] of items.entries())
      items[at] = { ...item, at: undefined, lead: line + item.lead.trimStart() };
  } else if (added.length > 0 && opened.items.length === 0 && tail === "") tail = style.space;
  for (const [key, edit] of added) {
    const item = newItem(context, String(key), edit, line ?? style.space, level);
    if (item !== undefined) insert(items, item);
  }
  if (items.length === 0 && commentsIn(opened.head + tail).length === 0) return undefined;
  return write(opened, items, { tail, line: line ?? style.eol + style.indent.repeat(level) });
};

/** Its entries have no comments between them either. */
const isOnOneLine = ({ gaps }: Opened): boolean =>
  gaps.every((gap) => !gap.includes("\n") && commentsIn(gap).length === 0);

/** Entries that stay, and what removed ones at the end leave. */
const keptItems = (context: Context, { items }: Opened, edits: Edits, level: number) => {
  const kept: Item[] = [];
  let left = "";
  let start: string | undefined;
  for (const item of items) {
    const edited = edits.has(item.key) ? editedItem(context, item, edits.get(item.key), level) : item;
    if (edited === undefined) {
      left += splitLead(item.lead)[0];
      start ??= lineStart(item.lead);
      continue;
    }
    const startsLine = start === undefined || lineStart(item.lead) !== undefined;
    const lead = startsLine ? item.lead : start + item.lead.trimStart();
    kept.push({ ...edited, lead: left + lead, at: left === "" && startsLine ? item.at : undefined });
    left = "";
    start = undefined;
  }
  return { items: kept, rest: left };
};

/** The entry after the edit; `undefined` if it is removed. */
const editedItem = (context: Context, item: Item, edit: unknown, level: number): Item | undefined => {
  const { core, value, lead, trail } = item;
  if (value === undefined) throw new Error("an entry without its value");
  const old = context.text.slice(value.offset, endOf(value));
  const hasComments = commentsIn(lead).length + commentsIn(trail).length > 0;
  const text = valueText(context, value, edit, level) ?? (edit !== undefined && hasComments ? "{}" : undefined);
  if (text === undefined) return undefined;
  const isReplaced = text !== old && editsOf(edit, value) === undefined;
  const notes = isReplaced ? commentsIn(old) : [];
  const key = core.slice(0, core.length - value.length);
  return { ...item, core: key + text, notes, at: notes.length === 0 ? item.at : undefined };
};

const valueText = (context: Context, before: Node | undefined, edit: unknown, level: number): string | undefined => {
  if (edit === undefined) return undefined;
  const inner = editsOf(edit, before);
  const old = before === undefined ? undefined : context.text.slice(before.offset, endOf(before));
  if (inner !== undefined && before?.type === "array") return arrayText(context, before, inner, level);
  if (inner !== undefined) return rebuild(context, before, inner, level + 1);
  if (old !== undefined && isDeepStrictEqual(JSON.parse(plainJson(old)), asJson(edit))) return old;
  return inline(edit, context.style);
};

const arrayText = ({ text, ...context }: Context, array: Node, edits: Edits, level: number): string => {
  const parts: string[] = [];
  let done = array.offset;
  for (const [at, element] of (array.children ?? []).entries()) {
    if (!edits.has(at)) continue;
    const after = valueText({ text, ...context }, element, edits.get(at), level + 1) ?? "{}";
    parts.push(text.slice(done, element.offset), after);
    done = endOf(element);
  }
  return parts.join("") + text.slice(done, endOf(array));
};

const newItem = (context: Context, key: string, edit: unknown, lead: string, level: number): Item | undefined => {
  const value = valueText(context, undefined, edit, level);
  if (value === undefined) return undefined;
  const { before, after } = context.carried.get(key) ?? { before: [], after: [] };
  context.carried.delete(key);
  const notes = [...before, ...after.slice(0, -1)];
  const core = `${JSON.stringify(key)}:${context.style.space}${value}`;
  return {
    key,
    lead,
    notes,
    core,
    trail: after
      .slice(-1)
      .map((note) => ` ${note}`)
      .join(""),
  };
};

/** `line`: the start of a line of the object. */
const write = (
  opened: Opened,
  items: readonly Item[],
  { tail, line }: { readonly tail: string; readonly line: string },
) => {
  const parts = ["{"];
  let isLineOpen = false;
  const add = (text: string): void => {
    if (text === "") return;
    if (isLineOpen && !/^\r?\n/.test(text)) parts.push(line);
    parts.push(isLineOpen ? text.replace(/^[ \t]+/, "") : text);
    isLineOpen = endsInLineComment(text);
  };
  const gapOf = (from: Item | undefined, to: Item | undefined): string | undefined => {
    const isKept = from?.at !== undefined && (to === undefined ? tail === opened.tail : to.at === from.at + 1);
    const isNext = to !== undefined || from?.at === opened.gaps.length - 1;
    return isKept && isNext ? opened.gaps[from.at] : undefined;
  };
  /** From an entry to the next one or to the closing brace: the gap as it was, or a new one before `lead`. */
  const addGap = (from: Item | undefined, to: Item | undefined, lead: string, hasComma: boolean): void => {
    const gap = gapOf(from, to);
    if (gap !== undefined) add(gap);
    else {
      if (from !== undefined && hasComma) parts.push(",");
      add(from?.trail ?? "");
      add(lead);
    }
  };
  add(opened.head);
  for (const [index, item] of items.entries()) {
    addGap(items[index - 1], item, item.lead, true);
    for (const note of item.notes ?? []) {
      add(note);
      add(lineStart(item.lead) ?? " ");
    }
    add(item.core);
  }
  addGap(items.at(-1), undefined, tail, opened.hasLastComma);
  add("}");
  return parts.join("");
};

/** A value on one line: `{ "region": "us", "epoch": 3 }`. */
const inline = (value: unknown, { space }: Pick<Style, "space">): string => {
  if (Array.isArray(value)) return `[${value.map((each) => inline(each, { space })).join(`,${space}`)}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}:${space}${inline(member, { space })}`,
  );
  return `{${space}${members.join(`,${space}`)}${space}}`;
};
