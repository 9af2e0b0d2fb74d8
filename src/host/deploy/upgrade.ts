import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { applyEdits, modify, parse } from "jsonc-parser";
import { err, ok, type Result } from "../../ids/index.ts";
import type { Addition, Lack } from "./requirements.ts";
import { addToToml, tomlOf } from "./toml.ts";
import { type ReadConfig, readWranglerConfig } from "./wrangler.ts";

/** A lack of one environment, or of the top, with the text that adds it. */
export interface Upgrade extends Lack {
  readonly environment: string | undefined;
  /** As it stands in the file; absent where a person has to decide. */
  readonly text?: string;
}

export interface ConfigUpgrade {
  readonly upgrades: readonly Upgrade[];
  /** The text with all that need not be decided by a person. It is read again before it is given. */
  readonly text: string;
  /** Lacks of that text, which a person has to add. */
  readonly left: readonly Upgrade[];
}

/** Lacks of wrangler's configuration, and its text with them. The error says why it cannot be read. */
export async function upgradeConfig(path: string, text: string): Promise<Result<ConfigUpgrade, string>> {
  let upgraded = withoutReturns(text);
  const before = await lacksIn(path, upgraded);
  if (!before.ok) return before;
  const { upgrades, environments, raw } = before.value;
  const nothing = ok({ upgrades, text, left: upgrades });
  const expected = structuredClone(raw);
  // An environment inherits much of the top, so the top comes first, and each step is read before the next.
  for (const environment of environments) {
    const now = await lacksIn(path, upgraded);
    if (!now.ok) return nothing;
    for (const { add, isOptional, environment: of } of now.value.upgrades) {
      if (add === undefined || isOptional === true || of !== environment) continue;
      upgraded = addTo(path, upgraded, add);
      addToValue(expected, add);
    }
  }
  const after = await lacksIn(path, upgraded);
  // Some forms of TOML take no further line, such as an array in one line, and a text may look like a table.
  if (!after.ok || !isDeepStrictEqual(after.value.raw, expected)) return nothing;
  return ok({ upgrades, text: withReturnsOf(text, upgraded), left: after.value.upgrades });
}

const isAllReturns = (text: string): boolean => text.includes("\r\n") && !/(?<!\r)\n/.test(text);

const withoutReturns = (text: string): string => (isAllReturns(text) ? text.replaceAll("\r\n", "\n") : text);

/** A text whose lines all end with CRLF keeps that. */
const withReturnsOf = (before: string, text: string): string =>
  isAllReturns(before) ? text.replaceAll("\n", "\r\n") : text;

type Members = Record<string, unknown>;

/** The same as the edit of the text, for comparison: nothing else may have changed. */
function addToValue(config: Members, { kind, path, value }: Addition): void {
  const key = path.at(-1) ?? "";
  let table = config;
  for (const name of path.slice(0, -1)) {
    table[name] ??= {};
    table = table[name] as Members;
  }
  table[key] = kind === "set" ? value : [...((table[key] as readonly unknown[] | undefined) ?? []), value];
}

const isJson = (path: string): boolean => /\.jsonc?$/.test(path);

async function lacksIn(path: string, text: string) {
  const folder = mkdtempSync(join(tmpdir(), "waybill-upgrade-"));
  const file = join(folder, basename(path));
  try {
    writeFileSync(file, text);
    const top = await readWranglerConfig(file, undefined);
    if (!top.ok) return err(top.error.replaceAll(file, path));
    // Without prototypes and dates, which a comparison would count.
    const raw: Members = JSON.parse(JSON.stringify(top.value.raw));
    const upgrades = upgradesOf(path, undefined, top.value);
    const environments = [undefined, ...top.value.environments];
    for (const name of top.value.environments) {
      const config = await readWranglerConfig(file, name);
      if (!config.ok) return err(config.error.replaceAll(file, path));
      upgrades.push(...upgradesOf(path, name, config.value));
    }
    return ok({ upgrades, environments, raw });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function upgradesOf(path: string, environment: string | undefined, { lacks }: ReadConfig): Upgrade[] {
  return lacks.map((lack) => {
    if (lack.add === undefined) return { ...lack, environment };
    const prefix = environment === undefined ? [] : ["env", environment];
    const add = { ...lack.add, path: [...prefix, ...lack.add.path] };
    return { ...lack, environment, add, text: isJson(path) ? addToJson("{}", add) : tomlOf(add) };
  });
}

const addTo = (path: string, text: string, add: Addition): string =>
  isJson(path) ? addToJson(text, add) : addToToml(text, add);

const FORMAT = { formattingOptions: { insertSpaces: true, tabSize: 2, eol: "\n" } };

function addToJson(text: string, { kind, path, value }: Addition): string {
  let at: unknown = parse(text);
  for (const name of path) at = (at as Readonly<Record<string, unknown>> | undefined)?.[name];
  if (kind === "set" || !Array.isArray(at))
    return applyEdits(text, modify(text, [...path], kind === "set" ? value : [value], FORMAT));
  return applyEdits(text, modify(text, [...path, at.length], value, { ...FORMAT, isArrayInsertion: true }));
}

const SCHEMA = "node_modules/waybill/routing-table.schema.json";

/** The table with a `$schema` as its first member, for editors; `undefined` if it has one. */
export function withSchema(path: string, text: string): string | undefined {
  const table: unknown = parse(text);
  if (typeof table !== "object" || table === null || Array.isArray(table) || "$schema" in table) return undefined;
  const to = relative(dirname(path), SCHEMA).replaceAll("\\", "/");
  const value = to.startsWith(".") ? to : `./${to}`;
  const lines = withoutReturns(text);
  const edits = modify(lines, ["$schema"], value, { ...FORMAT, getInsertionIndex: () => 0 });
  return withReturnsOf(text, applyEdits(lines, edits));
}
