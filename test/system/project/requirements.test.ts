import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { type Deployed, lacksOf } from "../../../src/host/deploy/requirements.ts";
import { readWranglerConfig } from "../../../src/host/deploy/wrangler.ts";
import { COMPATIBILITY_DATE, DURABLE_OBJECTS } from "../../../src/host/workerd/config-text.ts";

const CLASSES = DURABLE_OBJECTS.map(([, name]) => name);
const SQLITE = { type: "durable-object", storage: "sqlite" };

const GOOD = {
  compatibility_date: COMPATIBILITY_DATE,
  compatibility_flags: ["no_nodejs_compat", "no_nodejs_compat_v2"],
  no_bundle: true,
  rules: [
    { type: "ESModule", globs: ["*.js"] },
    { type: "Text", globs: ["*.txt"] },
  ],
  kv_namespaces: [{ binding: "TABLE_KV" }],
  durable_objects: { bindings: DURABLE_OBJECTS.map(([name, class_name]) => ({ name, class_name })) },
  migrations: [{ tag: "v1", new_sqlite_classes: CLASSES }],
  assets: { binding: "CONSOLE", run_worker_first: true, html_handling: "none", not_found_handling: "none" },
  triggers: { crons: ["* * * * *"] },
} satisfies Deployed;

const DECLARED = { migrations: [], exports: Object.fromEntries(CLASSES.map((name) => [name, SQLITE])) };

const faultsOf = (change: Deployed) =>
  lacksOf({ ...GOOD, ...change }).flatMap(({ what, isFault }) => (isFault ? [what] : []));

it("the checkout's own wrangler.toml lacks nothing", async () => {
  const config = await readWranglerConfig("wrangler.toml", undefined);
  expect(config.ok && config.value.lacks).toEqual([]);
});

describe("a configuration that has all", () => {
  it.each([
    ["by migrations", {}],
    ["by several migrations", { migrations: CLASSES.map((name) => ({ tag: name, new_sqlite_classes: [name] })) }],
    [
      "by a migration that renames",
      {
        migrations: [
          { tag: "a", new_sqlite_classes: ["Old", ...CLASSES.slice(1)] },
          { tag: "b", renamed_classes: [{ from: "Old", to: CLASSES[0] ?? "" }] },
        ],
      },
    ],
    ["by declared exports", DECLARED],
    ["with a newer date", { compatibility_date: "2999-01-01" }],
    [
      "with rules for all folders",
      {
        rules: [
          { type: "ESModule", globs: ["**/*.js"] },
          { type: "Text", globs: ["**/*.txt", "a"] },
        ],
      },
    ],
    ["without rules, where wrangler bundles", { no_bundle: false, rules: [] }],
    ["with Node's modules", { compatibility_flags: ["nodejs_compat", "nodejs_compat_v2"] }],
    [
      "with a class of another Worker",
      {
        durable_objects: {
          bindings: GOOD.durable_objects.bindings.map((each, at) =>
            at === 0 ? { ...each, script_name: "other" } : each,
          ),
        },
        migrations: [{ tag: "v1", new_sqlite_classes: CLASSES.slice(1) }],
      },
    ],
  ] as readonly (readonly [string, Deployed])[])("%s lacks nothing", (_, change) => {
    expect(lacksOf({ ...GOOD, ...change })).toEqual([]);
  });
});

