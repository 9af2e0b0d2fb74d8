import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  type ClientIdClock,
  checkShortComb,
  clientIdWindowFault,
  compileLayout,
  everyLayout,
  judgeClientId,
  ksuid,
  type Layout,
  layoutNamed,
  luuid,
  shortPrefixComb,
  shortSuffixComb,
  uuidV4,
  uuidV7,
  type Words,
} from "../../../src/ids/index.ts";
import { type ClientIdWindowCase, clientIdCases } from "./client-id-oracle.ts";

const FILE = new URL("../../vectors/client-id.json", import.meta.url);

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 10, 22, 22, 43, 10, 270);
const CLOCK: ClientIdClock = { nowMs: NOW, beforeMs: 5 * MINUTE, afterMs: MINUTE };

const wordsOf = (layout: Layout, text: string): Words => {
  const parsed = layout.parse(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.error.reason}`);
  return parsed.value;
};

const minted = (layout: Layout, name: string, value: number): Words => {
  const others = layout.fields.filter((field) => field.role !== "fixed" && field.name !== name);
  const encoded = layout.encode({ ...Object.fromEntries(others.map((field) => [field.name, 1])), [name]: value });
  if (!encoded.ok) throw new Error(encoded.error.reason);
  return encoded.value;
};

const readVectors = () =>
  (JSON.parse(readFileSync(FILE, "utf8")) as { windows: readonly ClientIdWindowCase[] }).windows;

describe("IDs around every edge of their tolerance", () => {
  it("are in the vectors as the slow judge sees them; run with -u after a change of its cases", async () => {
    const windows = clientIdCases().map((each) => JSON.stringify(each));
    const text = `{\n"title": "Freshness of client IDs: each window with its IDs and their verdicts",\n"windows": [\n${windows.join(",\n")}\n]\n}\n`;
    await expect(text).toMatchFileSnapshot("../../vectors/client-id.json");
  });

  it("are at least 10,000, of every layout with a time or a ring, with every verdict", () => {
    const windows = readVectors();
    expect(windows.reduce((sum, { ids }) => sum + ids.length, 0)).toBeGreaterThanOrEqual(10_000);
    const judged = everyLayout.filter((layout) => clientIdWindowFault(layout, CLOCK) === undefined);
    expect([...new Set(windows.map(({ layout }) => layout))]).toEqual(judged.map(({ name }) => name));
    for (const { name } of judged) {
      const verdicts = windows.filter(({ layout }) => layout === name).flatMap(({ ids }) => ids);
      expect(new Set(verdicts.map((id) => id.split(" ")[1]))).toEqual(
        new Set(["fresh", "too-old", "too-new", "clock-too-far"]),
      );
    }
  });

  it("are judged as the vectors say", () => {
    for (const { layout: name, ids, ...clock } of readVectors()) {
      const layout = layoutNamed(name) as Layout;
      const verdicts = ids.map((id) => {
        const [text = ""] = id.split(" ");
        const judged = judgeClientId(layout, wordsOf(layout, text), clock);
        return `${text} ${judged.ok ? "fresh" : judged.error.reason}`;
      });
      expect(verdicts, `${name} ${JSON.stringify(clock)}`).toEqual(ids);
    }
  });
});

describe("a judgement", () => {
  it("says when the ID was minted, how old it is, and what was expected", () => {
    const id = minted(uuidV7, "mintedAt", NOW - 1234);
    const window = { fromMs: NOW - 5 * MINUTE, toMs: NOW + MINUTE };
    expect(judgeClientId(uuidV7, id, CLOCK)).toEqual({
      ok: true,
      value: { mintedAtMs: NOW - 1234, ageMs: 1234, window },
    });
    const early = { ...CLOCK, nowMs: NOW - 2000 };
    expect(judgeClientId(uuidV7, id, early)).toMatchObject({ ok: true, value: { ageMs: -766 } });
    const late = { ...CLOCK, nowMs: NOW - 1235 + 1 + 5 * MINUTE + 1 };
    expect(judgeClientId(uuidV7, id, late)).toEqual({
      ok: false,
      error: {
        reason: "too-old",
        layout: "uuid-v7",
        said: { mintedAtMs: NOW - 1234 },
        window: { fromMs: NOW - 1233, toMs: NOW - 1233 + 6 * MINUTE },
        nowMs: late.nowMs,
      },
    });
  });

  it("rounds the window down to the layout's unit, so that an ID of this moment is fresh", () => {
    const id = minted(ksuid, "mintedAt", Math.floor((NOW - 1_400_000_000_000) / 1000));
    expect(judgeClientId(ksuid, id, { nowMs: NOW, beforeMs: 0, afterMs: 0 })).toEqual({
      ok: true,
      value: { mintedAtMs: NOW - 270, ageMs: 270, window: { fromMs: NOW - 270, toMs: NOW - 270 } },
    });
  });

  it("of a short COMB knows the time within the window alone", () => {
    const rolloverMs = Date.UTC(2026, 11, 11, 13, 52);
    const clock = { nowMs: rolloverMs + 90_000, beforeMs: 5 * MINUTE, afterMs: MINUTE };
    const window = { fromMs: rolloverMs - 4 * MINUTE, toMs: rolloverMs + 2 * MINUTE, ring: { from: 65_532, to: 2 } };
    expect(judgeClientId(shortPrefixComb, minted(shortPrefixComb, "interval", 65_533), clock)).toEqual({
      ok: true,
      value: { interval: 65_533, mintedAtMs: rolloverMs - 3 * MINUTE, ageMs: 270_000, window },
    });
    expect(judgeClientId(shortSuffixComb, minted(shortSuffixComb, "interval", 3), clock)).toEqual({
      ok: false,
      error: {
        reason: "too-new",
        layout: "short-suffix-comb",
        said: { interval: 3 },
        window,
        nowMs: clock.nowMs,
      },
    });
  });

  it("of a short COMB agrees with checkShortComb in windows of whole intervals", () => {
    const nowMs = Date.UTC(2026, 9, 27, 1, 36);
    for (let interval = 0; interval < 65_536; interval += 1) {
      const words = minted(shortPrefixComb, "interval", interval);
      const clock = { nowMs, beforeMs: 10 * MINUTE, afterMs: 10 * MINUTE };
      expect(judgeClientId(shortPrefixComb, words, clock).ok).toBe(checkShortComb(shortPrefixComb, words, nowMs).ok);
    }
  });

  it("is by the client's own clock within its limit, and names both clocks", () => {
    const id = minted(uuidV7, "mintedAt", NOW - 60 * MINUTE);
    const late = { ...CLOCK, clientNowMs: NOW - 60 * MINUTE, clockSkewMaxMs: 60 * MINUTE };
    expect(judgeClientId(uuidV7, id, late)).toMatchObject({ ok: true, value: { ageMs: 0 } });
    expect(judgeClientId(uuidV7, id, { ...late, clockSkewMaxMs: 60 * MINUTE - 1 })).toEqual({
      ok: false,
      error: {
        reason: "clock-too-far",
        nowMs: NOW,
        clientNowMs: NOW - 60 * MINUTE,
        clockSkewMaxMs: 60 * MINUTE - 1,
      },
    });
    const fresh = minted(uuidV7, "mintedAt", NOW);
    expect(judgeClientId(uuidV7, fresh, late)).toMatchObject({
      ok: false,
      error: { reason: "too-new", nowMs: NOW, clientNowMs: NOW - 60 * MINUTE },
    });
    expect(judgeClientId(uuidV7, fresh, { ...CLOCK, clientNowMs: NOW + 1 })).toMatchObject({
      error: { reason: "clock-too-far", clockSkewMaxMs: 0 },
    });
  });

  it("of a layout without a time is none", () => {
    const declared = compileLayout({
      ...uuidV4.table,
      name: "own",
      rows: [
        { field: "interval", bits: 16, role: "counter" },
        { field: "random", bits: 112, role: "random" },
      ],
    });
    if (!declared.ok) throw new Error(declared.error.reason);
    for (const layout of [uuidV4, luuid, declared.value]) {
      const error = { reason: "no-time", layout: layout.name };
      expect(judgeClientId(layout, [0, 0, 0, 0], CLOCK)).toEqual({ ok: false, error });
      expect(clientIdWindowFault(layout, CLOCK)).toEqual(error);
    }
  });
});

describe("a tolerance", () => {
  it("of a short COMB leaves out a part of the ring", () => {
    const sumMaxMs = 65_534 * MINUTE;
    const widest = { beforeMs: sumMaxMs - MINUTE, afterMs: MINUTE };
    expect(clientIdWindowFault(shortPrefixComb, widest)).toBeUndefined();
    const wider = { ...widest, afterMs: MINUTE + 1 };
    const fault = { reason: "too-wide", layout: "short-prefix-comb", sumMs: sumMaxMs + 1, sumMaxMs };
    expect(clientIdWindowFault(shortPrefixComb, wider)).toEqual(fault);
    expect(clientIdWindowFault(uuidV7, wider)).toBeUndefined();
    const words = minted(shortPrefixComb, "interval", 0);
    expect(() => judgeClientId(shortPrefixComb, words, { nowMs: NOW, ...wider })).toThrow(RangeError);
  });

  it.each([
    { given: { beforeMs: -1 } },
    { given: { afterMs: 0.5 } },
    { given: { afterMs: Number.NaN } },
    { given: { beforeMs: Number.POSITIVE_INFINITY } },
    { given: { nowMs: Number.NaN } },
    { given: { clientNowMs: Number.NaN, clockSkewMaxMs: 1 } },
    { given: { clientNowMs: NOW, clockSkewMaxMs: -1 } },
    { given: { clientNowMs: NOW, clockSkewMaxMs: Number.NaN } },
  ])("$given is the caller's fault", ({ given }) => {
    const id = minted(uuidV7, "mintedAt", NOW);
    expect(() => judgeClientId(uuidV7, id, { ...CLOCK, ...given })).toThrow(RangeError);
  });
});
