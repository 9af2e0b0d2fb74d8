import { InvalidArgumentError } from "commander";
import { readOriginUrl } from "../../../routing/compile/origin-url.ts";
import type { CompiledTable } from "../../../routing/index.ts";
import { groupBy } from "../../../routing/layouts/plan.ts";
import { segmentsOf } from "../../../routing/lookup/paths.ts";
import { command, option, withDefault } from "../../command.ts";
import { bytesOf, openInput, TABLE_FILE_DEFAULT, unreadable } from "../../lib/input.ts";
import { countOf, escapeControls, formatCount, jsonText, linesText } from "../../lib/output.ts";
import { compile, readTableFile } from "../../lib/table-file.ts";
import { EXIT, fail, misuse, type Runtime } from "../../runtime.ts";
import { DOCUMENT_BYTES_MAX, readDocument } from "./document.ts";
import {
  type Comparison,
  createComparison,
  type Finding,
  findingOf,
  idsNotRead,
  looksLikeId,
  matchesGiven,
  missingOperations,
} from "./findings.ts";
import { formatNotRead, groupNotRead } from "./not-read.ts";
import { type ContractPath, pathsOf } from "./paths.ts";

/** `base`: `""` for none. `before` and `after`: paths with findings under the current base path, and under this one. */
type BaseHint = NonNullable<ReturnType<typeof hintOfBase>>;

const PREFIXES_MAX = 20;

/** Candidates are ranked on a sample of this many paths. */
const SAMPLE_PATHS = 200;

/** A smaller share may be chance. */
const AGREE_SHARE = 0.9;

/** A base path that resolves nearly all findings. Clients may send another one than the document's servers name. */
const hintOfBase = (paths: readonly ContractPath[], found: readonly Finding[], comparison: Comparison) => {
  // `/paths/~1orders` of `/paths/~1orders/get`: slashes of a template are escaped.
  const disagreeing = new Set(found.map(({ pointer = "" }) => pointer.split("/").slice(0, 3).join("/")));
  const wrong = onePerTemplate(paths).filter(({ pointer }) => disagreeing.has(pointer));
  if (wrong.length === 0) return undefined;
  const used = new Set(paths.map(baseOf));
  const candidates = candidatesOf(used, comparison.table).filter((base) => !used.has(base));
  const sample = wrong.filter((_, at) => at % Math.ceil(wrong.length / SAMPLE_PATHS) === 0);
  const [best] = candidates
    .map((base) => ({ base, left: countWrong(sample, base, comparison) }))
    .sort((a, b) => a.left - b.left);
  if (best === undefined || best.left > sample.length * (1 - AGREE_SHARE)) return undefined;
  const all = onePerTemplate(paths);
  const after = countWrong(all, best.base, comparison);
  return after > wrong.length * (1 - AGREE_SHARE) ? undefined : { base: best.base, before: wrong.length, after };
};

const onePerTemplate = (paths: readonly ContractPath[]): readonly ContractPath[] => [
  ...new Map(paths.map((path) => [path.pointer, path])).values(),
];

const baseOf = ({ path, template }: ContractPath): string => path.slice(0, path.length - template.length);

const countWrong = (paths: readonly ContractPath[], base: string, comparison: Comparison): number =>
  paths.filter((path) => findingOf({ ...path, path: base + path.template }, comparison).length > 0).length;

/** Candidates: none, parts of the current ones, and prefixes of the table's paths; the shortest first. */
const candidatesOf = (used: ReadonlySet<string>, table: CompiledTable): readonly string[] => {
  const parts = [...used].flatMap((base) => {
    const segments = segmentsOf(base);
    return segments.flatMap((_, at) => [joined(segments.slice(at)), joined(segments.slice(0, at))]);
  });
  const prefixes = groupBy(patternsOf(table).flatMap(prefixesOf), (prefix) => prefix);
  const frequent = [...prefixes].sort(([, a], [, b]) => b.length - a.length).slice(0, PREFIXES_MAX);
  const all = new Set(["", ...parts, ...frequent.map(([prefix]) => prefix)]);
  return [...all].sort((a, b) => a.length - b.length);
};

