import { expect, test } from "vitest";
import { checkTable } from "../../../src/routing/index.ts";
import { nearest } from "../../../src/routing/schema/faults.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

test.each<[typed: string, known: readonly string[], meant: string | undefined]>([
  ["regoins", ["regions", "routes"], "regions"],
  ["ptah", ["path", "ids"], "path"],
  ["wehn", ["when", "region"], "when"],
  ["cros", ["cors", "packs"], "cors"],
  ["cuontires", ["countries"], "countries"],
  ["REGION", ["region"], "region"],
  ["uuid4", ["uuid", "uuid-v4"], "uuid-v4"],
  ["eu", ["us", "ap"], undefined],
  ["x", ["id"], undefined],
  ["orders", ["routes"], undefined],
  ["", ["id"], undefined],
])("%j among %j means %j", (typed, known, meant) => {
  expect(nearest(typed, known)).toBe(meant);
});

/** Misspellings of a name: a character left out, doubled, changed, or swapped with its neighbour. */
const misspelt = (name: string): readonly string[] =>
  [...name].flatMap((character, at) => [
    name.slice(0, at) + name.slice(at + 1),
    name.slice(0, at) + character + name.slice(at),
    `${name.slice(0, at)}~${name.slice(at + 1)}`,
    name.slice(0, at) + name.slice(at + 1, at + 2) + character + name.slice(at + 2),
  ]);

/** Members at each depth of a table, by their keys from the top. */
const MEMBERS: readonly (readonly [...(string | number)[], string])[] = [
  ["regions"],
  ["entities"],
  ["routes"],
  ["regions", "eu", "origins"],
  ["entities", "order", "path"],
  ["entities", "order", "ids", 0, "layout"],
  ["entities", "order", "ids", 0, "service"],
  ["routes", 0, "when"],
  ["routes", 0, "region"],
  ["routes", 0, "when", "country"],
];

test.each(MEMBERS.map((place) => [place]))("a misspelt %j is told its name, where it stands", (place) => {
  const key = String(place.at(-1));
  for (const typo of misspelt(key)) {
    const table = structuredClone(DECLARED_TABLE) as unknown as Record<string, unknown>;
    let parent = table;
    for (const step of place.slice(0, -1)) parent = parent[step] as Record<string, unknown>;
    if (typo === key || typo in parent) continue;
    parent[typo] = parent[key];
    delete parent[key];
    const checked = checkTable(table);
    const found = checked.ok
      ? []
      : checked.error.filter(
          ({ pointer }) => pointer === `/${[...place.slice(0, -1), typo].join("/").replaceAll("~", "~0")}`,
        );
    expect(
      found.map(({ message }) => message),
      typo,
    ).toEqual([expect.stringContaining(`write ${JSON.stringify(key)}`)]);
  }
});