describe("a configuration that lacks", () => {
  it.each(DURABLE_OBJECTS)("the binding %s, or has another class there, is told so", (name, className) => {
    const { bindings } = GOOD.durable_objects;
    const without = { durable_objects: { bindings: bindings.filter((each) => each.name !== name) } };
    expect(faultsOf(without)).toEqual([`The binding ${name} of the class ${className} is missing.`]);
    const other = {
      durable_objects: { bindings: bindings.map((each) => (each.name === name ? { name, class_name: "X" } : each)) },
    };
    expect(faultsOf(other)).toEqual([`The binding ${name} names the class X; it is ${className}.`]);
  });

  it.each(CLASSES)("the class %s in either form is told so", (name) => {
    const others = CLASSES.filter((each) => each !== name);
    const migrated: Deployed = { migrations: [{ tag: "v2", new_sqlite_classes: others }] };
    expect(lacksOf({ ...GOOD, ...migrated })).toEqual([
      {
        what: `The class ${name} is missing in [[migrations]].`,
        isFault: true,
        add: { kind: "append", path: ["migrations"], value: { tag: "v3", new_sqlite_classes: [name] } },
      },
    ]);
    const declared: Deployed = { migrations: [], exports: Object.fromEntries(others.map((each) => [each, SQLITE])) };
    expect(lacksOf({ ...GOOD, ...declared })).toEqual([
      {
        what: `The class ${name} is missing in [exports].`,
        isFault: true,
        add: { kind: "set", path: ["exports", name], value: SQLITE },
      },
    ]);
  });

  const first = CLASSES[0] ?? "";
  it.each([
    ["both forms at once", { ...DECLARED, migrations: GOOD.migrations }, "exclude each other"],
    [
      "a class without SQLite",
      { migrations: [{ tag: "a", new_classes: [first], new_sqlite_classes: CLASSES.slice(1) }] },
      "without SQLite",
    ],
    [
      "a class that was deleted",
      { migrations: [...GOOD.migrations, { tag: "b", deleted_classes: [first] }] },
      "is missing in [[migrations]]",
    ],
    [
      "an export that is deleted",
      { ...DECLARED, exports: { ...DECLARED.exports, [first]: { type: "durable-object", state: "deleted" } } },
      "as deleted",
    ],
    [
      "an export of another storage",
      { ...DECLARED, exports: { ...DECLARED.exports, [first]: { ...SQLITE, storage: "legacy-kv" } } },
      "it needs sqlite",
    ],
    ["KV", { kv_namespaces: [] }, "The KV namespace TABLE_KV is missing."],
    ["the date", { compatibility_date: undefined }, `needs ${COMPATIBILITY_DATE}`],
    ["a date that is new enough", { compatibility_date: "2026-11-23" }, "compatibility_date is 2026-11-23"],
    ["rules for text", { rules: GOOD.rules.slice(0, 1) }, "*.txt as Text"],
    ["all rules", { rules: [] }, "*.js as ESModule"],
    [
      "the Worker before its files",
      { assets: { ...GOOD.assets, run_worker_first: false } },
      "[assets] needs run_worker_first = true",
    ],
    [
      "the binding of the console",
      { assets: { ...GOOD.assets, binding: undefined } },
      '[assets] needs binding = "CONSOLE"',
    ],
  ] as readonly (readonly [string, Deployed, string])[])("%s is told so", (_, change, words) => {
    expect(faultsOf(change)).toEqual([expect.stringContaining(words)]);
  });

  it.each([
    ["flags that make the start faster", { compatibility_flags: [] }, "compatibility_flags lack"],
    ["the console", { assets: undefined }, "[assets]"],
    ["a cron", { triggers: {} }, "[triggers]"],
  ] as readonly (readonly [string, Deployed, string])[])("%s is advised", (_, change, words) => {
    expect(lacksOf({ ...GOOD, ...change })).toMatchObject([{ isFault: false, what: expect.stringContaining(words) }]);
  });

  const FORMER = {
    configPath: "wrangler.toml",
    main: resolve("build/worker/worker.js"),
    base_dir: resolve("build/worker"),
    build: { command: "node src/host/run.mjs src/host/deploy/build.ts" },
  };
  const setsOf = (change: Deployed, isCheckout: boolean) =>
    lacksOf({ ...GOOD, ...FORMER, ...change }, () => isCheckout).map(({ isFault, add }) => [
      isFault,
      add?.path.join("."),
      add?.value,
    ]);
  const MAIN = [true, "main", "build/worker/main.js"];

  it.each([
    ["in a checkout", {}, true, [MAIN]],
    ["in a project", {}, false, [MAIN, [true, "build.command", "npx waybill prepare --out build"]]],
    [
      "in another folder",
      { configPath: "conf/wrangler.toml", main: resolve("a b/worker/worker.js"), base_dir: resolve("a b/worker") },
      false,
      [
        [true, "main", "../a b/worker/main.js"],
        [true, "build.command", 'npx waybill prepare --out "../a b"'],
      ],
    ],
    ["where prepare makes no such folder", { base_dir: resolve("out") }, false, [MAIN, [true, undefined, undefined]]],
    ["with a command of the project", { build: { command: "make" } }, false, [MAIN]],
    ["with a command in a checkout elsewhere", { build: { ...FORMER.build, cwd: "gw" } }, true, [MAIN]],
    ["where wrangler bundles", { no_bundle: false, build: {} }, false, []],
    ["with another main module", { main: resolve("build/worker/main.js") }, true, []],
  ] as readonly (readonly [string, Deployed, boolean, unknown])[])(
    "what made modules before 1.0 %s is told so",
    (_, change, isCheckout, expected) => {
      expect(setsOf(change, isCheckout)).toEqual(expected);
    },
  );

  it("tags takes one that no migration has", () => {
    const migrations = [
      { tag: "v2", new_sqlite_classes: CLASSES.slice(2) },
      { tag: "v3", new_sqlite_classes: [] },
    ];
    const [lack] = lacksOf({ ...GOOD, migrations });
    expect(lack?.add?.value).toEqual({ tag: "v4", new_sqlite_classes: CLASSES.slice(0, 2) });
    expect(readFileSync("wrangler.toml", "utf8")).toContain('tag = "v5"');
  });
});
