import { describe, expect, it } from "vitest";
import { forceOf, forceWords } from "../../../src/console/app/force.ts";
import { readPlace } from "../../../src/console/app/router.ts";
import { durationText, endText } from "../../../src/console/app/words.ts";
import type { IsolateTables } from "../../../src/formats/console-api.ts";
import type { Status } from "../../../src/formats/table-api.ts";

const NOW = Date.parse("2026-11-26T21:48:00Z");
const TIME = "2026-11-26T21:00:00Z";

const STATUS: Status = {
  controlPlane: { revision: 42, digest: "a".repeat(64), time: TIME },
  canary: null,
  kv: null,
  isolate: { revision: 42, source: "memory", ageSeconds: 1, canary: null },
  pending: false,
  lastError: null,
};

/** `count` isolates have reported; those that are `shown` have these revisions. */
const reported = (count: number, shown: readonly number[]): IsolateTables => ({
  count,
  shown: shown.map((revision, at) => ({
    isolate: String(at),
    revision,
    canary: null,
    confirmedAt: TIME,
    reportedAt: TIME,
  })),
});

const textOf = (status: Status, isolates: IsolateTables | undefined): readonly [string, string] => {
  const { icon, text } = forceWords(forceOf(status, isolates, NOW), NOW);
  return [icon, text];
};

const edge = (revision: number) => ({
  name: `edge-${revision}`,
  revision,
  change: 1,
  version: "1.0.0",
  processes: 1,
  ageMs: 1,
  heardAt: TIME,
});

describe("the revision in force", () => {
  it.each([
    ["all that reported have it", reported(38, [42, 42]), ["good", "in force on 38 of 38 instances, 48 min"]],
    ["one is behind", reported(3, [41, 42, 42]), ["testing", "in force on 2 of 3 instances, 48 min"]],
    ["one isolate", reported(1, [42]), ["good", "in force on 1 of 1 instance, 48 min"]],
    ["more may be behind", reported(9, [40, 41]), ["testing", "in force on at most 7 of 9 instances, 48 min"]],
    ["none has reported", reported(0, []), ["none", "instances not known, 48 min"]],
    ["the counters do not answer", undefined, ["none", "instances not known, 48 min"]],
  ] as const)("%s", (_, isolates, expected) => expect(textOf(STATUS, isolates)).toEqual(expected));

  it("is not called in force while its change is not in KV", () => {
    expect(textOf({ ...STATUS, pending: true }, reported(1, [42]))[0]).toBe("testing");
  });

  it("is counted by machines in a cluster", () => {
    const machines = { published: { revision: 42, change: 1 }, edges: [edge(42), edge(41)], nodes: [] };
    expect(textOf({ ...STATUS, machines }, reported(9, [42]))).toEqual([
      "testing",
      "in force on 1 of 2 machines, 48 min",
    ]);
    expect(textOf({ ...STATUS, machines: { ...machines, edges: [] } }, undefined)[0]).toBe("none");
  });

  it.each([
    [{ share: 5 }, { percent: 5, words: "5 %" }],
    [{ countries: ["KZ", "UZ"] }, { words: "2 countries" }],
    [{ entities: ["order"] }, { words: "1 entity" }],
  ])("a canary of %o", (audience, expected) => {
    const canary = { revision: 43, digest: "b".repeat(64), ...audience };
    expect(forceOf({ ...STATUS, canary }, undefined, NOW).canary).toEqual({ revision: 43, ...expected });
  });
});

describe("the end of a session", () => {
  it.each([
    [{ expiresAt: null, endsBy: null }, /^Nothing ends it here\.$/],
    [
      { expiresAt: "2026-11-26T22:18:00Z", endsBy: "2026-11-27T02:40:00Z" },
      /^Ends at .+ if you do nothing, at .+ in any case\.$/,
    ],
    [{ expiresAt: "2026-11-27T02:40:00Z", endsBy: "2026-11-27T02:40:00Z" }, /^Ends at \S+ in any case\.$/],
  ])("%o", (own, expected) => expect(endText(own)).toMatch(expected));
});

describe("places", () => {
  it.each([
    ["", "look-up"],
    ["#/nothing", "look-up"],
    ["#/toString", "look-up"],
    ["#/routes?route=2", "routes"],
    ["#/table", "editor"],
    ["#/table?at=/routes/0", "editor"],
    ["#/stock", "capacity"],
  ])("%s is %s", (fragment, page) => expect(readPlace(fragment).page).toBe(page));

  it("keep their query under a former name", () => {
    expect(readPlace("#/table?line=39").query.get("line")).toBe("39");
  });
});

it.each([
  [-5, "0 s"],
  [59_999, "59 s"],
  [60_000, "1 min"],
  [7_199_000, "119 min"],
  [7_200_000, "2 h"],
  [172_800_000, "2 d"],
])("%d ms are %s", (ms, text) => expect(durationText(ms)).toBe(text));
