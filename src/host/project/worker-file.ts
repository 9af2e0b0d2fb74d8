import * as nodeModule from "node:module";
import { dirname, relative, resolve } from "node:path";
import { type ImportSpecifier, init, parse } from "es-module-lexer";
import { err, ok, type Result } from "../../ids/index.ts";
import { DURABLE_OBJECTS } from "../workerd/config-text.ts";
import { FOR_PROJECTS } from "../workerd/table-modules.ts";

export interface ProjectWorker {
  /** Code of the main module, whose imports lead to the prebuilt modules. */
  readonly code: string;
  /** Absolute path of the table that it imports; `undefined` if it imports none. */
  readonly tableFile: string | undefined;
}

const WORKER = "waybill/worker";
const OBJECTS = "waybill/worker/objects";

/** Where `waybill prepare` looks for a project's own Worker, in this order. */
export const WORKER_FILES = ["src/worker.ts", "src/worker.js", "worker.ts", "worker.js"];

/** The Worker that a project without a file of its own has. */
export const WORKER_TEXT = `import { gateway } from "${WORKER}";
import table from "../routing-table.json";
export * from "${OBJECTS}";
export default gateway(table);
`;

/** How a Worker with other imports is deployed. */
const REMEDY = `Keep the Worker in one file, or let wrangler bundle it. Then wrangler.toml has:
  main = "src/worker.ts"            and neither base_dir, no_bundle nor rules
  [build]
  command = "npx waybill prepare --no-worker"`;

/**
 * A project's own Worker as the main module of prebuilt ones, which are uploaded as they are: no bundler follows its imports. So
 * it imports the gateway, the classes and its table alone. The error names the line and the remedy.
 */
export async function readWorkerFile(path: string, text: string): Promise<Result<ProjectWorker, string>> {
  const name = relative(process.cwd(), resolve(path));
  const javaScript = path.endsWith(".ts") ? stripTypes(name, text) : ok(text);
  if (!javaScript.ok) return javaScript;
  await init;
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(javaScript.value, name);
  } catch (error) {
    return err(`${error instanceof Error ? error.message : error}\nIt cannot be read as a module.`);
  }
  const [imports, exports] = parsed;
  const code = resolveImports(name, path, javaScript.value, imports);
  if (!code.ok) return code;
  const statements = imports.map(({ n, ss, se }) => [n, javaScript.value.slice(ss, se)] as const);
  const missing = missingParts(
    statements,
    exports.map(({ n }) => n),
  );
  return missing === undefined ? code : err(`${name}: ${missing}\nA Worker is:\n${indented(WORKER_TEXT)}`);
}

const indented = (text: string): string => text.trimEnd().replace(/^/gm, "  ");

/** Imports of the runtime's own modules stay as they are. */
const OF_RUNTIME = /^cloudflare:/;

function resolveImports(
  name: string,
  path: string,
  text: string,
  imports: readonly ImportSpecifier[],
): Result<ProjectWorker, string> {
  const tables = new Set<string>();
  let code = "";
  let at = 0;
  for (const { n: specifier, s, ss, se, t: type } of imports) {
    if (type === IMPORT_META || (specifier !== undefined && OF_RUNTIME.test(specifier))) continue;
    const target = type === STATIC ? targetOf(specifier) : undefined;
    if (target === undefined) return err(`${placeOf(name, text, ss)}: ${refusalOf(specifier)}\n${REMEDY}`);
    if (target === FOR_PROJECTS.table) tables.add(resolve(dirname(path), specifier ?? ""));
    // The quote begins before the specifier; attributes, which follow it, were the JSON's.
    code += `${text.slice(at, s - 1)}${JSON.stringify(target)}`;
    at = se;
  }
  const [tableFile, second] = tables;
  if (second !== undefined) return err(`${name}: imports two tables. A Worker has one.`);
  return ok({ code: code + text.slice(at), tableFile });
}

/** Types of the lexer, whose enumeration is no JavaScript; all others are dynamic, or of another phase. */
const STATIC = 1;
const IMPORT_META = 3;

function targetOf(specifier: string | undefined): string | undefined {
  if (specifier === WORKER) return FOR_PROJECTS.worker;
  if (specifier === OBJECTS) return FOR_PROJECTS.objects;
  return specifier !== undefined && /^\.{1,2}\/.*\.json$/.test(specifier) ? FOR_PROJECTS.table : undefined;
}

const refusalOf = (specifier: string | undefined): string =>
  `imports ${specifier === undefined ? "by a name that is computed" : JSON.stringify(specifier)}, and waybill prepare resolves only ` +
  `"${WORKER}", "${OBJECTS}" and the routing table, by static imports.`;

function placeOf(name: string, text: string, index: number): string {
  const lines = text.slice(0, index).split("\n");
  return `${name}:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`;
}

type Statement = readonly [specifier: string | undefined, text: string];

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*$/gm;

/** JSON has a default export alone, and `* as table` would be no table. */
const OF_DEFAULT = /^import\s*(?:[^\s{}*,"']+|\{\s*default\s+as\s+[^\s{}*,"']+\s*,?\s*\})\s*from\b/;

function missingParts(statements: readonly Statement[], exported: readonly string[]): string | undefined {
  const those = (of: string) => statements.flatMap(([specifier, text]) => (targetOf(specifier) === of ? [text] : []));
  const texts = (of: string) => those(of).map((text) => text.replaceAll(COMMENT, " "));
  if (texts(FOR_PROJECTS.worker).length === 0) return `it does not import the gateway from "${WORKER}".`;
  if (!texts(FOR_PROJECTS.objects).some((text) => /^export\s*\*\s*from\b/.test(text))) {
    const missing = DURABLE_OBJECTS.map(([, name]) => name).filter((name) => !exported.includes(name));
    if (missing.length > 0)
      return `it does not export the classes of "${OBJECTS}", which the bindings name: ${missing.join(", ")}.`;
  }
  const tables = texts(FOR_PROJECTS.table);
  if (tables.length === 0) return "it does not import its routing table, which is checked here.";
  if (!tables.every((text) => OF_DEFAULT.test(text))) return "it imports a part of the routing table, or a namespace.";
  return exported.includes("default") ? undefined : "it has no default export.";
}

/** Absent before Node 22.13. */
const { stripTypeScriptTypes } = nodeModule as { readonly stripTypeScriptTypes?: (code: string) => string };

/** Node's own way; it leaves positions as they are. The four lines of `WORKER_TEXT` have no types. */
function stripTypes(name: string, text: string): Result<string, string> {
  if (stripTypeScriptTypes === undefined) {
    if (withoutSpace(text) === withoutSpace(WORKER_TEXT)) return ok(text);
    return err(
      `${name}: Node ${process.versions.node} cannot strip types. Use Node 22.13 or later, as wrangler does, or write the Worker in JavaScript.`,
    );
  }
  const { emitWarning } = process;
  // The function is marked as experimental, and says so each time.
  process.emitWarning = () => undefined;
  try {
    return ok(stripTypeScriptTypes(text));
  } catch (error) {
    return err(
      `${name}: ${error instanceof Error ? error.message : error}\nTypeScript that is more than types needs a bundler.\n${REMEDY}`,
    );
  } finally {
    process.emitWarning = emitWarning;
  }
}

const withoutSpace = (text: string): string => text.replace(/\/\/.*$/gm, "").replace(/\s+|;/g, "");
