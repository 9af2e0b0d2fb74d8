import { describe, expect, test } from "vitest";
import { diffTables, type TableDiff } from "../../../src/routing/index.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { NOW_MS, sampleTable } from "../tables.ts";

/** An order of KZ, minted when the routes say eu. */
const ORDER = "0192f0c1-7a30-8005-8040-8f3b2a1c9d77";
const PARCEL = "6347eb00-bbaa-01cc-0201-0203d0000000";

type Entries = Pick<DeclaredTable, "moved" | "moves" | "gone" | "epochFloor">;

const withEntries = (entries: Entries): DeclaredTable => ({ ...sampleTable(), moved: {}, ...entries });

const overridesOf = (before: Entries, after: Entries): TableDiff["overrides"] =>
  diffTables(withEntries(before), withEntries(after), undefined, NOW_MS).overrides;

const started: Entries = { moves: { [ORDER]: { from: "eu", to: "us", state: "started", epoch: 1 } } };
const fenced: Entries = { moves: { [ORDER]: { from: "eu", to: "us", state: "fenced", epoch: 2 } } };
const moved = (region: string, epoch: number): Entries => ({ moved: { [ORDER]: { region, epoch } } });
const gone: Entries = { gone: { [ORDER]: { epoch: 4 } } };

const wayOf = ({ changes }: TableDiff["overrides"]) => changes.map(({ from, to }) => `${from} → ${to}`);
const kindsOf = ({ undone }: TableDiff["overrides"]) => undone.map(({ kind }) => kind);

describe("where single entities go", () => {
  test("an entry that is no more sends its entity where the routes lead, with its ID and both places", () => {
    const overrides = overridesOf(moved("us", 3), {});
    const change = {
      id: ORDER,
      entity: "order",
      before: { region: "us", by: "moved", epoch: 3 },
      after: { region: "eu", by: "routes" },
    };
    expect(overrides).toEqual({
      changed: 1,
      listed: [change],
      changes: [{ entity: "order", from: "us", to: "eu", entities: 1 }],
      undone: [{ kind: "move-lost", entities: 1, listed: [change] }],
    });
  });

  test.each([
    { step: "start", before: {}, after: started, ways: [] },
    { step: "fence", before: started, after: fenced, ways: ["eu → eu (reads only)"] },
    { step: "switch", before: fenced, after: moved("us", 3), ways: ["eu (reads only) → us"] },
    { step: "abort", before: fenced, after: moved("eu", 3), ways: ["eu (reads only) → eu"] },
    { step: "gone", before: moved("us", 3), after: gone, ways: ["us → gone"] },
    { step: "finish", before: moved("eu", 3), after: { epochFloor: 3 }, ways: [] },
  ])("$step undoes nothing", ({ before, after, ways }) => {
    const overrides = overridesOf(before, after);
    expect({ ways: wayOf(overrides), undone: overrides.undone }).toEqual({ ways, undone: [] });
  });

  test.each([
    { what: "a start is taken back", before: started, after: {}, kind: "move-lost" },
    { what: "a fence is taken back", before: fenced, after: started, kind: "epoch-falls" },
    { what: "a fenced entry is no more", before: fenced, after: { epochFloor: 9 }, kind: "move-lost" },
    { what: "a switch is taken back", before: moved("us", 3), after: fenced, kind: "epoch-falls" },
    {
      what: "an entry loses its epoch",
      before: moved("us", 3),
      after: { moved: { [ORDER]: "us" } },
      kind: "epoch-falls",
    },
    { what: "a step keeps the epoch", before: moved("us", 3), after: moved("ap", 3), kind: "epoch-stands" },
    { what: "the floor is below the epoch", before: moved("eu", 3), after: { epochFloor: 2 }, kind: "move-lost" },
    {
      what: "an entry without an epoch is no more",
      before: { moved: { [ORDER]: "us" } },
      after: {},
      kind: "move-lost",
    },
    { what: "what was gone is back", before: gone, after: {}, kind: "no-longer-gone" },
    { what: "what was gone has moved", before: gone, after: moved("us", 5), kind: "no-longer-gone" },
  ])("no step of a move: $what", ({ before, after, kind }) => {
    expect(kindsOf(overridesOf(before, after))).toEqual([kind]);
  });

  test("an entry of another sort for the same region, and one less that the routes repeat, are no loss", () => {
    const named: Entries = { moved: { [ORDER]: "eu" } };
    expect(overridesOf(named, {})).toMatchObject({ changed: 0, undone: [] });
    expect(overridesOf(named, moved("eu", 1))).toMatchObject({ changed: 0, undone: [] });
  });

  test("an entity that no route takes goes nowhere", () => {
    const overrides = overridesOf({ moved: { [PARCEL]: "ap" } }, {});
    expect(overrides.changes).toMatchObject([{ entity: "parcel", from: "ap" }]);
    const routes = sampleTable().routes.filter(({ when }) => when.layout !== "hotguid" && when.slices === undefined);
    const { overrides: alone } = diffTables(
      { ...sampleTable(), moved: { [PARCEL]: "ap" } },
      { ...sampleTable(), moved: {}, routes },
    );
    expect(wayOf(alone)).toContain("ap → nowhere");
  });

  test("many are summed by where they go, and the first are listed", () => {
    const ids = Array.from({ length: 30 }, (_, at) => `${PARCEL.slice(0, 24)}${(0xd0000000 + at).toString(16)}0000`);
    const before = Object.fromEntries(ids.map((id, at) => [id, at < 20 ? "us" : "ap"]));
    const after = Object.fromEntries(ids.map((id) => [id, "eu"]));
    const overrides = overridesOf({ moved: before }, { moved: after });
    expect(overrides).toMatchObject({
      changed: 30,
      changes: [
        { entity: "parcel", from: "us", to: "eu", entities: 20 },
        { entity: "parcel", from: "ap", to: "eu", entities: 10 },
      ],
      undone: [],
    });
    expect(overrides.listed.map(({ id }) => id)).toEqual(ids.slice(0, 10));
  });

  test("where the tables say the same of each, nothing is told", () => {
    expect(overridesOf(fenced, fenced)).toEqual({ changed: 0, listed: [], changes: [], undone: [] });
  });
});
