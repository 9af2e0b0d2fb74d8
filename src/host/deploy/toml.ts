import type { Addition } from "./requirements.ts";

/** Adds to a TOML text without writing it again, so that comments and order stay. The caller reads the result to be sure. */
export function addToToml(text: string, { kind, path, value }: Addition): string {
  if (kind === "append") return addBlock(text, `[[${keyPath(path)}]]`, members(value));
  const key = path.at(-1) ?? "";
  if (path.length === 1 && isTable(value)) return addBlock(text, `[${keyPath(path)}]`, members(value));
  return setKey(text, path.slice(0, -1), key, value);
}

/** The same as a person would write it, for a screen. */
export const tomlOf = (addition: Addition): string => addToToml("", addition).trim();

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Bare keys, and all others quoted (TOML 1.0, "Keys"). */
const keyOf = (name: string): string => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name));
const keyPath = (path: readonly string[]): string => path.map(keyOf).join(".");

const members = (value: unknown): readonly string[] =>
  Object.entries(value as object).map(([name, each]) => `${keyOf(name)} = ${literal(each)}`);

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  return isTable(value) ? `{ ${members(value).join(", ")} }` : JSON.stringify(value);
}

const HEADER = /^\s*\[/;

const isContent = (line: string | undefined): boolean => line !== undefined && !/^\s*(?:#.*)?$/.test(line);

/** Lines of a table from its header on, without comments behind it, which belong to the next one. */
function endOfTable(lines: readonly string[], first: number): number {
  let end = first + 1;
  while (end < lines.length && !HEADER.test(lines[end] ?? "")) end++;
  while (end > first + 1 && !isContent(lines[end - 1])) end--;
  return end;
}

/** Behind the last table of the same name, or at the end. */
function addBlock(text: string, header: string, rows: readonly string[]): string {
  const lines = text.split("\n");
  const last = lines.findLastIndex((line) => line.replace(/\s*(?:#.*)?$/, "").replaceAll(/\s/g, "") === header);
  if (last === -1) return `${text.trimEnd()}\n\n${header}\n${rows.join("\n")}\n`.trimStart();
  return lines.toSpliced(endOfTable(lines, last), 0, "", header, ...rows).join("\n");
}

/** Replaces the value of a key, or adds it to its table; `[]` is the top. */
function setKey(text: string, table: readonly string[], key: string, value: unknown): string {
  const row = `${keyOf(key)} = ${literal(value)}`;
  const lines = text.split("\n");
  const header = `[${keyPath(table)}]`;
  const at =
    table.length === 0
      ? -1
      : lines.findIndex((line) => line.replace(/\s*(?:#.*)?$/, "").replaceAll(/\s/g, "") === header);
  if (table.length > 0 && at === -1) return addBlock(text, header, [row]);
  const end = endOfTable(lines, at);
  const name = new RegExp(`^\\s*(["']?)${key}\\1\\s*=`);
  const own = lines.findIndex((line, index) => index > at && index < end && name.test(line));
  if (own === -1) return lines.toSpliced(firstFree(lines, at, end), 0, row).join("\n");
  const replaced = lines.slice(own, endOfValue(lines, own));
  const [first, ...others] = replaced.map(commentOf);
  const above = others.filter((comment) => comment !== "");
  return lines.toSpliced(own, replaced.length, ...above, row + (first === "" ? "" : ` ${first}`)).join("\n");
}

/** The top has its keys before the first table, and comments of that table stay with it. */
function firstFree(lines: readonly string[], at: number, end: number): number {
  return at === -1 && !isContent(lines[end - 1]) ? 0 : end;
}

/** An array may span lines: up to the one in which its brackets are closed. */
function endOfValue(lines: readonly string[], first: number): number {
  let depth = 0;
  for (let at = first; at < lines.length; at++) {
    const bare = withoutTexts(lines[at] ?? "").replace(/#.*/, "");
    for (const character of bare)
      depth += character === "[" || character === "{" ? 1 : /[\]}]/.test(character) ? -1 : 0;
    if (depth <= 0) return at + 1;
  }
  return first + 1;
}

/** A line of the same length, whose strings are blank. */
const withoutTexts = (line: string): string =>
  line.replaceAll(/"(?:\\.|[^"\\])*"|'[^']*'/g, (text) => " ".repeat(text.length));

/** The comment of a line, or nothing. Those of a value that is replaced stand above the new one, but for that of its first line. */
function commentOf(line: string): string {
  const at = withoutTexts(line).indexOf("#");
  return at === -1 ? "" : line.slice(at).trimEnd();
}
