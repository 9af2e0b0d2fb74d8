import { expect, test } from "vitest";
import { checkShortComb, judgeClientId, mintShortComb } from "../../../src/ids/index.ts";
import { seeded } from "../../ids/mint/scripted-entropy.ts";
import { faultsOf, load, NOW_MS } from "../tables.ts";

/** uuid-creator and klokwrk count minutes by default, and take other intervals, such as 15 and 30 s. */

const tableWith = (layouts: object) => ({
  regions: { eu: { origins: [{ url: "http://eu.test" }] } },
  entities: { order: { path: "/orders/:id", ids: [{ layout: "short-prefix-comb" }] } },
  layouts,
  routes: [],
  default: "eu",
});

test.each([15, 30, 60])("a table's short COMBs count %i s", (intervalSeconds) => {
  const table = load(tableWith({ "short-prefix-comb": { intervalSeconds } }));
  const layout = table.layouts.get("short-prefix-comb")?.layout;
  if (layout === undefined) throw new Error("no layout");
  const intervalMs = intervalSeconds * 1000;
  const words = mintShortComb(layout, NOW_MS, seeded(1));
  if (!words.ok) throw new Error(words.error.reason);
  const window = { intervalMs, pastIntervals: 0, futureIntervals: 0 };
  expect(checkShortComb(layout, words.value, NOW_MS, window)).toMatchObject({ ok: true, value: { delta: 0 } });
  const judge = (afterMs: number) =>
    judgeClientId(layout, words.value, { nowMs: NOW_MS + afterMs, beforeMs: 2 * intervalMs, afterMs: 0 });
  expect(judge(2 * intervalMs)).toMatchObject({ ok: true, value: { mintedAtMs: NOW_MS } });
  expect(judge(3 * intervalMs)).toMatchObject({ ok: false, error: { reason: "too-old" } });
});

test.each([
  [
    "a layout without intervals",
    { "uuid-v7": { intervalSeconds: 30 } },
    "Only short-prefix-comb and short-suffix-comb",
  ],
  ["a variant", { mine: { like: "short-prefix-comb", intervalSeconds: 30 } }, "under their own names"],
  ["no interval", { "short-prefix-comb": { intervalSeconds: 0 } }, ""],
])("%s is a fault", (_, layouts, message) => {
  const faults = JSON.stringify(faultsOf(tableWith(layouts)));
  expect(faults).toContain("intervalSeconds");
  expect(faults).toContain(message);
});
