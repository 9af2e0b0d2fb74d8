import { describe, expect, it } from "vitest";
import { forceOf } from "../../../src/console/publish/made/force-of.ts";
import { diffTexts } from "../../../src/console/publish/text/text-lines.ts";
import type { Status } from "../../../src/formats/table-api.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`);

describe("lines that differ", () => {
  it("stand with two lines around them, and lines in between are counted", () => {
    const before = numbered(20);
    const after = before.with(9, "line ten").toSpliced(15, 0, "new");
    const { lines, differ } = diffTexts(before.join("\n"), `${after.join("\n")}\n`);
    expect(
      lines.map((line) => (line.is === "cut" ? `… ${line.count}` : `${line.is} ${line.number} ${line.text}`)),
    ).toEqual([
      "… 7",
      "same 8 line 8",
      "same 9 line 9",
      "went 10 line 10",
      "came 10 line ten",
      "same 11 line 11",
      "same 12 line 12",
      "… 1",
      "same 14 line 14",
      "same 15 line 15",
      "came 16 new",
      "same 17 line 16",
      "same 18 line 17",
      "… 3",
    ]);
    expect(differ).toBe(2);
    expect(lines[4]).toMatchObject({ mark: { from: 5, to: 8 } });
  });

  it("show nothing twice where they are near, and nothing at all where none differ", () => {
    const before = numbered(6);
    const { lines } = diffTexts(before.join("\n"), before.with(1, "a").with(3, "b").join("\n"));
    expect(lines.map((line) => (line.is === "cut" ? 0 : line.text))).toEqual([
      "line 1",
      "line 2",
      "a",
      "line 3",
      "line 4",
      "b",
      "line 5",
      "line 6",
    ]);
    expect(diffTexts("a\n", "a")).toEqual({ lines: [], differ: 0 });
  });
});

const status = (changes: Partial<Status>): Status =>
  ({
    pending: false,
    kv: { revision: 43, digest: "", canary: null, checkedAt: "" },
    lastError: null,
    isolate: { revision: 42, source: "kv", ageSeconds: 1, canary: null },
    ...changes,
  }) as Status;

const isolate = (revision: number, canary: number | null = null) => ({
  isolate: `${revision}`,
  revision,
  canary,
  confirmedAt: "",
  reportedAt: "",
});

describe("how far a change has come", () => {
  it("counts the isolates that have it, or one that is newer", () => {
    const shown = [isolate(42), isolate(43), isolate(44)];
    expect(forceOf({ revision: 43 }, status({}), { count: 3, shown })).toMatchObject({
      isHandedOn: true,
      inForce: 2,
      of: 3,
      isLeast: false,
      kind: "isolates",
    });
    expect(forceOf({ revision: 43 }, status({ pending: true }), { count: 3, shown }).isHandedOn).toBe(false);
  });

  it("knows of those that are not shown that they are further, and says where it does not", () => {
    expect(forceOf({ revision: 43 }, status({}), { count: 60, shown: [isolate(42), isolate(43)] })).toMatchObject({
      inForce: 59,
      isLeast: false,
    });
    expect(forceOf({ revision: 43 }, status({}), { count: 60, shown: [isolate(42), isolate(42)] })).toMatchObject({
      inForce: 0,
      isLeast: true,
    });
  });

  it("counts canaries by their own number, and their end by its absence", () => {
    const shown = [isolate(42, 43), isolate(42)];
    expect(forceOf({ revision: 43, isCanary: true }, status({}), { count: 2, shown }).inForce).toBe(1);
    expect(forceOf({}, status({}), { count: 2, shown }).inForce).toBe(1);
  });

  it("goes by the isolate that answers while none has reported, and by machines where there are some", () => {
    expect(forceOf({ revision: 42 }, status({}), { count: 0, shown: [] })).toMatchObject({ inForce: 1, of: 1 });
    const edge = (revision: number, change: number) => ({
      name: `${change}`,
      revision,
      change,
      version: "1",
      processes: 1,
      ageMs: 1,
      heardAt: "",
    });
    const machines = { published: { revision: 43, change: 9 }, edges: [edge(43, 9), edge(42, 8)], nodes: [] };
    expect(forceOf({ revision: 43 }, status({ machines }), undefined)).toMatchObject({
      inForce: 1,
      of: 2,
      kind: "machines",
    });
    expect(forceOf({}, status({ machines }), undefined).inForce).toBe(1);
  });
});
