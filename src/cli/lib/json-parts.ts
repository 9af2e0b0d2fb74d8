import type { Node } from "jsonc-parser";
import { JsonScanner } from "../../routing/schema/json-scanner.ts";

/** To which entry of a JSONC object its white space and comments belong. */

export interface Item {
  readonly key: string;
  /** Among the entries as they were; `undefined` for a new one. */
  readonly at?: number | undefined;
  /** White space and comments before it. */
  readonly lead: string;
  /** Further comments before it. */
  readonly notes?: readonly string[];
  /** Key and value. */
  readonly core: string;
  readonly value?: Node | undefined;
  /** Comments behind it on its line. */
  readonly trail: string;
}

export interface Opened {
  /** Comments on the line of the opening brace. */
  readonly head: string;
  readonly items: readonly Item[];
  /** From each entry to the next one or to the closing brace, with the comma. */
  readonly gaps: readonly string[];
  readonly tail: string;
  readonly hasLastComma: boolean;
}

export const openObject = (text: string, object: Node | undefined): Opened => {
  if (object === undefined) return { head: "", items: [], gaps: [], tail: "", hasLastComma: false };
  const properties = object.children ?? [];
  const inside = text.slice(object.offset + 1, properties[0]?.offset ?? endOf(object) - 1);
  const first = properties.length === 0 ? cutSpace(inside) : (divide(inside) ?? ["", inside]);
  const gaps = properties.map((property, at) =>
    text.slice(endOf(property), properties[at + 1]?.offset ?? endOf(object) - 1),
  );
  let lead = first[1];
  const items = properties.map((property, at): Item => {
    const { trail, rest } = readGap(gaps[at] as string, at === properties.length - 1);
    const core = text.slice(property.offset, endOf(property));
    const item = { key: keyOf(property), at, lead, core, value: property.children?.[1], trail };
    lead = rest;
    return item;
  });
  return { head: first[0].trimEnd(), items, gaps, tail: lead, hasLastComma: commaIn(gaps.at(-1) ?? "") !== undefined };
};

/** Divides a gap: the part of the entry before it, and the rest without the comma. */
const readGap = (gap: string, isLast: boolean) => {
  const comma = commaIn(gap);
  const [before, behind] = comma === undefined ? ["", gap] : [gap.slice(0, comma), gap.slice(comma + 1)];
  const [own, others] = divide(before) ?? [before, ""];
  const [note, rest] = divide(behind) ?? (isLast ? cutSpace(behind) : ["", behind]);
  return { trail: (own + note).trimEnd(), rest: others + rest };
};

const cutSpace = (text: string): readonly [string, string] => {
  const end = text.trimEnd().length;
  return [text.slice(0, end), text.slice(end)];
};

const commaIn = (gap: string): number | undefined => {
  const scanner = new JsonScanner(gap);
  for (let token = scanner.next(); token !== ""; token = scanner.next()) if (token === ",") return scanner.at;
  return undefined;
};

/** The line ends outside of comments, each by its index. */
const lineEndsIn = (space: string): readonly number[] => {
  const ends: number[] = [];
  const scanner = new JsonScanner(space);
  let from = 0;
  for (let token = scanner.next(); ; token = scanner.next()) {
    for (let at = space.indexOf("\n", from); at !== -1 && at < scanner.at; at = space.indexOf("\n", at + 1)) {
      ends.push(space[at - 1] === "\r" ? at - 1 : at);
    }
    from = scanner.end;
    if (token === "") return ends;
  }
};

/** White space and comments, divided before the first line end outside of a comment. */
const divide = (space: string): readonly [string, string] | undefined => {
  const [end] = lineEndsIn(space);
  return end === undefined ? undefined : [space.slice(0, end), space.slice(end)];
};

/** The last line end and the indent behind it. */
export const lineStart = (lead: string): string | undefined => {
  const end = lineEndsIn(lead).at(-1);
  return end === undefined ? undefined : /^\r?\n[ \t]*/.exec(lead.slice(end))?.[0];
};

export const commentsIn = (text: string): readonly string[] => {
  const comments: string[] = [];
  const scanner = new JsonScanner(text);
  for (let token = scanner.next(); token !== ""; token = scanner.next()) {
    if (token === "/") comments.push(text.slice(scanner.at, scanner.end).trimEnd());
  }
  return comments;
};

/** Divides after the last blank line. Comments before it belong to no entry. */
export const splitLead = (lead: string): readonly [others: string, own: string] => {
  const ends = lineEndsIn(lead);
  const last = ends.findLast((end, at) => at > 0 && lead.slice(ends[at - 1], end).trim() === "");
  if (last === undefined || commentsIn(lead.slice(0, last)).length === 0) return ["", lead];
  return [lead.slice(0, last).trimEnd(), lead.slice(last)];
};

/** Takes white space and comments, or an entry. */
export const endsInLineComment = (text: string): boolean => {
  const scanner = new JsonScanner(text);
  let last = "";
  for (let token = scanner.next(); token !== ""; token = scanner.next()) {
    last = token === "/" && scanner.end === text.length ? text.slice(scanner.at, scanner.at + 2) : "";
  }
  return last === "//";
};

export const keyOf = ({ children }: Node): string => String(children?.[0]?.value);

export const endOf = ({ offset, length }: Node): number => offset + length;
