import { expect, it } from "vitest";
import { IsolateTableReports, type ReportedTable, tableReporter } from "../../../src/edge/metrics/isolates.ts";
import type { Entropy, ServedTable, Tables } from "../../../src/ports/gateway.ts";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const table = (isolate: string, revision: number, ageMs = 0): ReportedTable => ({
  isolate,
  revision,
  ageMs,
  canary: undefined,
  everyMs: 10_000,
});

it("the tables of isolates: the furthest behind first, each as its last report has it", () => {
  const reports = new IsolateTableReports();
  reports.add(table("a", 40), NOW);
  reports.add(table("b", 41, 30_000), NOW);
  reports.add({ ...table("c", 40, 5_000), canary: 42 }, NOW);
  reports.add(table("a", 41, 1_000), NOW + 2_000);
  expect(reports.read(NOW + 3_000)).toEqual({
    count: 3,
    shown: [
      {
        isolate: "c",
        revision: 40,
        canary: 42,
        confirmedAt: "2026-05-31T23:59:55.000Z",
        reportedAt: "2026-06-01T00:00:00.000Z",
      },
      {
        isolate: "b",
        revision: 41,
        canary: null,
        confirmedAt: "2026-05-31T23:59:30.000Z",
        reportedAt: "2026-06-01T00:00:00.000Z",
      },
      {
        isolate: "a",
        revision: 41,
        canary: null,
        confirmedAt: "2026-06-01T00:00:01.000Z",
        reportedAt: "2026-06-01T00:00:02.000Z",
      },
    ],
  });
});

it("an isolate reports the table in force, by one name as long as it lives", () => {
  let served: Pick<ServedTable, "table" | "canary" | "confirmedAtMs"> | undefined;
  const tables = { peek: () => served } as unknown as Tables;
  const reported = tableReporter({ word: () => 0xbeef } as Entropy, { nowMs: () => NOW }, 10_000, () => tables);
  expect(reported()).toBeUndefined();
  const table = { revision: 41 } as ServedTable["table"];
  served = { table, canary: undefined, confirmedAtMs: NOW - 3_000 };
  expect(reported()).toEqual({ isolate: "0000beef", revision: 41, canary: undefined, ageMs: 3_000, everyMs: 10_000 });
});

it("an isolate that says nothing for a minute is left out; where reports are rarer, for three of them", () => {
  for (const [reportMs, silentMs] of [
    [10_000, 60_000],
    [60_000, 180_000],
  ] as const) {
    const reports = new IsolateTableReports();
    reports.add({ ...table("a", 41), everyMs: reportMs }, NOW);
    expect(reports.read(NOW + silentMs).count).toBe(1);
    expect(reports.read(NOW + silentMs + 1)).toEqual({ count: 0, shown: [] });
  }
});

it("thousands of isolates stay bounded: all are counted up to a limit, and fifty shown", () => {
  const reports = new IsolateTableReports();
  for (let at = 0; at < 6_000; at++) reports.add(table(`i${at}`, at % 100 === 99 ? 40 : 41), NOW);
  const { count, shown } = reports.read(NOW);
  expect([count, shown.length, new Set(shown.map(({ revision }) => revision))]).toEqual([5_000, 50, new Set([40])]);
});
