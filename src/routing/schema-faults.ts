import type * as v from "valibot";
import type { FaultKind, Place, Report } from "./faults.ts";

/** Turns an issue of the schema into a fault with a sentence that says how to mend it. `prefix`: where its value stands. */
export const reportIssue = (issue: v.BaseIssue<unknown>, report: Report, prefix: Place = []): void => {
  const inner = innerIssues(issue);
  for (const each of inner) {
    const inside = [...(issue.path ?? []), ...(each === issue ? [] : (each.path ?? []))];
    report(kindOf(each), [...prefix, ...inside.map(({ key }) => keyOf(key))], sentenceOf(each));
  }
};

const keyOf = (key: unknown): string | number => (typeof key === "number" ? key : String(key));

/** A union that has one fitting arm by its type reports the issues of that arm: they say more than "none of these". */
const innerIssues = (issue: v.BaseIssue<unknown>): readonly v.BaseIssue<unknown>[] => {
  if (issue.type !== "union" || issue.issues === undefined) return [issue];
  const deeper = issue.issues.filter((each) => each.kind === "validation" || isInside(issue.input, each));
  if (deeper.length === 0) return [issue];
  return deeper.flatMap((each) =>
    innerIssues(each).map((leaf) => (leaf === each ? leaf : { ...leaf, path: joinPaths(each.path, leaf.path) })),
  );
};

/** An arm for objects looks for its keys in a list too, and what it says of those is of no use. */
const isInside = (input: unknown, { path }: v.BaseIssue<unknown>): boolean =>
  path !== undefined && (!Array.isArray(input) || typeof path[0]?.key === "number");

type IssuePath = v.BaseIssue<unknown>["path"];

const joinPaths = (outer: IssuePath, inner: IssuePath): IssuePath => {
  const [first, ...rest] = [...(outer ?? []), ...(inner ?? [])];
  return first === undefined ? undefined : [first, ...rest];
};

const SIZE_TYPES: ReadonlySet<string> = new Set(["max_length", "max_entries"]);

const kindOf = (issue: v.BaseIssue<unknown>): FaultKind => (SIZE_TYPES.has(issue.type) ? "size" : "schema");

/** The library's own sentences start like this; a sentence of the schema's own is passed on as it is. */
const LIBRARY_SENTENCE = /^Invalid /;

const sentenceOf = (issue: v.BaseIssue<unknown>): string => {
  if (!LIBRARY_SENTENCE.test(issue.message)) return issue.message;
  const key = issue.path?.at(-1)?.key;
  if (issue.type === "strict_object" && issue.expected === "never") {
    return `${JSON.stringify(key)} is not a key that may stand here; remove it or correct its spelling.`;
  }
  if (issue.received === "undefined" && issue.path !== undefined) return `${JSON.stringify(key)} is missing; add it.`;
  if (SIZE_TYPES.has(issue.type))
    return `At most ${issue.expected?.slice(2)} may stand here; there are ${issue.received}.`;
  return `Expected ${issue.expected ?? "another value"}, found ${issue.received}; correct the value.`;
};
