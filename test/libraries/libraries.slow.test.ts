import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { type Comparison, claims, compare } from "./compare.ts";
import { installLibraries } from "./install.ts";
import { KINDS, type Library } from "./libraries.ts";

/** Runs the pinned libraries: each statement of the page's section "My library" is what they do. */

const folder = installLibraries();
const compared = new Map<Library, Comparison>();

describe.concurrent.each(KINDS)("$title", ({ libraries }) => {
  it.each(libraries)("$name", async (library) => {
    const found = await compare(folder, library);
    compared.set(library, found);
    expect({ ...found, refused: found.refused.slice(0, 3), mistakenShare: undefined }).toEqual({
      refused: [],
      misrouted: [],
      alike: library.alike,
      reads: library.reads,
      differences: [],
    });
    expect(found.mistakenShare ?? 0).toBeGreaterThanOrEqual(library.mistaken?.least ?? 0);
    expect(found.mistakenShare ?? 0).toBeLessThanOrEqual(library.mistaken?.most ?? 0);
  });
});

it("other statements of the page", async () => {
  expect(await claims(folder)).toEqual({
    "nodejs-snowflake: two starts have two epochs": true,
    "snowflake-id and flakeid: machine 1023 is 0": true,
    "@theinternetfolks/snowflake: shards change with each ID": true,
    "tsid-ts: toDecimalString is another number": true,
    "sonyflake: 65 bits at its default": true,
    "timestamp-objectid: equal within a second": true,
    "small-uuid: slugid reads another UUID": true,
    "hyperid: a slash without urlSafe": true,
    "sequential-guid: each is one more": true,
  });
});

afterAll(() => {
  const packages = Object.keys(JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")).dependencies);
  const count = (test: (library: Library, found: Comparison) => boolean): number =>
    packages.filter((name) =>
      [...compared].some(([library, found]) => packageOf(library) === name && test(library, found)),
    ).length;
  process.stdout.write(
    `libraries: ${packages.length}; Waybill parses IDs of ${count(({ layout }, { refused }) => layout !== undefined && refused.length === 0)}, ` +
      `reads fields alike with ${count((_, { alike }) => alike.length > 0)}; ${count((_, { reads }) => reads === "yes")} read what Waybill mints\n`,
  );
});

const packageOf = ({ name }: Library): string => name.split(" ")[0] ?? "";
