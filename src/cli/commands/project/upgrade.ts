import type { Upgrade } from "../../../host/deploy/upgrade.ts";
import { command, option } from "../../command.ts";
import { TABLE_FILE_DEFAULT, unreadable } from "../../lib/input.ts";
import { escapeControls, indented, jsonText, linesText } from "../../lib/output.ts";
import { checkText, compile, valid } from "../../lib/table-file.ts";
import { EXIT, fail, type Runtime } from "../../runtime.ts";

export const upgrade = command({
  name: "upgrade",
  description: "after npm update: show, or write, what wrangler's configuration and the table lack",
  options: [
    option("--apply", "write it; comments and order stay"),
    option("--config <file>", "wrangler's configuration (default: wrangler.json, .jsonc or .toml, if present)"),
    option("--table <file>", `the routing table (default: ${TABLE_FILE_DEFAULT}, if present)`),
    option("--json", "one JSON object on stdout"),
  ],
  help: `
Compared are main module and [build] of versions before 1.0, bindings, classes, rules, compatibility date and flags, also of
environments; and the table's $schema. The console and a cron may be left out: they are advised, and not written.

Examples:
  $ waybill upgrade
  $ waybill upgrade --apply

Exit code: 0 if nothing is to do, or all is written; 2 if something is left to do; 1 if a file has faults.`,
  run: async (runtime, _, options) => {
    const found = [await configChange(options.config, runtime), await tableChange(options.table, runtime)];
    const changes = found.filter((change) => change !== undefined);
    if (changes.length === 0) return fail("There is neither a wrangler.toml nor a routing-table.json here.\n");
    const apply = options.apply === true;
    if (apply) for (const change of changes) write(change, runtime);
    const left = changes.flatMap((change) => (apply ? change.left : change.items));
    if (options.json)
      await runtime.print(jsonText({ applied: apply, files: changes.map((change) => jsonOf(change, apply)) }));
    else
      await runtime.print(
        linesText(changes.flatMap((change) => report(change, apply)).concat(lastLine(changes, apply))),
      );
    return left.some(({ isOptional }) => isOptional !== true) ? EXIT.differs : EXIT.ok;
  },
});

type Item = Pick<Upgrade, "what" | "isOptional" | "text" | "environment">;

interface Change {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly items: readonly Item[];
  /** Those that are not in `after`. */
  readonly left: readonly Item[];
}

async function configChange(given: string | undefined, runtime: Runtime): Promise<Change | undefined> {
  const files = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];
  const path = given ?? files.find((file) => runtime.fileExists(file));
  if (path === undefined) return undefined;
  const before = textOf(path, runtime);
  const { upgradeConfig } = await import("../../../host/deploy/upgrade.ts");
  const upgraded = await upgradeConfig(path, before);
  if (!upgraded.ok) return unreadable(path, upgraded.error);
  const { upgrades, left, text } = upgraded.value;
  return { path, before, after: text, items: upgrades, left };
}

async function tableChange(given: string | undefined, runtime: Runtime): Promise<Change | undefined> {
  const path = given ?? TABLE_FILE_DEFAULT;
  if (given === undefined && !runtime.fileExists(path)) return undefined;
  const before = textOf(path, runtime);
  valid(path, checkText(new TextEncoder().encode(before), compile), "stdout");
  const { withSchema } = await import("../../../host/deploy/upgrade.ts");
  const after = withSchema(path, before);
  if (after === undefined) return { path, before, after: before, items: [], left: [] };
  const [, text = ""] = /("\$schema": "[^"]*")/.exec(after) ?? [];
  const what = "The table names no $schema, by which editors complete and check it.";
  return { path, before, after, items: [{ what, text, environment: undefined }], left: [] };
}

function textOf(path: string, runtime: Runtime): string {
  const read = runtime.readFile(path);
  if (!read.ok) return unreadable(path, read.error);
  try {
    // A byte order mark stays where it is.
    return new TextDecoder("utf-8", { ignoreBOM: true, fatal: true }).decode(read.value);
  } catch {
    return unreadable(path, "it is not UTF-8");
  }
}

function write({ path, before, after }: Change, runtime: Runtime): void {
  if (after === before) return;
  const written = runtime.writeFile(path, after);
  if (!written.ok) fail(`error: ${escapeControls(path)} cannot be written: ${written.error}\n`);
}

const where = ({ environment }: Item): string => (environment === undefined ? "" : `environment ${environment}: `);

/** Items that `after` has. */
const doneOf = ({ items, left }: Change): readonly Item[] =>
  items.filter((item) => !left.some(({ what, environment }) => what === item.what && environment === item.environment));

function report(change: Change, apply: boolean): readonly string[] {
  const { path, items, left, after, before } = change;
  const isWritten = apply && after !== before;
  const done = isWritten ? doneOf(change).map((item) => escapeControls(`written: ${where(item)}${item.what}`)) : [];
  const shown = apply ? left : items;
  const lines = shown.flatMap((item) => {
    const sentence = `${item.isOptional ? "advice: " : ""}${where(item)}${item.what}`;
    return [escapeControls(sentence), ...indented((item.text ?? "").split("\n").filter((line) => line !== ""))];
  });
  const title = isWritten ? `${path} is written:` : `${path}:`;
  const rest = isWritten && shown.length > 0 ? ["left to do:"] : [];
  return shown.length === 0 && after === before
    ? []
    : [escapeControls(title), ...indented([...done, ...rest, ...(isWritten ? indented(lines) : lines)])];
}

function lastLine(changes: readonly Change[], apply: boolean): readonly string[] {
  const open = changes.flatMap(({ items }) => items.filter(({ isOptional }) => isOptional !== true));
  if (open.length === 0) return [`nothing to do: ${changes.map(({ path }) => path).join(", ")}`];
  return apply
    ? []
    : ["`waybill upgrade --apply` writes what is not advice. Then: waybill config check, and a dry run."];
}

const jsonOf = (change: Change, apply: boolean) => ({
  file: change.path,
  written: (apply && change.after !== change.before ? doneOf(change) : []).map(({ what }) => what),
  left: (apply ? change.left : change.items).map(({ what, environment, isOptional = false, text = null }) => ({
    what,
    environment: environment ?? null,
    isOptional,
    text,
  })),
});
