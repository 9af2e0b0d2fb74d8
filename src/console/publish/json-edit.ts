import { type Node, parseTree } from "jsonc-parser";
import { canonical } from "../../routing/diff/key-space.ts";
import { type Hunk, hunksOf } from "./sequences.ts";

/** Edits of a JSON text that keep all lines but those which change. Pure. */

interface Edit {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

/** The text, changed to say another value. It is valid JSON, comments aside. */
export function editedTo(text: string, value: unknown): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root === undefined) throw new Error("the text is no JSON");
  const edits: Edit[] = [];
  editValue({ text, edits }, root, value);
  let edited = text;
  for (const { offset, length, text: own } of edits.toSorted((a, b) => b.offset - a.offset))
    edited = edited.slice(0, offset) + own + edited.slice(offset + length);
  return edited;
}

interface Context {
  readonly text: string;
  readonly edits: Edit[];
}

function editValue(context: Context, node: Node, value: unknown): void {
  if (canonical(valueIn(node)) === canonical(value)) return;
  const isFilled = children(node).length > 0;
  if (isFilled && node.type === "object" && isObject(value) && Object.keys(value).length > 0) {
    editMembers(context, node, value);
  } else if (isFilled && node.type === "array" && Array.isArray(value) && value.length > 0) {
    editElements(context, node, value);
  } else {
    const text = written(value, isOnLines(context.text, node), indentAt(context.text, node.offset));
    context.edits.push({ offset: node.offset, length: node.length, text });
  }
}

function editMembers(context: Context, node: Node, value: Readonly<Record<string, unknown>>): void {
  const items = children(node);
  const names = items.map((item) => String(item.children?.[0]?.value));
  for (const [at, name] of names.entries()) {
    const own = items[at]?.children?.[1];
    if (own !== undefined && Object.hasOwn(value, name)) editValue(context, own, value[name]);
  }
  const after = [
    ...names.filter((name) => Object.hasOwn(value, name)),
    ...Object.keys(value).filter((name) => !names.includes(name)),
  ];
  const textOf = (at: number, style: Style) =>
    `${JSON.stringify(after[at])}: ${written(value[after[at] as string], style.isLong, style.indent)}`;
  editItems(context, node, hunksOf(names, after), textOf);
}

function editElements(context: Context, node: Node, value: readonly unknown[]): void {
  const items = children(node);
  const hunks = hunksOf(
    items.map((item) => canonical(valueIn(item))),
    value.map(canonical),
  );
  const rest = hunks.filter(({ at, end, afterAt, afterEnd }) => {
    if (end - at !== afterEnd - afterAt) return true;
    for (let step = 0; step < end - at; step++) editValue(context, items[at + step] as Node, value[afterAt + step]);
    return false;
  });
  editItems(context, node, rest, (at, style) => written(value[at], style.isLong, style.indent));
}

interface Style {
  /** Before each item: a line break with its indentation, or a space. */
  readonly lead: string;
  readonly indent: string;
  /** Whether objects in it are written over many lines. */
  readonly isLong: boolean;
}

function editItems(
  { text, edits }: Context,
  node: Node,
  hunks: readonly Hunk[],
  textOf: (at: number, style: Style) => string,
): void {
  const items = children(node);
  const style = styleOf(text, items);
  for (const { at, end, afterAt, afterEnd } of hunks) {
    const own = Array.from({ length: afterEnd - afterAt }, (_, step) => textOf(afterAt + step, style));
    const first = items[at];
    const last = items[end - 1];
    const before = items[at - 1];
    if (at < end && own.length > 0) {
      const from = (first as Node).offset;
      edits.push({ offset: from, length: endOf(last as Node) - from, text: own.join(`,${style.lead}`) });
    } else if (at < end) {
      // With the comma of one neighbour.
      const next = items[end];
      const from = before === undefined ? (first as Node).offset : endOf(before);
      const to = before === undefined && next !== undefined ? next.offset : endOf(last as Node);
      edits.push({ offset: from, length: to - from, text: "" });
    } else if (before === undefined) {
      edits.push({
        offset: (first as Node).offset,
        length: 0,
        text: own.map((each) => `${each},${style.lead}`).join(""),
      });
    } else {
      edits.push({ offset: endOf(before), length: 0, text: own.map((each) => `,${style.lead}${each}`).join("") });
    }
  }
}

function styleOf(text: string, items: readonly Node[]): Style {
  const [first] = items;
  if (first === undefined) return { lead: " ", indent: "", isLong: false };
  const hasLine = text.slice(text.lastIndexOf("\n", first.offset) + 1, first.offset).trim() === "";
  const indent = indentAt(text, first.offset);
  const isLong = items.some((item) => text.slice(item.offset, endOf(item)).includes("\n"));
  return { lead: hasLine ? `\n${indent}` : " ", indent, isLong: hasLine && isLong };
}

const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))?.[0] ?? "";

const isOnLines = (text: string, node: Node): boolean => text.slice(node.offset, endOf(node)).includes("\n");

const endOf = ({ offset, length }: Node): number => offset + length;

const children = (node: Node): readonly Node[] => node.children ?? [];

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function valueIn(node: Node): unknown {
  if (node.type === "array") return children(node).map(valueIn);
  if (node.type !== "object") return node.value;
  return Object.fromEntries(
    children(node).flatMap(({ children: [name, own] = [] }) =>
      name === undefined || own === undefined ? [] : [[String(name.value), valueIn(own)]],
    ),
  );
}

/** `{ "region": "us", "epoch": 3 }`, or over lines where its neighbours are. */
function written(value: unknown, isLong: boolean, indent: string): string {
  if (isLong) return JSON.stringify(value, null, 2).replaceAll("\n", `\n${indent}`);
  if (Array.isArray(value)) return `[${value.map((each) => written(each, false, indent)).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, own]) => `${JSON.stringify(name)}: ${written(own, false, indent)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
