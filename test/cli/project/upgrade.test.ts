import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DURABLE_OBJECTS } from "../../../src/host/workerd/config-text.ts";
import { waybill } from "../fake-runtime.ts";
import { MemoryFiles } from "../memory-files.ts";

/** The checkout's own, which lacks nothing. */
const GOOD = readFileSync("wrangler.toml", "utf8");
const TABLE = `{
  // Where orders are.
  "$schema": "./node_modules/waybill/routing-table.schema.json",
  "regions": { "eu": { "origins": [{ "url": "https://eu.example.com" }] } },
  "entities": { "order": { "path": "/orders/:id", "ids": [{ "layout": "iuid" }] } },
  "routes": [],
  "default": "eu",
}
`;

const without = (pattern: RegExp): string => {
  const text = GOOD.replace(pattern, "");
  if (text === GOOD) throw new Error(`wrangler.toml has no ${pattern}`);
  return text;
};

const commentsOf = (text: string): readonly string[] => text.match(/^\s*#.*$|\s#.*$/gm) ?? [];

const textOf = (files: MemoryFiles, name: string): string => {
  const read = files.read(name);
  return read.ok ? new TextDecoder().decode(read.value) : "";
};

/** Runs `upgrade`, then with --apply, then again. */
async function upgraded(text: string, name = "wrangler.toml") {
  const files = MemoryFiles.of({ [name]: text });
  const shown = await waybill(["upgrade"], { files });
  expect(textOf(files, name)).toBe(text);
  const applied = await waybill(["upgrade", "--apply"], { files });
  const again = await waybill(["upgrade"], { files });
  return { shown, applied, again, after: textOf(files, name) };
}

const EXPORTS = `[exports]   # declared
${DURABLE_OBJECTS.slice(1)
  .map(([, name]) => `${name} = { type = "durable-object", storage = "sqlite" }`)
  .join("\n")}

# Behind it.
`;
const MIGRATIONS = /(?:\[\[migrations\]\]\n.*\n.*\n\n)+/;

describe("waybill upgrade", () => {
  it("has nothing to do where nothing lacks", async () => {
    const files = MemoryFiles.of({ "wrangler.toml": GOOD, "routing-table.json": TABLE });
    expect(await waybill(["upgrade"], { files })).toEqual({
      code: 0,
      stdout: "nothing to do: wrangler.toml, routing-table.json\n",
      stderr: "",
    });
  });

  const lacking: readonly (readonly [what: string, text: string, words: string])[] = [
    ...DURABLE_OBJECTS.map(
      ([name]) =>
        [
          `the binding ${name}`,
          without(new RegExp(`\\[\\[durable_objects.bindings\\]\\]\\nname = "${name}"\\n.*\\n\\n`)),
          `The binding ${name}`,
        ] as const,
    ),
    ["all bindings", without(/(?:\[\[durable_objects\.bindings\]\]\n.*\n.*\n\n)+/), "The binding SEQUENCES"],
    [
      "a migration",
      without(/\[\[migrations\]\]\ntag = "v5"\n.*\n\n/),
      "The class DirectoryKeys is missing in [[migrations]]",
    ],
    ["all migrations", without(MIGRATIONS), "The classes SequenceBlocks, TrafficReports"],
    ["an export", GOOD.replace(MIGRATIONS, EXPORTS), "The class SequenceBlocks is missing in [exports]"],
    ["the KV namespace", without(/\[\[kv_namespaces\]\]\n.*\n\n/), "TABLE_KV"],
    ["the date", without(/^compatibility_date.*\n/m), "compatibility_date is missing"],
    [
      "a newer date",
      GOOD.replace(/^(compatibility_date = ).*/m, '$1"2025-01-01" # why'),
      "compatibility_date is 2025-01-01",
    ],
    ["a flag", GOOD.replace(', "no_nodejs_compat_v2"', ""), "compatibility_flags lack no_nodejs_compat_v2"],
    ["rules", without(/^rules.*\n/m), "rules lack modules"],
    [
      "a rule, in several lines",
      GOOD.replace(/^rules.*/m, 'rules = [\n  # Code.\n  { type = "ESModule", globs = ["*.js"] },\n]'),
      "rules lack modules",
    ],
    [
      "the Worker before its files",
      GOOD.replace("run_worker_first = true", "run_worker_first = false # no"),
      "run_worker_first",
    ],
    [
      "a flag behind comments",
      GOOD.replace(
        /^compatibility_flags.*/m,
        `compatibility_flags = [ # Ours, isn't it.\n  'no_nodejs_compat', # a ] b\n]`,
      ),
      "compatibility_flags lack no_nodejs_compat_v2",
    ],
    [
      "a date in a literal",
      GOOD.replace(/^compatibility_date.*/m, `'compatibility_date' = '2025-01-01' # "so"`),
      "is 2025",
    ],
    ["nearly all", 'name = "a"\nmain = "build/worker/main.js"\nno_bundle = true\n', "TABLE_KV"],
  ];

  it.each(lacking)("adds %s, and keeps all else", async (_, text, words) => {
    const { shown, applied, again, after } = await upgraded(text);
    expect([shown.code, shown.stdout, shown.stderr]).toEqual([2, expect.stringContaining(words), ""]);
    expect(shown.stdout).toContain("`waybill upgrade --apply` writes");
    expect([applied.code, applied.stdout]).toEqual([0, expect.stringMatching(/^wrangler\.toml is written/)]);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("nothing to do: wrangler.toml")]);
    const comments = (of: string) =>
      commentsOf(of)
        .map((each) => each.trim())
        .toSorted();
    expect(comments(after)).toEqual(comments(text));
    for (const line of text.split("\n").filter((each) => /^\w+ = "(?:DIRECTORY|TRAFFIC|CONSOLE|off)"/.test(each)))
      expect(after).toContain(line);
  });

  it("adds to environments, which inherit no bindings", async () => {
    const { shown, applied, after } = await upgraded(
      `${GOOD}\n[env.eu]\nname = "waybill-eu"\n\n[env."a b".vars]\nREQUEST_LOG = "off"\n`,
    );
    expect(shown.stdout).toContain("environment eu: The KV namespace TABLE_KV is missing.");
    expect(applied.code).toBe(0);
    expect(after.match(/^\[\[env\.eu\.durable_objects\.bindings\]\]$/gm)).toHaveLength(DURABLE_OBJECTS.length);
    expect(after).toContain('[[env."a b".kv_namespaces]]\nbinding = "TABLE_KV"');
    expect(after.match(/^\[\[migrations\]\]$/gm)).toHaveLength(5);
  });

  it("adds to JSON with comments", async () => {
    const text = '{\n  // Ours.\n  "name": "a",\n  "main": "m.js",\n  "kv_namespaces": [{ "binding": "OTHER" }],\n}\n';
    const { applied, again, after } = await upgraded(text, "wrangler.jsonc");
    expect([applied.code, again.code]).toEqual([0, 0]);
    expect(after).toContain("// Ours.");
    expect(after).toMatch(/"OTHER"\s*\},\s*\{\s*"binding": "TABLE_KV"\s*\}/);
    expect(after).toContain('"new_sqlite_classes"');
  });

  const APART = GOOD.replace(/\[\[kv_namespaces\]\]\n.*\n\n/, "");
  const TEXT = '\n[vars.NOTE]\ntext = """\n[[kv_namespaces]]\nbinding = "OTHER"\n"""\n';
  const ARRAY = 'routes = [\n  ["a"]\n]';
  it.each([
    ["a text that looks like the table that it adds to", APART + TEXT, TEXT],
    [
      "a text in front of a key",
      GOOD.replace(/^compatibility_date.*\n/m, "").replace(/^send_metrics.*/m, 'A = """\n[a]"""'),
      '"""\n[a]"""',
    ],
    ["an array whose lines look like tables", `${APART}[vars.NOTE]\n${ARRAY}\n`, ARRAY],
  ])("never changes %s", async (_, text, kept) => {
    const { after } = await upgraded(text);
    expect(after).toContain(kept);
  });

  it.each(["wrangler.toml", "wrangler.jsonc"])(
    "keeps the ends of lines in %s, and says what it wrote",
    async (name) => {
      const json = '{\n  // Ours.\n  "name": "a",\n  "main": "m.js",\n  "compatibility_date": "2025-01-01"\n}\n';
      const text = (
        name === "wrangler.toml" ? 'name = "a"\nmain = "m.js"\n[vars]\nA = """\nb\nc"""\n' : json
      ).replaceAll("\n", "\r\n");
      const { applied, again, after } = await upgraded(text, name);
      expect([applied.code, again.code]).toEqual([0, 0]);
      expect(after).not.toMatch(/(?<!\r)\n|\r\r/);
      expect(applied.stdout).toContain("written: The KV namespace TABLE_KV is missing.");
      expect(applied.stdout).toMatch(/left to do:\n +advice: The console/);
    },
  );

  it("writes nothing into a file that is no UTF-8", async () => {
    const files = MemoryFiles.of({});
    files.write("wrangler.toml", Buffer.from('# caf\u00e9\nname = "a"\n', "latin1"));
    const refused = await waybill(["upgrade", "--apply"], { files });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("wrangler.toml cannot be read: it is not UTF-8"),
    });
  });

  it("names a value that it replaces", async () => {
    const { applied } = await upgraded(GOOD.replace('binding = "CONSOLE"', 'binding = "SITE"'));
    expect(applied.stdout).toContain('written: [assets] needs binding = "CONSOLE" in place of "SITE"');
  });

  it("leaves to a person what it cannot add, and writes nothing then", async () => {
    const inline = `${without(/\[\[kv_namespaces\]\]\n.*\n\n/)}`.replace(
      /^name = .*/m,
      'name = "a"\nkv_namespaces = [{ binding = "OTHER" }]',
    );
    const { applied, after } = await upgraded(inline);
    expect([applied.code, after]).toEqual([2, inline]);
    expect(applied.stdout).toContain("The KV namespace TABLE_KV is missing.");
    const other = GOOD.replace('class_name = "DirectoryKeys"', 'class_name = "Mine"');
    expect((await upgraded(other)).applied).toMatchObject({
      code: 2,
      stdout: expect.stringContaining("names the class Mine"),
    });
  });

  it("advises the console and a cron, and writes neither", async () => {
    const { shown, applied, after } = await upgraded(
      without(/\[triggers\]\n.*\n\n/).replace(/\[assets\]\n(?:.+\n)+/, ""),
    );
    expect([shown.code, applied.code]).toEqual([0, 0]);
    expect(shown.stdout).toMatch(
      /advice: The console has no \[assets\]\.[\s\S]*advice: \[triggers\][\s\S]*nothing to do/,
    );
    expect(after).not.toContain('binding = "CONSOLE"');
  });

  it("gives a table its $schema, as the first member", async () => {
    const table = TABLE.replace(/ *"\$schema.*\n/, "");
    const files = MemoryFiles.of({ "tables/eu.json": table });
    expect(await waybill(["upgrade", "--table", "tables/eu.json"], { files })).toMatchObject({
      code: 2,
      stdout: expect.stringContaining("names no $schema"),
    });
    expect((await waybill(["upgrade", "--table", "tables/eu.json", "--apply"], { files })).code).toBe(0);
    const after = textOf(files, "tables/eu.json");
    expect(after).toContain('"$schema": "../node_modules/waybill/routing-table.schema.json"');
    expect(after).toContain("// Where orders are.");
    expect((await waybill(["table", "check", "tables/eu.json"], { files })).code).toBe(0);
  });

  it("prints one JSON object with --json", async () => {
    const files = MemoryFiles.of({ "wrangler.toml": without(/\[\[kv_namespaces\]\]\n.*\n\n/) });
    const { code, stdout } = await waybill(["upgrade", "--json"], { files });
    expect([code, JSON.parse(stdout)]).toEqual([
      2,
      {
        applied: false,
        files: [
          {
            file: "wrangler.toml",
            written: [],
            left: [
              {
                what: "The KV namespace TABLE_KV is missing.",
                environment: null,
                isOptional: false,
                text: '[[kv_namespaces]]\nbinding = "TABLE_KV"',
              },
            ],
          },
        ],
      },
    ]);
  });

  it.each([
    [{}, [], "neither a wrangler.toml nor"],
    [{ "wrangler.toml": "[a" }, [], "wrangler.toml cannot be read"],
    [{ "routing-table.json": "{" }, [], "routing-table.json:1:2"],
    [{}, ["--config", "no.toml"], "no.toml cannot be read"],
  ])("fails with a fault for %j %j", async (files, args, words) => {
    const { code, stdout, stderr } = await waybill(["upgrade", ...args], {
      files: MemoryFiles.of(files as Record<string, string>),
    });
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining(words)]);
    expect(stdout + stderr).not.toContain("/tmp/");
  });
});
