import { describe, expect, test } from "vitest";
import { countChanges, formatChanges } from "../../../src/cli/lib/diff.ts";
import { formatWarning, undoesMoves, warningsOf } from "../../../src/cli/lib/warnings.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { NOW_MS, sampleTable } from "../../routing/tables.ts";

const ID = "0192f0c1-7a30-8005-8040-8f3b2a1c9d77";
const disk = {
  nowMs: () => NOW_MS,
  fileExists: () => false,
  readFile: () => ({ ok: false as const, error: "no such file or directory" }),
};

/** The report on a change: the keys that change, and the warnings. */
const reported = async (before: DeclaredTable, after: DeclaredTable) => {
  const changes = await countChanges(
    { name: "before", table: before },
    { name: "after", table: after },
    undefined,
    disk,
  );
  const warnings = warningsOf(before, after, changes.counts, undefined);
  return { text: formatChanges(changes), warnings, sentences: warnings.map(formatWarning) };
};

const table = (part: Partial<DeclaredTable> = {}): DeclaredTable => ({ ...sampleTable(), moved: {}, ...part });
const moved = (count: number): Exclude<DeclaredTable["moved"], undefined> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`${ID.slice(0, -2)}${10 + at}`, { region: "us", epoch: 3 }] as const),
  );

describe("a step of a move that is undone", () => {
  test("is shown with where its entity goes, and is warned of", async () => {
    const { text, warnings, sentences } = await reported(
      table({ moved: { [ID]: { region: "us", epoch: 3 } } }),
      table(),
    );
    expect(text.split("\n")).toEqual([
      `moved  1 removed: ${ID}`,
      "overridden entities routed differently: 1",
      `  ${ID}  order  us → eu  moved, epoch 3 → routes`,
      "",
    ]);
    expect(warnings).toEqual([{ kind: "move-lost", entities: 1, ids: [ID] }]);
    expect(sentences[0]).toContain(`1 entity (${ID}): the entry of a move is missing`);
    expect(undoesMoves(warnings)).toBe(true);
  });

  test("of many entities is summed, and the first are listed", async () => {
    const { text, sentences } = await reported(table({ moved: moved(25) }), table());
    expect(text).toContain("overridden entities routed differently: 25\n  order  us → eu  25 entities\n");
    expect(text).toMatch(/\n {2}… and 15 more\n$/);
    expect(sentences[0]).toMatch(/^25 entities \((\S+, ){10}…\): /);
  });

  test("as the floor of epochs that falls, too", async () => {
    const { warnings, sentences } = await reported(table({ epochFloor: 4 }), table());
    expect(warnings).toEqual([{ kind: "epoch-floor-falls", from: 4, to: 0 }]);
    expect(sentences[0]).toContain("from 4 to 0");
    expect(undoesMoves(warnings)).toBe(true);
  });

  test("is none where a step is taken", async () => {
    const { text, warnings } = await reported(table(), table({ moved: moved(1), epochFloor: 4 }));
    expect(text).toContain("eu → us");
    expect(warnings).toEqual([]);
  });
});

describe("numbers that mean something else", () => {
  test("countries", async () => {
    const swapped = await reported(table(), table({ countries: { KZ: 6, UZ: 5, BR: 8 } }));
    expect(swapped.warnings.filter(({ kind }) => kind === "country-renumbered")).toEqual([
      { kind: "country-renumbered", number: 5, from: "KZ", to: "UZ" },
      { kind: "country-renumbered", number: 6, from: "UZ", to: "KZ" },
      { kind: "country-renumbered", number: 7, from: "BR" },
    ]);
    expect(swapped.sentences).toEqual(
      expect.arrayContaining([
        "country 5 was KZ and is now UZ: existing IDs change their country",
        "country 7 was BR and is now unassigned: existing IDs lose their country, because BR has another number",
      ]),
    );
    expect(undoesMoves(swapped.warnings)).toBe(false);
    expect((await reported(table({ countries: { KZ: 5, UZ: 6 } }), table())).warnings).toEqual([]);
  });

  test("services, unless an entity only has another name", async () => {
    const { order, ride, ...others } = sampleTable().entities;
    if (order === undefined || ride === undefined) throw new Error("the sample has these entities");
    const swapped = { order: { ...order, ids: ride.ids }, ride: { ...ride, ids: order.ids }, ...others };
    const { sentences } = await reported(table(), table({ entities: swapped }));
    expect(sentences).toEqual([
      "service 1 of layout iuid: was order and is now ride: existing IDs change their entity",
      "service 2 of layout iuid: was ride and is now order: existing IDs change their entity",
    ]);
    expect((await reported(table(), table({ entities: { orders: order, ride, ...others } }))).warnings).toEqual([]);
  });
});

test("an origin with another port is shown and warned of, and one with another path is shown", async () => {
  const { regions } = sampleTable();
  const at = (...urls: readonly string[]) =>
    table({ regions: { ...regions, ap: { origins: urls.map((url) => ({ url })) } } });
  const before = at("http://127.0.0.1:9461");
  const port = await reported(before, at("http://127.0.0.1:9999"));
  expect(port.text).toBe(
    "regions  1 changed: ap\norigins\n  ap  http://127.0.0.1:9461 → http://127.0.0.1:9999\nno key is routed differently\n",
  );
  expect(port.warnings).toEqual([{ kind: "new-origin", region: "ap", authority: "127.0.0.1:9999" }]);
  const path = await reported(before, at("http://127.0.0.1:9461/v2"));
  expect(path.text).toContain("ap  http://127.0.0.1:9461 → http://127.0.0.1:9461/v2\n");
  expect(path.warnings).toEqual([]);
});
