import fc from "fast-check";
import { FieldRewriter, type ToPublic } from "../../../src/features/public-ids/serve/fields.ts";
import {
  compileFieldPaths,
  type FieldPaths,
  type PublicField,
} from "../../../src/features/public-ids/table/field-paths.ts";
import type { JsonError, JsonFraming } from "../../../src/proxy/json-bytes.ts";

/** JSON documents as text whose every token is known, and the rewriter in the plainest way. */

/** A document: what is written, and what it means. `text` is there for strings and whole numbers. */
export type Tree =
  | { readonly raw: string; readonly text?: string; readonly gap: string }
  | { readonly elements: readonly Tree[]; readonly gap: string }
  | { readonly members: readonly (readonly [name: string, raw: string, value: Tree])[]; readonly gap: string };

const NAMES = ["id", "items", "orderId", "a", "*", "**", "0", "1", "é", 'q"x', "a/b", "m~n", "", "__proto__"];
const IDS = ["id-1", "id-é", "id-\u{1f600}", "id-\n", "id-longer-than-most-others"];

/** Each UTF-16 unit as itself, where that is allowed, or as one of its escapes. */
const spell = (text: string, dice: readonly number[]): string => {
  let raw = "";
  for (const [at, character] of [...text].entries()) {
    const die = dice[at % dice.length] ?? 0;
    const plain = JSON.stringify(character).slice(1, -1);
    if (die % 3 !== 0) raw += character === "/" && die % 2 === 0 ? "\\/" : plain;
    else
      for (let unit = 0; unit < character.length; unit++) {
        const hex = character.charCodeAt(unit).toString(16).padStart(4, "0");
        raw += `\\u${die % 2 === 0 ? hex : hex.toUpperCase()}`;
      }
  }
  return `"${raw}"`;
};

const anyDice = fc.array(fc.nat(99), { minLength: 1, maxLength: 9 });
const anyGap = fc.constantFrom("", "", " ", "\n\t", "\r\n  ");
const anyString = fc
  .tuple(fc.oneof(fc.constantFrom(...IDS, ...NAMES, "0".repeat(300)), fc.string({ unit: "binary" })), anyDice)
  .map(([text, dice]) => ({ text, raw: spell(text, dice) }));
const anyNumber = fc
  .constantFrom("0", "-0", "7", "12", "10000000000000000000001", "-1", "1e5", "0.50E-7", "2E+1", "1.0")
  .map((raw) => (/^\d+$/.test(raw) ? { raw, text: raw } : { raw }));
const anyName = fc.tuple(fc.oneof(fc.constantFrom(...NAMES), fc.string()), anyDice);

export const { tree: anyTree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc
      .tuple(
        fc.oneof(
          anyString,
          anyNumber,
          fc.constantFrom("true", "false", "null").map((raw) => ({ raw })),
        ),
        anyGap,
      )
      .map(([token, gap]): Tree => ({ ...token, gap })),
    fc.record({ elements: fc.array(tie("tree"), { maxLength: 5 }), gap: anyGap }),
    fc.record({
      members: fc.array(
        fc.tuple(anyName, tie("tree")).map(([[name, dice], value]) => [name, spell(name, dice), value] as const),
        { maxLength: 5 },
      ),
      gap: anyGap,
    }),
  ),
}));

/** The text of a document, with what stands at each place put through `map`. */
export const print = (tree: Tree, map: (names: readonly string[], text: string) => string | undefined): string => {
  const visit = (node: Tree, names: readonly string[]): string => {
    const { gap } = node;
    if ("raw" in node) {
      const mapped = node.text === undefined ? undefined : map(names, node.text);
      return gap + (mapped === undefined ? node.raw : JSON.stringify(mapped)) + gap;
    }
    if ("elements" in node)
      return `${gap}[${node.elements.map((value, index) => visit(value, [...names, `${index}`])).join(",") || gap}]${gap}`;
    const members = node.members.map(([name, raw, value]) => `${gap}${raw}${gap}:${visit(value, [...names, name])}`);
    return `${gap}{${members.join(",") || gap}}${gap}`;
  };
  return visit(tree, []);
};

/** Whether a path leads to a place, by trying all ways. */
export const matches = (path: string, names: readonly string[]): boolean => {
  const segments = path === "" ? [] : path.slice(1).split("/");
  const match = (at: number, from: number): boolean => {
    const segment = segments[at];
    if (segment === undefined) return from === names.length;
    if (segment === "**") return match(at + 1, from) || (from < names.length && match(at, from + 1));
    const name = segment.replaceAll("~1", "/").replaceAll("~0", "~");
    return from < names.length && (segment === "*" || name === names[from]) && match(at + 1, from + 1);
  };
  return match(0, 0);
};

const anySegment = fc.constantFrom("id", "items", "orderId", "a", "*", "**", "0", "1", "é", 'q"x', "a~1b", "m~0n", "");
export const anyPath = fc
  .array(anySegment, { maxLength: 5 })
  .map((segments) => segments.map((segment) => `/${segment}`).join(""));

export const entityFields = (...paths: readonly string[]): readonly PublicField[] =>
  paths.map((path) => ({ path, entity: "order" }));

export const compiled = (fields: readonly PublicField[]): FieldPaths => {
  const paths = compileFieldPaths(fields);
  if (!paths.ok) throw new Error(JSON.stringify(paths.error));
  return paths.value;
};

/** Public IDs for texts that look like the IDs above, with characters that JSON must escape. */
export const shout: ToPublic = (entity, text) =>
  text.startsWith("id-") || /^1\d/.test(text) ? `${entity} "${text.toUpperCase()}"\\` : undefined;

export const rewriterOf = (fields: readonly PublicField[], framing: JsonFraming = "document"): FieldRewriter =>
  new FieldRewriter({ paths: compiled(fields), toPublic: shout, framing });

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
export const bytes = (text: string): Uint8Array => encoder.encode(text);

/** The body in pieces that end at the given places. */
export const cutAt = (body: Uint8Array, places: readonly number[]): readonly Uint8Array[] => {
  const ends = [...places.map((place) => place % (body.length + 1)), body.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => body.slice(ends[index - 1] ?? 0, end));
};

/** All that comes out, as text, or the error; every chunk is wiped after its turn, as a reader may do. */
export const runThrough = (
  rewriter: FieldRewriter,
  chunks: readonly Uint8Array[],
): { readonly text: string } | { readonly error: JsonError } => {
  const out: number[] = [];
  for (const chunk of [...chunks, undefined]) {
    const pieces = chunk === undefined ? rewriter.end() : rewriter.push(chunk);
    if (!pieces.ok) return { error: pieces.error };
    for (const piece of pieces.value) for (const byte of piece) out.push(byte);
    chunk?.fill(0x7b);
  }
  return { text: decoder.decode(Uint8Array.from(out)) };
};
