import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { learnTime } from "../../src/console/app/clock.ts";
import { readPlace } from "../../src/console/app/router.ts";
import { countText } from "../../src/console/app/words.ts";
import { capacityFor, samplesOf, tryLayout, usesOf } from "../../src/console/layouts/try-layout.ts";
import { locate, textAfter } from "../../src/console/moves/plan-move.ts";
import { tableIn } from "../../src/console/routing/check-text.ts";
import { membersAt, valuesAt } from "../../src/console/routing/editor/complete.ts";
import { bundleConsole } from "../../src/host/console/build.ts";
import { everyLayout, iuid, type Layout } from "../../src/ids/index.ts";
import type { DeclaredTable } from "../../src/routing/schema/table.ts";
import { readDemoTable } from "../system/demo/demo.ts";

const TEXT = JSON.stringify(readDemoTable());
const declared = tableIn(TEXT) as DeclaredTable;

describe("counts in words", () => {
  it.each([
    [0, "0"],
    [0.005, "0.005"],
    [0.0123, "0.012"],
    [0.1, "0.1"],
    [1.239, "1.24"],
    [12_345, "12,345"],
    [123_456, "123K"],
  ])("%d is %s", (count, text) => expect(countText(count)).toBe(text));
});

describe("the build", () => {
  it("loads at most 150 KiB first, and the editor apart", async () => {
    const files = await bundleConsole();
    const bytesOf = (isFirst: boolean) =>
      files.filter((file) => file.isFirst === isFirst).reduce((sum, { bytes }) => sum + gzipSync(bytes).length, 0);
    expect(bytesOf(true)).toBeLessThanOrEqual(150 * 1024);
    const first = files
      .filter(({ isFirst }) => isFirst)
      .map(({ bytes }) => new TextDecoder().decode(bytes))
      .join("");
    // Names that minification keeps.
    expect([first.includes("cm-editor"), first.includes("u-over")]).toEqual([false, false]);
    expect(bytesOf(false)).toBeLessThanOrEqual(420 * 1024);
  });
});

describe("completion", () => {
  it.each<[readonly string[], string]>([
    [[], "regions"],
    [["routes", "0"], "when"],
    [["routes", "0", "when"], "mintedBefore"],
    [["regions", "eu", "origins", "0"], "weight"],
    [["entities", "order", "create"], "key"],
  ])("of members at %j has %s", (path, name) => {
    expect(membersAt(path).map((member) => member.name)).toContain(name);
  });

  it("of values has the table's own names and the schema's words", () => {
    expect(valuesAt(["routes", "0", "region"], TEXT).map(({ value }) => value)).toEqual(
      Object.keys(declared.regions).map((name) => `"${name}"`),
    );
    expect(valuesAt(["entities", "order", "any"], TEXT).map(({ name }) => name)).toEqual(["proxy", "redirect"]);
    expect(valuesAt(["constructor", "x"], "{")).toEqual([]);
  });
});

describe("a move as a change of the text", () => {
  const id = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
  it("takes the steps in turn, and removes its entry at the end", () => {
    let text = JSON.stringify({ ...JSON.parse(TEXT), moved: undefined });
    const at = () => locate(JSON.parse(text), [id], "eu");
    for (const step of [{ name: "start", to: "us", epochMin: 7 }, { name: "fence" }, { name: "switch" }] as const) {
      const next = textAfter(text, at(), step);
      if (!next.ok) throw new Error(next.error);
      text = next.value;
      expect(tableIn(text)).toBeDefined();
    }
    expect(JSON.parse(text).moved).toEqual({ [id]: { region: "us", epoch: 9 } });
    expect(textAfter(text, at(), { name: "switch" })).toMatchObject({ ok: false });
    const end = textAfter(text, at(), { name: "finish", routed: "us" });
    const table = JSON.parse(end.ok ? end.value : "{}");
    expect([table.moved, table.epochFloor]).toEqual([undefined, 9]);
  });
});

describe("layouts before they are in the table", () => {
  it("has a diagram, its likenesses and IDs; or its faults", () => {
    const rows = [
      { field: "mintedAt", bits: 41, role: "time" as const, unit: "ms" as const, epoch: "2020-01-01T00:00:00Z" },
      { field: "counter", bits: 23, role: "counter" as const },
    ];
    const trial = tryLayout("invoice-id", { rows, text: "decimal" });
    if (!trial.ok) throw new Error(trial.faults[0]?.message);
    expect(trial.diagram).toContain("counter");
    expect(trial.ambiguities.flatMap(({ layouts }) => layouts)).toContain("snowflake");
    expect(samplesOf(trial.layout, 3)).toHaveLength(3);
    // The gateway's time is not the browser's.
    const mintedAt = () => {
      const id = trial.layout.parse(samplesOf(trial.layout, 1)[0] as string);
      return id.ok ? trial.layout.mintedAtMs?.(id.value) : undefined;
    };
    learnTime("Wed, 01 Jan 2031 00:00:00 GMT", Date.now());
    expect(mintedAt()).toBeGreaterThanOrEqual(Date.UTC(2031, 0, 1));
    learnTime(new Date().toUTCString(), Date.now());
    expect(mintedAt()).toBeLessThan(Date.UTC(2031, 0, 1));
    expect(capacityFor(trial.layout, { idsPerSecond: 1, minters: 1, years: 1 })?.time?.field).toBe("mintedAt");
    expect(tryLayout("no", { rows: [], text: "decimal" })).toMatchObject({ ok: false });
    expect(usesOf(iuid, declared).find(({ field }) => field === "country")).toEqual({
      field: "country",
      used: Object.keys(declared.countries ?? {}).length,
      max: 256,
    });
  });

  it("counts the keys that routes name, each once", () => {
    const [hotguid] = everyLayout.filter(({ name }) => name === "hotguid");
    const keys = (...shardKeys: readonly (number | string | (number | string)[])[]) => {
      const routes = shardKeys.map((shardKey) => ({ when: { layout: "hotguid", shardKey }, region: "eu" }));
      return usesOf(hotguid as Layout, { entities: declared.entities ?? {}, routes });
    };
    expect(keys("0-1023", ["1000-2047", 5], 4_000)).toEqual([{ field: "shardKey", used: 2_049, max: 2 ** 32 }]);
    expect(keys("10-20", "0-30", "12-13")).toMatchObject([{ used: 31 }]);
    expect(keys()).toEqual([]);
  });
});

it("reads places, and falls back to the first page", () => {
  expect(readPlace("#/look-up?id=a%20b").query.get("id")).toBe("a b");
  expect([readPlace("").page, readPlace("#/none").page, readPlace("#/moves").page]).toEqual([
    "look-up",
    "look-up",
    "moves",
  ]);
});
