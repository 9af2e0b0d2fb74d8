import type { Node, ParseError, ParseErrorCode } from "jsonc-parser";
import { getLocation, parseTree, printParseErrorCode } from "jsonc-parser";
import { firstNotBelow } from "../../routing/lookup/ranges.ts";
import { type Fault, keysOfPointer, type Place, pointerTo } from "../../routing/schema/faults.ts";
import { parseJson, plainJson, tooDeepAt } from "../../routing/schema/json-scanner.ts";
import { excessOf } from "../../routing/schema/parse.ts";

const SENTENCES: Readonly<Record<string, string>> = {
  PropertyNameExpected:
    "A key in double quotes is expected here; remove the comma before the closing brace, or add the entry.",
  ValueExpected: "A value is expected here; add it, or remove the comma before it.",
  ColonExpected: "A colon is missing between a key and its value; add it.",
  CommaExpected: "A comma is missing between two entries; add it.",
  CloseBraceExpected: "An object that was opened is not closed; add `}`.",
  CloseBracketExpected: "An array that was opened is not closed; add `]`.",
  EndOfFileExpected: "The object ends before this; remove the rest.",
  UnexpectedEndOfComment: "A comment is not closed; add `*/`.",
  UnexpectedEndOfString: "A string ends on the line where it starts; add the closing quote.",
  UnexpectedEndOfNumber: "The number is incomplete; add its digits.",
  InvalidUnicode: "`\\u` must be followed by four hexadecimal digits; correct it.",
  InvalidEscapeCharacter: "JSON has no such escape; write `\\\\` for a backslash.",
  InvalidCharacter: "A string must not contain a control character; write it as an escape such as `\\t`.",
};

/** `found`: the faulty characters. */
export const syntaxSentence = (code: ParseErrorCode, found: string): string => {
  const remedy = "put strings in double quotes. Other values are numbers, true, false or null.";
  return SENTENCES[printParseErrorCode(code)] ?? `${JSON.stringify(found)} is not JSON; ${remedy}`;
};

/** Both from 1; columns in UTF-16 units, as in editors. */
export type Position = { readonly line: number; readonly column: number };

export interface PlacedFault extends Fault, Position {}

/** Deeper than any table, and far below the stack limit of a recursive parser. */
const DEPTH_MAX = 256;

/** At most this many syntax errors: one often causes the next. */
const SYNTAX_FAULTS_MAX = 20;

/**
 * `jsonc`: may have comments and trailing commas. Positions are the same without them. `value`: `undefined` if the syntax is wrong;
 * of duplicate keys the last one counts. `faults`: excess size, syntax errors (at most one per line), or duplicate keys.
 * `positionOf`: the start of the entry of a JSON pointer, or of the nearest existing parent. `noun`: what a file has, in
 * sentences.
 */
export const readJsonText = (jsonc: string, noun = "table") => {
  const text = plainJson(jsonc);
  const position = positionFinder(text);
  const whole = wholeFault(jsonc, noun);
  if (whole !== undefined) {
    const { at, ...fault } = whole;
    const faults: readonly PlacedFault[] = [{ ...position(at), ...fault }];
    return { value: undefined, faults, positionOf: () => position(0) };
  }
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { disallowComments: false });
  const positionOf = (pointer: string): Position => position(tree === undefined ? 0 : offsetOf(tree, pointer));
  if (tree === undefined || errors.length > 0) {
    return { value: undefined, faults: syntaxFaults(text, errors, position), positionOf };
  }
  return { value: JSON.parse(text) as unknown, faults: duplicateKeys(tree, position), positionOf };
};

const isJson = (text: string): boolean => parseJson(text) !== undefined;

/** Faults that make parsing useless. */
const wholeFault = (text: string, noun: string): (Fault & { readonly at: number }) | undefined => {
  const excess = excessOf(text);
  if (excess !== undefined) return { ...excess, kind: "size" };
  const deepAt = tooDeepAt(text, DEPTH_MAX);
  if (deepAt !== undefined) {
    const message = `A ${noun} is never nested ${DEPTH_MAX} levels deep; remove the levels from here on.`;
    return { at: deepAt, pointer: "", kind: "syntax", message };
  }
  const plain = plainJson(text);
  const at = plain.search(/\S/);
  if (at === -1)
    return { at: 0, pointer: "", kind: "syntax", message: `The file is empty; a ${noun} is a JSON object.` };
  // Faults of its syntax as JSON would hide the cause.
  if (plain[at] === "{" || isJson(plain)) return undefined;
  const message = `The file is not JSON: a ${noun} is an object, which begins with \`{\`. YAML and TOML are not read; convert it.`;
  return { at, pointer: "", kind: "syntax", message };
};

const positionFinder = (text: string): ((offset: number) => Position) => {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    const line = firstNotBelow(starts.length, (at) => (starts[at] as number) <= offset);
    return { line, column: offset - (starts[line - 1] as number) + 1 };
  };
};

const syntaxFaults = (text: string, errors: readonly ParseError[], position: (offset: number) => Position) => {
  const faults = new Map<number, PlacedFault>();
  for (const { error, offset, length } of errors) {
    if (faults.size === SYNTAX_FAULTS_MAX) break;
    const place = position(offset);
    if (faults.has(place.line)) continue;
    const message = syntaxSentence(error, text.slice(offset, offset + length));
    faults.set(place.line, { ...place, pointer: pointerTo(placeAround(text, offset)), kind: "syntax", message });
  }
  return [...faults.values()];
};

/** The path of an offset in the value. An unwritten key comes as an empty one. */
const placeAround = (text: string, offset: number): Place => {
  const { path } = getLocation(text, offset);
  return path.at(-1) === "" ? path.slice(0, -1) : path;
};

/** `JSON.parse` silently drops all but the last of equal keys. */
const duplicateKeys = (tree: Node, position: (offset: number) => Position): readonly PlacedFault[] => {
  const faults: PlacedFault[] = [];
  const visit = (node: Node, place: Place): void => {
    const lines = new Map<string, number>();
    for (const [index, child] of (node.children ?? []).entries()) {
      if (node.type === "array") {
        if (child.children !== undefined) visit(child, [...place, index]);
        continue;
      }
      const [key, value] = child.children ?? [];
      if (key === undefined || value === undefined) throw new Error("a JSON property without its value");
      const name = String(key.value);
      const at = position(key.offset);
      const before = lines.get(name);
      lines.set(name, at.line);
      if (before !== undefined) {
        const where = before === at.line ? `line ${at.line}` : `lines ${before} and ${at.line}`;
        const message = `${JSON.stringify(name)} is duplicated, on ${where}, and only the last one would count; remove or rename one.`;
        faults.push({ ...at, pointer: pointerTo([...place, name]), kind: "syntax", message });
      }
      if (value.children !== undefined) visit(value, [...place, name]);
    }
  };
  visit(tree, []);
  return faults;
};

const offsetOf = (tree: Node, pointer: string): number => {
  let { offset } = tree;
  let node: Node | undefined = tree;
  for (const name of pointer === "" ? [] : keysOfPointer(pointer)) {
    const entry: Node | undefined =
      node?.type === "array"
        ? node.children?.[Number(name)]
        : node?.children?.findLast((property) => property.children?.[0]?.value === name);
    if (entry === undefined) break;
    offset = entry.offset;
    node = entry.type === "property" ? entry.children?.[1] : entry;
  }
  return offset;
};