/** `/api` and `/api/v1` of `/api/v1/orders/:id`: a literal segment must remain. */
const prefixesOf = (pattern: string): readonly string[] => {
  const segments = segmentsOf(pattern);
  const end = segments.findIndex((segment) => segment === ":id" || segment === "*" || segment === "**");
  const literals = end === -1 ? segments : segments.slice(0, end);
  return literals.slice(1).map((_, at) => joined(literals.slice(0, at + 1)));
};

const joined = (segments: readonly string[]): string => segments.map((segment) => `/${segment}`).join("");

/** A line for stderr. `given`: the value of `--base-path`. */
const formatHint = ({ base, before, after }: BaseHint, paths: readonly ContractPath[], given?: string) => {
  const used = [...new Set(paths.map(baseOf))].map((each) => (each === "" ? "none" : each));
  const whose = given === undefined ? "of the document's servers" : "given";
  const some = `${formatCount(before - after)} of the ${formatCount(before)} paths that disagree`;
  const which = before === 1 ? "the path that disagrees" : some;
  return `hint: the base path ${whose} is ${used.slice(0, 3).join(", ")}; with --base-path ${base === "" ? "/" : base} ${which} would agree`;
};

const expression = (text: string): RegExp => {
  try {
    return new RegExp(text, "u");
  } catch {
    throw new InvalidArgumentError("It must be a regular expression, such as ^(id|.*Number)$.");
  }
};

