import type { CompiledTable } from "../routing/index.ts";
import { segmentsOf } from "../routing/paths.ts";
import { type Finding, findingOf } from "./contract-findings.ts";
import type { IdTest } from "./contract-ids.ts";
import type { ContractPath } from "./contract-paths.ts";
import { formatCount } from "./grouped.ts";

/** Another base path with which nearly all paths that disagree would agree. */
export interface BaseHint {
  /** `""` for none. */
  readonly base: string;
  /** Paths with findings as it is, and with that base path. */
  readonly before: number;
  readonly after: number;
}

/** No table has more prefixes that are worth trying; the most frequent come first. */
const PREFIXES_MAX = 20;

/** So many paths of the document tell which base path is worth trying on all. */
const SAMPLE_PATHS = 200;

/** Nine of ten paths that disagree must agree with the other base path; a smaller part may be chance. */
const AGREE_SHARE = 0.9;

/**
 * The base path that the document's paths have for the table, if nearly all findings come of another one: that of the servers,
 * which may not be what clients of the gateway send, or that which was given.
 */
export const hintOfBase = (
  paths: readonly ContractPath[],
  findings: readonly Finding[],
  table: CompiledTable,
  isId: IdTest,
): BaseHint | undefined => {
  const disagreeing = new Set(findings.map(({ pointer = "" }) => placeOfPath(pointer)));
  const wrong = onePerTemplate(paths).filter(({ pointer }) => disagreeing.has(pointer));
  if (wrong.length === 0) return undefined;
  const used = new Set(paths.map(baseOf));
  const candidates = candidatesOf(used, table).filter((base) => !used.has(base));
  const sample = wrong.filter((_, at) => at % Math.ceil(wrong.length / SAMPLE_PATHS) === 0);
  const [best] = candidates
    .map((base) => ({ base, left: countWrong(sample, base, table, isId) }))
    .sort((a, b) => a.left - b.left);
  if (best === undefined || best.left > sample.length * (1 - AGREE_SHARE)) return undefined;
  const all = onePerTemplate(paths);
  const after = countWrong(all, best.base, table, isId);
  return after > wrong.length * (1 - AGREE_SHARE) ? undefined : { base: best.base, before: wrong.length, after };
};

/** `/paths/~1orders/get` is of `/paths/~1orders`: a slash inside of a template is written otherwise. */
const placeOfPath = (pointer: string): string => pointer.split("/").slice(0, 3).join("/");

const onePerTemplate = (paths: readonly ContractPath[]): readonly ContractPath[] => [
  ...new Map(paths.map((path) => [path.pointer, path])).values(),
];

const baseOf = ({ path, template }: ContractPath): string => path.slice(0, path.length - template.length);

const countWrong = (paths: readonly ContractPath[], base: string, table: CompiledTable, isId: IdTest): number =>
  paths.filter((path) => findingOf({ ...path, path: base + path.template }, table, isId).length > 0).length;

/** None, parts of those in use, and what the table's own paths begin with, the shortest first. */
const candidatesOf = (used: ReadonlySet<string>, table: CompiledTable): readonly string[] => {
  const parts = [...used].flatMap((base) => {
    const segments = segmentsOf(base);
    return segments.flatMap((_, at) => [joined(segments.slice(at)), joined(segments.slice(0, at))]);
  });
  const prefixes = new Map<string, number>();
  const owners = [...table.entities.values(), ...table.withoutId.entries.map(({ entity }) => entity)];
  for (const pattern of owners.flatMap((owner) => owner.paths)) {
    for (const prefix of prefixesOf(pattern)) prefixes.set(prefix, (prefixes.get(prefix) ?? 0) + 1);
  }
  const frequent = [...prefixes].sort(([, a], [, b]) => b - a).slice(0, PREFIXES_MAX);
  const all = new Set(["", ...parts, ...frequent.map(([prefix]) => prefix)]);
  return [...all].sort((a, b) => a.length - b.length);
};

/** `/api` and `/api/v1` of `/api/v1/orders/:id`: what leaves literal text, or any path would do. */
const prefixesOf = (pattern: string): readonly string[] => {
  const segments = segmentsOf(pattern);
  const end = segments.findIndex((segment) => segment === ":id" || segment === "*" || segment === "**");
  const literals = end === -1 ? segments : segments.slice(0, end);
  return literals.slice(1).map((_, at) => joined(literals.slice(0, at + 1)));
};

const joined = (segments: readonly string[]): string => segments.map((segment) => `/${segment}`).join("");

/** A line for stderr. `given`: what `--base-path` said, `undefined` where the servers did. */
export const formatHint = (
  { base, before, after }: BaseHint,
  paths: readonly ContractPath[],
  given?: string,
): string => {
  const used = [...new Set(paths.map(baseOf))].map((each) => (each === "" ? "none" : each));
  const whose = given === undefined ? "of the document's servers" : "given";
  const which =
    before === 1
      ? "the path that disagrees"
      : `${formatCount(before - after)} of the ${formatCount(before)} paths that disagree`;
  return `hint: the base path ${whose} is ${used.slice(0, 3).join(", ")}; with --base-path ${base === "" ? "/" : base} ${which} would agree`;
};
