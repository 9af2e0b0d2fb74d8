import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { tableModules } from "../../src/host/workerd/table-modules.ts";
import * as ids from "../../src/ids/index.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import { FIRST_BYTES_MAX, moduleSizes } from "./module-sizes.ts";

/** The size of `parseId` with one table, minified and gzipped. */
const PARSE_BYTES_MAX = 3072;
/** The size of one compiled layout, minified and gzipped. */
const LAYOUT_BYTES_MAX = 5760;

const folder = fileURLToPath(new URL("../../src/ids", import.meta.url));

const sizeOf = async (names: string): Promise<number> => {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${names} } from "./index.ts";`, resolveDir: folder, loader: "ts" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    write: false,
  });
  return gzipSync(outputFiles[0]?.contents ?? "").length;
};

const exported = Object.entries(ids as Readonly<Record<string, unknown>>).filter(([, value]) =>
  ids.everyLayout.includes(value as ids.Layout),
);

test("every layout is exported by itself", () => {
  expect(exported.length).toBe(ids.everyLayout.length);
});

describe("one layout alone", () => {
  test.each(exported)(`%s is under ${LAYOUT_BYTES_MAX} bytes`, async (name) => {
    expect(await sizeOf(name)).toBeLessThan(LAYOUT_BYTES_MAX);
  });
});

const tables = Object.entries(ids as Readonly<Record<string, unknown>>).filter(([name]) => name.endsWith("Table"));

describe("parsing one layout", () => {
  test("every layout has its table", () => {
    const names = tables.map(([, table]) => (typeof table === "function" ? table({ epochMs: 0 }) : table).name);
    const shared = ["discord-snowflake", "sonyflake-v2"];
    expect([...names, ...shared].toSorted()).toEqual(ids.everyLayout.map(({ name }) => name).toSorted());
  });

  test.each(tables)(`%s is under ${PARSE_BYTES_MAX} bytes`, async (name) => {
    expect(await sizeOf(`parseId, ${name}`)).toBeLessThan(PARSE_BYTES_MAX);
  });
});

test("UUID text alone brings no layout along", async () => {
  expect(await sizeOf("parseUuid, formatUuid")).toBeLessThan(1024);
});

describe("the gateway", () => {
  test(`starts with under ${FIRST_BYTES_MAX} bytes`, async () => {
    const { modules, firstBytes } = await moduleSizes();
    expect(firstBytes).toBeLessThan(FIRST_BYTES_MAX);
    // To load a module of Node takes some 5 ms of each start.
    for (const { code } of modules) expect(code).not.toContain("getBuiltinModule");
  });

  const FAULTY = { ...DECLARED_TABLE, routes: [{ when: {}, region: "mars" }] };
  test.each([
    ["knows the digest of the table that its build checked", DECLARED_TABLE, true],
    ["knows no digest of a table with a fault", FAULTY, false],
  ])("%s", (_, table, isKnown) => {
    const digest = createHash("sha256").update(JSON.stringify(table)).digest("hex");
    const modules = tableModules(JSON.stringify(table), "v");
    expect(modules.some(({ code }) => code.includes(digest))).toBe(isKnown);
  });
});
