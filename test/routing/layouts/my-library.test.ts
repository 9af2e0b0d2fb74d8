import { readFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import type { CompiledTable } from "../../../src/routing/table.ts";
import { decisionOf, layoutOf, mintedBy, tableFor } from "../../libraries/compare.ts";
import { ENTRIES, KINDS } from "../../libraries/libraries.ts";
import { faultsOf, load } from "../tables.ts";

/** The page's section "My library", without the libraries: test/libraries runs those. */

const NOW_MS = Date.UTC(2026, 10, 28);

const libraries = KINDS.flatMap((kind) => kind.libraries);
const fileOf = (name: string): string => readFileSync(new URL(`../../libraries/${name}`, import.meta.url), "utf8");
const pinned: Readonly<Record<string, string>> = JSON.parse(fileOf("package.json")).dependencies;

/** Libraries of other formats, which slow tests beside it use. */
const NO_IDS: ReadonlySet<string> = new Set(["standardwebhooks"]);

const canonicalOf = (table: CompiledTable, text: string) => decisionOf(table, text, NOW_MS)?.canonical;

describe("the list of libraries", () => {
  it("has each pinned package, at an exact version, and each once", () => {
    const named = new Set(libraries.map(({ name }) => name.split(" ")[0]));
    expect([...named].toSorted()).toEqual(
      Object.keys(pinned)
        .filter((name) => !NO_IDS.has(name))
        .toSorted(),
    );
    expect(new Set(libraries.map(({ name }) => name)).size).toBe(libraries.length);
    expect(Object.values(pinned).filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  it("uses each entry", () => {
    const used = new Set(libraries.map(({ layout }) => layout));
    expect(Object.keys(ENTRIES).filter((name) => !used.has(name))).toEqual([]);
  });

  it("is installed from a lock that names no registry", () => {
    expect(fileOf("package-lock.json")).not.toContain('"resolved"');
  });
});

describe("the page's examples", () => {
  const page = readFileSync(new URL("../../../docs/reference/layouts.md", import.meta.url), "utf8");
  const blocks = [...page.matchAll(/^```json\n(.*?)^```$/gms)].map(([, block]) => JSON.parse(`{${block}}`));
  const regions = Object.fromEntries(
    ["eu", "us"].map((name) => [name, { origins: [{ url: `https://${name}.internal.example.com` }] }]),
  );

  it("are an entity with its layout and routes, and all entries", () => {
    expect(blocks.map((block) => Object.keys(block))).toEqual([["entities", "layouts", "routes"], ["layouts"]]);
    expect(blocks[1].layouts).toEqual(ENTRIES);
  });

  it("load", () => {
    const { paths } = load({ regions, ...blocks[0] });
    expect(paths.match("/messages/0")?.entity.ids[0]?.enabled.layout.name).toBe("unix-snowflake");
  });

  it("are entries that one table can have together", () => {
    const names = Object.keys(ENTRIES);
    const entities = Object.fromEntries(names.map((name) => [name, { path: `/${name}/:id`, ids: [{ layout: name }] }]));
    expect(faultsOf({ regions, entities, layouts: ENTRIES, routes: [], default: "eu" })).toEqual([]);
  });
});

test.each(libraries)("the table for $name loads", (library) => {
  const table = tableFor(library);
  const entity = table.paths.match("/things/0")?.entity;
  expect(entity?.ids.map(({ enabled }) => enabled.layout.name) ?? []).toEqual(
    library.layout === undefined ? [] : [library.layout],
  );
});

test.each(Object.keys(ENTRIES))("Waybill reads what it mints for entry %s, in one text", (name) => {
  const table = tableFor({ name, layout: name, alike: [] });
  const layout = layoutOf(table);
  if (layout === undefined) throw new Error(name);
  const texts = mintedBy(layout, NOW_MS, 20);
  expect(texts.map((text) => canonicalOf(table, text))).toEqual(texts);
});

describe("TSIDs in 13 digits and in decimal", () => {
  const table = tableFor({ name: "tsid-ts", layout: "tsid", alike: [] });
  // tsid-ts 0.0.9, minted at 2026-11-27T06:43:35.205Z.
  const TEXT = "0SBTNYPMM6D1E";
  const DECIMAL = "914043762974602286";

  it.each([TEXT, TEXT.toLowerCase(), DECIMAL])("%s is the same ID in one entity", (text) => {
    expect(canonicalOf(table, text)).toBe(TEXT);
  });

  it("13 digits are no decimal, which would be of the first hour of 2020", () => {
    expect(canonicalOf(table, "0123456789012")).toBe("0123456789012");
    expect(canonicalOf(table, "1234567890123")).toBeUndefined();
    expect(decisionOf(table, "1234567890123", Date.UTC(2030, 0))?.canonical).toBe("1234567890123");
  });

  it.each(["914043762974602286 ", "0914043762974602286", "G000000000000", "18446744073709551616", "0SBTNYPMM6D1"])(
    "%s is none",
    (text) => expect(canonicalOf(table, text)).toBeUndefined(),
  );
});
