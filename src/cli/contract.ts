import { type Command, InvalidArgumentError } from "commander";
import { err, ok, type Result } from "../ids/index.ts";
import type { CompiledTable } from "../routing/index.ts";
import { readOriginUrl } from "../routing/origin-url.ts";
import type { Act } from "./action.ts";
import { DOCUMENT_BYTES_MAX, readDocument } from "./contract-document.ts";
import { type Finding, findingOf } from "./contract-findings.ts";
import { formatHint, hintOfBase } from "./contract-hint.ts";
import { type IdTest, looksLikeId, matchesGiven } from "./contract-ids.ts";
import { missingOperations } from "./contract-missing.ts";
import { type ContractPath, pathsOf } from "./contract-paths.ts";
import { bytesOf } from "./lines.ts";
import { escapeControls } from "./printable.ts";
import { fail } from "./refuse.ts";
import { compile, countOf, formatTableError, readTableFile, TABLE_FILE_DEFAULT } from "./table-file.ts";
import { EXIT, type ExitCode, type Runtime } from "./world.ts";

interface Options {
  readonly table: string;
  readonly entityPrefix?: readonly string[];
  readonly idParam?: RegExp;
  readonly basePath?: string;
  readonly json?: boolean;
}

/** `waybill contract`: what an origin says of its paths, held against what the table says of them. */
export const addContract = (parent: Command, act: Act): void => {
  parent
    .command("contract")
    .description("compare an origin's OpenAPI document with the routing table, both ways")
    .argument("<openapi>", "OpenAPI 3.x as YAML or JSON; - reads it from stdin")
    .option("--table <file>", "the routing table", TABLE_FILE_DEFAULT)
    .option("--entity-prefix <path...>", "paths of the table that the document is about (default: all)")
    .option("--id-param <regex>", "names of parameters that are IDs, and no others", expression)
    .option(
      "--base-path <path>",
      "what clients put before the document's paths (default: that of its servers)",
      basePath,
    )
    .option("--json", "one JSON object a line")
    .addHelpText("after", HELP)
    .action(act(compareContract));
};

const HELP = `
Examples:
  $ waybill contract openapi.yaml
  $ waybill contract orders.yaml --entity-prefix /orders /v2/orders --json
  $ waybill contract openapi.json --id-param '^(id|.*Number)$'

A parameter is taken for an ID when it is named id, …Id, …_id, …uuid or alike, or its format is uuid or alike. docs/contract.md has the kinds.
Exit code: 0 when they agree, 2 with findings, 1 when one of the files cannot be read.`;

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

const compareContract = async (
  runtime: Runtime,
  [path = ""]: readonly string[],
  options: Options,
): Promise<ExitCode> => {
  const name = path === "-" ? "stdin" : path;
  if (path === "-" && options.table === "-")
    return fail("error: only one of the two files can come from stdin\n", runtime);
  const table = await readTableFile(options.table, runtime, compile);
  if (!table.ok) return fail(formatTableError(table.error), runtime);
  const stray = strayPrefix(options.entityPrefix ?? [], table.value.table);
  if (stray !== undefined) {
    const where = escapeControls(`no path of ${table.value.name} is ${stray} or below it`);
    return fail(`error: ${where}, so nothing would be compared with it (--entity-prefix)\n`, runtime);
  }
  const bytes = await readBytes(path, runtime);
  if (!bytes.ok)
    return fail(`error: ${escapeControls(name)} cannot be read: ${escapeControls(bytes.error)}\n`, runtime);
  const document = readDocument(bytes.value);
  if (!document.ok)
    return fail(`error: ${escapeControls(name)} is no OpenAPI document: ${escapeControls(document.error)}\n`, runtime);

  const isId = options.idParam === undefined ? looksLikeId : matchesGiven(options.idParam);
  const read = pathsOf(document.value, originBases(table.value.table), options.basePath);
  if (!read.ok) return fail(`error: ${escapeControls(name)}: ${escapeControls(read.error)}\n`, runtime);
  const paths = read.value;
  const findings = findAll(paths, table.value.table, isId, options.entityPrefix);
  const line = options.json ? (finding: Finding) => JSON.stringify(finding) : formatFinding(name, options.table);
  await runtime.print(findings.map((finding) => `${line(finding)}\n`).join(""));
  const count = new Set(paths.map(({ pointer }) => pointer)).size;
  runtime.report(`${escapeControls(name)}: ${countOf(count, "path")}, ${countOf(findings.length, "finding")}\n`);
  const hint = hintOfBase(paths, findings, table.value.table, isId);
  if (hint !== undefined) runtime.report(`${escapeControls(formatHint(hint, paths, options.basePath))}\n`);
  return findings.length === 0 ? EXIT.ok : EXIT.differs;
};

const readBytes = async (path: string, runtime: Runtime): Promise<Result<Uint8Array, string>> => {
  const file = path === "-" ? ok(runtime.stdin) : await runtime.openFile(path);
  if (!file.ok) return file;
  try {
    const bytes = await bytesOf(file.value.chunks, DOCUMENT_BYTES_MAX);
    return bytes === undefined ? err(`it is larger than ${DOCUMENT_BYTES_MAX} octets`) : ok(bytes);
  } catch (error) {
    // A file can be open and not readable all the same: EIO, or a share that went away.
    return err(error instanceof Error ? error.message : String(error));
  }
};

/** A path that stands under several base paths agrees when it does so under one. */
const findAll = (
  paths: readonly ContractPath[],
  table: CompiledTable,
  isId: IdTest,
  prefixes: readonly string[] | undefined,
): readonly Finding[] => {
  const byPointer = new Map<string, readonly Finding[]>();
  for (const path of paths) {
    const found = findingOf(path, table, isId);
    const before = byPointer.get(path.pointer);
    if (before === undefined || found.length < before.length) byPointer.set(path.pointer, found);
  }
  const isMeant = (pattern: string) => prefixes === undefined || prefixes.some((prefix) => isAt(prefix, pattern));
  return [...[...byPointer.values()].flat(), ...missingOperations(paths, table, isMeant)];
};

const isAt = (prefix: string, pattern: string): boolean =>
  pattern === prefix || pattern.startsWith(`${prefix.replace(/\/$/, "")}/`);

/** A prefix that is none of any path in the table: most likely it is misspelt. */
const strayPrefix = (prefixes: readonly string[], { entities, withoutId }: CompiledTable): string | undefined => {
  const owners = [...entities.values(), ...withoutId.entries.map(({ entity }) => entity)];
  const patterns = owners.flatMap(({ paths }) => paths);
  return prefixes.find((prefix) => !patterns.some((pattern) => isAt(prefix, pattern)));
};

/** Base paths of the table's origins: the gateway puts them before the client's path. */
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
  ({ kind, pointer, table: place, path, message }: Finding): string =>
    escapeControls(
      `${pointer === undefined ? `${table}: ${place}` : `${document}: ${pointer}`}: ${path}: ${message} (${kind})`,
    );
