import { expect, it } from "vitest";
import type { DiffCounts } from "../../../src/cli/lib/diff.ts";
import { markdownOf } from "../../../src/cli/lib/diff-markdown.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const markdown = (after: unknown, ...more: readonly string[]) =>
  waybill(["table", "diff", "--markdown", "routing-table.json", "after.json", ...more], {
    files: tableFiles(DECLARED_TABLE, { "after.json": JSON.stringify(after) }),
  });

it("says what a change of the table does to IDs", async () => {
  const [kz, ...others] = DECLARED_TABLE.routes;
  const after = {
    ...DECLARED_TABLE,
    routes: [{ ...kz, region: "us" }, ...others],
    moved: { "01990f04-d900-8007-8040-000000000001": { region: "eu", epoch: 3 } },
  };
  const { stdout, stderr, code } = await markdown(after);
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  expect(stdout).toBe(`### Routing table

> ⚠️ \`region ap has no routes: no ID is routed there\`

| part | change |
| --- | --- |
| \`moved\` | \`1 added: 01990f04-d900-8007-8040-000000000001\` |
| \`routes\` | \`6 before, 6 after\` |

**Keys routed differently**

| IDs | keys | from | to | share |
| --- | --- | --- | --- | --- |
| \`order (iuid)\` | \`country KZ\` | \`ap\` | \`us\` | \`1 key, 0.39 % of the key space, 1 of 4 countries\` |
| \`ride (iuid)\` | \`country KZ\` | \`ap\` | \`us\` | \`1 key, 0.39 % of the key space, 1 of 4 countries\` |

**Entities routed differently**

| ID | entity | from | to |
| --- | --- | --- | --- |
| \`01990f04-d900-8007-8040-000000000001\` | \`order\` | \`us (routes)\` | \`eu (moved, epoch 3)\` |
`);
});

it("says so where nothing goes elsewhere", async () => {
  expect(await markdown(DECLARED_TABLE)).toMatchObject({
    stdout: "### Routing table\n\nNo ID and no request goes elsewhere.\n",
    code: 0,
  });
  const renamed = {
    ...DECLARED_TABLE,
    regions: { ...DECLARED_TABLE.regions, sa: { origins: [{ url: "http://sa.test" }] } },
  };
  expect((await markdown(renamed)).stdout).toContain("\n\nNo key is routed differently.\n");
  expect((await markdown(renamed, "--exit-code")).code).toBe(2);
});

it("is of bounded size, and each text of a table stays code", async () => {
  const regions = Object.fromEntries(
    Array.from({ length: 100 }, (_, at) => [`r${at}`, { origins: [{ url: `http://r${at}.test` }] }]),
  );
  const routes = Array.from({ length: 500 }, (_, at) => ({
    when: { layout: "hotguid", shardKey: `${at * 10}-${at * 10 + 8}` },
    region: `r${at % 100}`,
  }));
  const { stdout, stderr } = await markdown({
    ...DECLARED_TABLE,
    regions: { ...DECLARED_TABLE.regions, ...regions },
    routes,
  });
  expect(stderr).toBe("");
  expect(Buffer.byteLength(stdout)).toBeLessThan(60_000);
  expect(stdout).toMatch(/… and [0-9,]+ more, which `waybill table diff BEFORE AFTER` lists\./);
  for (const line of stdout.split("\n").filter((each) => each.startsWith("| `"))) {
    expect(line.replace(/`[^`]*`/g, "CODE")).toMatch(/^\|( (CODE)? \|)+$/);
  }
});

it.each([
  ["a|b", "a\\|b"],
  ["a\\|b", "a\\¦b"],
  ["a\\\\|b|c", "a\\\\¦b\\|c"],
  ["`@all\n| x", "'@all\\u{a}\\| x"],
])("ends no cell by a bar, which renderers read in two ways behind backslashes: %j", (url, shown) => {
  const still = { changed: 0, listed: [] };
  const origins = [{ region: "eu", removed: [url], added: [] }];
  const counts = { parts: {}, origins, routes: { differ: false }, keyChanges: still, overrides: still };
  expect(markdownOf(counts as unknown as DiffCounts, [])).toContain(`| \`${shown} → none\` |`);
});

it.each([["--json"], ["--log", "requests.ndjson"]])("is one form of output: %s", async (...more) => {
  expect(await markdown(DECLARED_TABLE, ...more)).toMatchObject({
    stdout: "",
    stderr: "error: give --markdown without --json and --log\n",
    code: 64,
  });
});