const basePath = (text: string): string => {
  if (text === "/" || /^(?:\/[^/?#]+)+$/.test(text)) return text === "/" ? "" : text;
  throw new InvalidArgumentError("It must be a path without a slash at its end, such as /v1, or / for none.");
};

export const contract = command({
  name: "contract",
  description: "compare an origin's OpenAPI document with the routing table, in both directions",
  args: [["<openapi>", "OpenAPI 3.x as YAML or JSON; - reads it from stdin"]],
  options: [
    withDefault("--table <file>", "the routing table", TABLE_FILE_DEFAULT),
    option("--entity-prefix <path...>", "paths of the table that the document covers (default: all)"),
    option("--id-param <regex>", "regular expression for the names of ID parameters", expression),
    option("--base-path <path>", "path prefix that clients use (default: from the document's servers)", basePath),
    option("--json", "one JSON object per line"),
  ],
  help: `
Examples:
  $ waybill contract openapi.yaml
  $ waybill contract orders.yaml --entity-prefix /orders /v2/orders --json
  $ waybill contract openapi.json --id-param '^(id|.*Number)$'

A parameter is an ID if its name is like id, …Id, …_id, …uuid, or its format like uuid. docs/reference/cli.md lists the kinds.
It counts the parts that it does not compare, such as webhooks, and names the first ones; they are no findings.
Exit code: 0 without findings, 2 with findings, 1 if a file cannot be read.`,
  run: async (runtime, [path = ""], options) => {
    const name = path === "-" ? "stdin" : path;
    const file = escapeControls(name);
    if (path === "-" && options.table === "-") misuse("error: only one of the two files can be stdin\n");
    const { name: tableName, table } = await readTableFile(options.table, runtime, compile);
    const stray = strayPrefix(options.entityPrefix ?? [], table);
    if (stray !== undefined) {
      const where = escapeControls(`no path of ${tableName} is ${stray} or below it`);
      fail(`error: ${where}, so there is nothing to compare (--entity-prefix)\n`);
    }
    const document = readDocument(await readBytes(path, name, runtime));
    if (!document.ok) return fail(`error: ${file} is not an OpenAPI document: ${escapeControls(document.error)}\n`);
    const isId = options.idParam === undefined ? looksLikeId : matchesGiven(options.idParam);
    const comparison = createComparison(table, isId);
    const read = pathsOf(document.value, originBases(table), options.basePath);
    if (!read.ok) return fail(`error: ${file}: ${escapeControls(read.error)}\n`);
    const { paths } = read.value;
    const findings = findAll(paths, comparison, options.entityPrefix);
    const templates = onePerTemplate(paths);
    const isFound = new Set(findings.flatMap(({ kind, pointer }) => (kind === "literal-for-id" ? [pointer] : [])));
    const ids = templates.filter(({ pointer }) => !isFound.has(pointer)).flatMap((path) => idsNotRead(path, isId));
    const notRead = groupNotRead([...read.value.notRead, ...ids]);
    await runtime.print(
      options.json ? jsonText(...findings, ...notRead) : linesText(findings.map(formatFinding(name, options.table))),
    );
    const unread = new Set(paths.flatMap((each) => each.unread.map(({ pointer }) => pointer))).size;
    const parts = [
      countOf(templates.length, "path"),
      ...(unread === 0 ? [] : [`${countOf(unread, "reference")} not read`]),
      countOf(findings.length, "finding"),
    ];
    runtime.report(`${file}: ${parts.join(", ")}\n`);
    for (const group of notRead) runtime.report(`${escapeControls(formatNotRead(group))}\n`);
    const hint = hintOfBase(paths, findings, comparison);
    if (hint !== undefined) runtime.report(`${escapeControls(formatHint(hint, paths, options.basePath))}\n`);
    return findings.length === 0 ? EXIT.ok : EXIT.differs;
  },
});

const readBytes = async (path: string, name: string, runtime: Runtime): Promise<Uint8Array> => {
  const { chunks } = await openInput(path, runtime);
  // An open file may still fail to read: EIO, or a lost network share.
  const bytes = await bytesOf(chunks, DOCUMENT_BYTES_MAX).catch((error) => unreadable(name, error.message));
  return bytes ?? unreadable(name, `it is larger than ${DOCUMENT_BYTES_MAX} bytes`);
};

/** A path with several base paths agrees if it does so under one. */
const findAll = (
  paths: readonly ContractPath[],
  comparison: Comparison,
  prefixes: readonly string[] | undefined,
): readonly Finding[] => {
  const byPointer = new Map<string, readonly Finding[]>();
  for (const path of paths) {
    const found = findingOf(path, comparison);
    const before = byPointer.get(path.pointer);
    if (before === undefined || found.length < before.length) byPointer.set(path.pointer, found);
  }
  const isMeant = (pattern: string) => prefixes === undefined || prefixes.some((prefix) => isAt(prefix, pattern));
  return [...[...byPointer.values()].flat(), ...missingOperations(paths, comparison.table, isMeant)];
};

const isAt = (prefix: string, pattern: string): boolean =>
  pattern === prefix || pattern.startsWith(`${prefix.replace(/\/$/, "")}/`);

/** A prefix that matches no path of the table: most likely misspelled. */
const strayPrefix = (prefixes: readonly string[], table: CompiledTable): string | undefined =>
  prefixes.find((prefix) => !patternsOf(table).some((pattern) => isAt(prefix, pattern)));

const patternsOf = ({ entities, withoutId }: CompiledTable): readonly string[] =>
  [...entities.values(), ...withoutId.entries.map(({ entity }) => entity)].flatMap(({ paths }) => paths);

/** Base paths of the table's origins, which the gateway adds to the client's path. */
const originBases = ({ regions }: CompiledTable): readonly string[] => {
  const bases = [...regions.values()].flatMap(({ origins }) =>
    origins.flatMap(({ url }) => {
      const read = readOriginUrl(url);
      return read.ok && read.value.basePath !== "" ? [read.value.basePath] : [];
    }),
  );
  return [...new Set(bases)];
};

/** `openapi.yaml: /paths/~1orders~1{id}: /orders/{id}: … (id-without-entity)`. */
const formatFinding =
  (document: string, table: string) =>
  ({ kind, pointer, table: place, path, message }: Finding): string => {
    const where = pointer === undefined ? `${table}: ${place}` : `${document}: ${pointer}`;
    return escapeControls(`${where}: ${path}: ${message} (${kind})`);
  };
