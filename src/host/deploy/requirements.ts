import { existsSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { COMPATIBILITY_DATE, COMPATIBILITY_FLAGS, DURABLE_OBJECTS } from "../workerd/config-text.ts";
import { MAIN_MODULE, WORKER_FOLDER } from "../workerd/modules.ts";

/** A part of wrangler's configuration, normalised: what this version of the gateway needs of it. */
export interface Deployed {
  /** The file. Paths of `main` and `base_dir` are absolute. */
  readonly configPath?: string | undefined;
  readonly main?: string | undefined;
  readonly base_dir?: string | undefined;
  readonly build?: { readonly command?: string | undefined; readonly cwd?: string | undefined } | undefined;
  readonly compatibility_date?: string | undefined;
  readonly compatibility_flags?: readonly string[] | undefined;
  readonly no_bundle?: boolean | undefined;
  readonly rules?: readonly { readonly type: string; readonly globs: readonly string[] }[] | undefined;
  readonly kv_namespaces?: readonly { readonly binding: string }[] | undefined;
  readonly durable_objects?: { readonly bindings: readonly ObjectBinding[] } | undefined;
  readonly migrations?: readonly Migration[] | undefined;
  readonly exports?: Readonly<Record<string, Exported>> | undefined;
  readonly assets?: Assets | undefined;
  readonly triggers?: { readonly crons?: readonly string[] | undefined } | undefined;
}

interface ObjectBinding {
  readonly name: string;
  readonly class_name: string;
  readonly script_name?: string | undefined;
}

interface Migration {
  readonly tag: string;
  readonly new_sqlite_classes?: readonly string[] | undefined;
  readonly new_classes?: readonly string[] | undefined;
  readonly renamed_classes?: readonly { readonly from: string; readonly to: string }[] | undefined;
  readonly deleted_classes?: readonly string[] | undefined;
  readonly transferred_classes?: readonly { readonly to: string }[] | undefined;
}

interface Exported {
  readonly type: string;
  readonly state?: string | undefined;
  readonly storage?: string | undefined;
}

interface Assets {
  readonly binding?: string | undefined;
  readonly run_worker_first?: boolean | readonly string[] | undefined;
  readonly html_handling?: string | undefined;
  readonly not_found_handling?: string | undefined;
}

/** How a text of the configuration gets what it lacks: an element of an array, or a value at a path. */
export interface Addition {
  readonly kind: "append" | "set";
  readonly path: readonly string[];
  readonly value: unknown;
}

export interface Lack {
  /** A sentence. */
  readonly what: string;
  /** Whether a deployment without it would not run, or lose something. Others are advice. */
  readonly isFault: boolean;
  /** Whether a project may well do without it on purpose. */
  readonly isOptional?: boolean;
  /** Absent where a person has to decide. */
  readonly add?: Addition;
}

/**
 * Everything that a configuration lacks against this version, faults first. `isThere`: whether a file is, as seen from the working
 * folder, in which wrangler runs [build].
 */
export function lacksOf(config: Deployed, isThere: (path: string) => boolean = existsSync): readonly Lack[] {
  const all = [
    ...mainLacks(config),
    ...buildLacks(config, isThere),
    ...bindingLacks(config),
    ...classLacks(config),
    ...moduleLacks(config),
    ...compatibilityLacks(config),
    ...assetLacks(config),
    ...cronLacks(config),
  ];
  return all.toSorted((a, b) => Number(b.isFault) - Number(a.isFault));
}

/** The main module of versions before 1.0. */
const FORMER_MAIN = "worker.js";

/** The script of [build] in checkouts: an installed package has none. */
const CHECKOUT_BUILD = "src/host/deploy/build.ts";

const fromConfig = ({ configPath = "" }: Deployed, path: string): string =>
  relative(dirname(resolve(configPath)), path).replaceAll("\\", "/");

function mainLacks(config: Deployed): readonly Lack[] {
  const { main = "", no_bundle } = config;
  if (no_bundle !== true || basename(main) !== FORMER_MAIN) return [];
  const value = fromConfig(config, join(dirname(main), MAIN_MODULE));
  const what = `main is ${fromConfig(config, main)}, as before 1.0; the module that is made now is ${value}.`;
  return [{ what, isFault: true, add: { kind: "set", path: ["main"], value } }];
}

function buildLacks(config: Deployed, isThere: (path: string) => boolean): readonly Lack[] {
  const { base_dir = "", build: { command = "", cwd = "" } = {} } = config;
  if (!command.includes(CHECKOUT_BUILD) || isThere(join(cwd, CHECKOUT_BUILD))) return [];
  const what = `[build] runs ${CHECKOUT_BUILD} of a checkout, which is not here; a project has waybill prepare.`;
  // Its other folder is the console's, beside this one.
  if (basename(base_dir) !== WORKER_FOLDER || cwd !== "") return [{ what, isFault: true }];
  const out = fromConfig(config, dirname(base_dir)) || ".";
  const value = `npx waybill prepare --out ${JSON.stringify(out)}`.replace(/"([\w./-]+)"$/, "$1");
  return [{ what, isFault: true, add: { kind: "set", path: ["build", "command"], value } }];
}

const TABLE_KV = "TABLE_KV";

function bindingLacks({ kv_namespaces = [], durable_objects }: Deployed): readonly Lack[] {
  const bindings = durable_objects?.bindings ?? [];
  const objects = DURABLE_OBJECTS.flatMap(([name, className]): Lack[] => {
    const bound = bindings.find((each) => each.name === name);
    if (bound?.class_name === className) return [];
    if (bound !== undefined)
      return [{ what: `The binding ${name} names the class ${bound.class_name}; it is ${className}.`, isFault: true }];
    const value = { name, class_name: className };
    const what = `The binding ${name} of the class ${className} is missing.`;
    return [{ what, isFault: true, add: { kind: "append", path: ["durable_objects", "bindings"], value } }];
  });
  if (kv_namespaces.some(({ binding }) => binding === TABLE_KV)) return objects;
  const add: Addition = { kind: "append", path: ["kv_namespaces"], value: { binding: TABLE_KV } };
  return [{ what: `The KV namespace ${TABLE_KV} is missing.`, isFault: true, add }, ...objects];
}

/** The classes that this Worker exports: those of another script are not its own. */
function ownClasses({ durable_objects }: Deployed): readonly string[] {
  const elsewhere = new Set(
    (durable_objects?.bindings ?? []).flatMap(({ name, script_name }) => (script_name === undefined ? [] : [name])),
  );
  return DURABLE_OBJECTS.flatMap(([name, className]) => (elsewhere.has(name) ? [] : [className]));
}

const EXPORTED = { type: "durable-object", storage: "sqlite" };

function classLacks(config: Deployed): readonly Lack[] {
  const { migrations = [], exports = {} } = config;
  const declared = Object.entries(exports).filter(([, { type }]) => type === EXPORTED.type);
  if (declared.length > 0 && migrations.length > 0)
    return [
      { what: "Durable Objects stand in [exports] and in [[migrations]]: these exclude each other.", isFault: true },
    ];
  return declared.length > 0 ? exportLacks(config) : migrationLacks(config);
}

const LIVE: readonly unknown[] = [undefined, "created", "expecting-transfer"];

function exportLacks(config: Deployed): readonly Lack[] {
  return ownClasses(config).flatMap((name): Lack[] => {
    const exported = config.exports?.[name];
    if (exported === undefined) {
      const what = `The class ${name} is missing in [exports].`;
      return [{ what, isFault: true, add: { kind: "set", path: ["exports", name], value: EXPORTED } }];
    }
    const { type, state, storage } = exported;
    if (type !== EXPORTED.type || !LIVE.includes(state))
      return [{ what: `[exports] has ${name} as ${state ?? type}, and the gateway needs it.`, isFault: true }];
    if (storage === EXPORTED.storage) return [];
    return [{ what: `[exports] has ${name} with the storage ${storage}; it needs sqlite.`, isFault: true }];
  });
}

function migrationLacks(config: Deployed): readonly Lack[] {
  const { migrations = [] } = config;
  const classes = classesAfter(migrations);
  const missing = ownClasses(config).filter((name) => !classes.has(name));
  const other = ownClasses(config).filter((name) => classes.get(name) === false);
  const faults = other.map((name): Lack => {
    return {
      what: `[[migrations]] make ${name} without SQLite, by new_classes; it needs new_sqlite_classes.`,
      isFault: true,
    };
  });
  if (missing.length === 0) return faults;
  const tags = new Set(migrations.map(({ tag }) => tag));
  let number = migrations.length + 1;
  while (tags.has(`v${number}`)) number++;
  const add: Addition = {
    kind: "append",
    path: ["migrations"],
    value: { tag: `v${number}`, new_sqlite_classes: missing },
  };
  const subject = missing.length === 1 ? `The class ${missing[0]} is` : `The classes ${missing.join(", ")} are`;
  return [...faults, { what: `${subject} missing in [[migrations]].`, isFault: true, add }];
}

/** Classes once all migrations ran, in their order, and whether each has SQLite. */
function classesAfter(migrations: readonly Migration[]): ReadonlyMap<string, boolean> {
  const classes = new Map<string, boolean>();
  for (const each of migrations) {
    for (const name of each.new_classes ?? []) classes.set(name, false);
    for (const name of each.new_sqlite_classes ?? []) classes.set(name, true);
    // A class of another script keeps the storage that it had there, which no configuration says.
    for (const { to } of each.transferred_classes ?? []) classes.set(to, true);
    for (const { from, to } of each.renamed_classes ?? []) {
      classes.set(to, classes.get(from) ?? true);
      classes.delete(from);
    }
    for (const name of each.deleted_classes ?? []) classes.delete(name);
  }
  return classes;
}

/** Modules that are uploaded as they are; wrangler leaves out in silence what no rule names. */
const RULES = [
  { type: "ESModule", globs: ["*.js"] },
  { type: "Text", globs: ["*.txt"] },
];

function moduleLacks({ no_bundle, rules = [] }: Deployed): readonly Lack[] {
  if (no_bundle !== true) return [];
  const has = ({ type, globs }: (typeof RULES)[number]): boolean =>
    rules.some((rule) => rule.type === type && globs.every((glob) => rule.globs.some((each) => covers(each, glob))));
  if (RULES.every(has)) return [];
  const own = rules.filter(({ type }) => RULES.every((each) => each.type !== type));
  const what = "rules lack modules of the Worker, which would not be uploaded: *.js as ESModule, and *.txt as Text.";
  return [{ what, isFault: true, add: { kind: "set", path: ["rules"], value: [...RULES, ...own] } }];
}

const covers = (given: string, needed: string): boolean => given === needed || given === `**/${needed}`;

function compatibilityLacks({ compatibility_date, compatibility_flags = [] }: Deployed): readonly Lack[] {
  const lacks: Lack[] = [];
  if (compatibility_date === undefined || compatibility_date < COMPATIBILITY_DATE) {
    const given = compatibility_date === undefined ? "is missing" : `is ${compatibility_date}`;
    const add: Addition = { kind: "set", path: ["compatibility_date"], value: COMPATIBILITY_DATE };
    lacks.push({ what: `compatibility_date ${given}; this version needs ${COMPATIBILITY_DATE}.`, isFault: true, add });
  }
  // A project may want Node's modules for code of its own.
  const flags = COMPATIBILITY_FLAGS.filter(
    (flag) => !compatibility_flags.includes(flag) && !compatibility_flags.includes(flag.replace(/^no_/, "")),
  );
  if (flags.length > 0) {
    const value = [...compatibility_flags, ...flags];
    const add: Addition = { kind: "set", path: ["compatibility_flags"], value };
    lacks.push({ what: `compatibility_flags lack ${flags.join(", ")}: the start is slower.`, isFault: false, add });
  }
  return lacks;
}

const ASSETS = { binding: "CONSOLE", run_worker_first: true, html_handling: "none", not_found_handling: "none" };

/** Without assets there is no console. With others in front of the Worker anybody gets its files, at any host. */
function assetLacks({ assets }: Deployed): readonly Lack[] {
  if (assets === undefined) {
    const value = { directory: ".waybill/console", ...ASSETS };
    const what = "The console has no [assets].";
    return [{ what, isFault: false, isOptional: true, add: { kind: "set", path: ["assets"], value } }];
  }
  return Object.entries(ASSETS).flatMap(([name, value]): Lack[] => {
    const given = assets[name as keyof Assets];
    if (given === value) return [];
    const instead = given === undefined ? "" : ` in place of ${JSON.stringify(given)}`;
    const what = `[assets] needs ${name} = ${JSON.stringify(value)}${instead}, so that the gateway decides who gets the console.`;
    return [{ what, isFault: true, add: { kind: "set", path: ["assets", name], value } }];
  });
}

function cronLacks({ triggers }: Deployed): readonly Lack[] {
  if ((triggers?.crons ?? []).length > 0) return [];
  const what = "[triggers] have no cron: active checks of origins stop without traffic.";
  const add: Addition = { kind: "set", path: ["triggers", "crons"], value: ["* * * * *"] };
  return [{ what, isFault: false, isOptional: true, add }];
}
