import { describe, expect, it } from "vitest";
import {
  counted,
  formatDuration,
  formatSize,
  type ProgressOptions,
  startProgress,
  tinted,
} from "../../src/cli/lib/output.ts";

/** A clock that is moved by hand, and what was reported. */
const stage = (isReportWatched: boolean, options: Partial<ProgressOptions> = {}) => {
  const reports: string[] = [];
  let now = 1_000;
  const progress = startProgress(
    { label: "shards.csv", bytes: 40_000_000, ...options },
    { nowMs: () => now, isReportWatched, report: (text) => reports.push(text) },
  );
  const work = (ms: number, bytes: number): void => {
    now += ms;
    progress.add(bytes);
  };
  return { reports, progress, work };
};

describe("progress on a terminal", () => {
  it("is one line that is rewritten ten times a second at most, and taken away in the end", () => {
    const { reports, progress, work } = stage(true);
    work(99, 1_000_000);
    expect(reports).toEqual([]);
    work(401, 19_000_000);
    work(50, 1_000_000);
    work(450, 19_000_000);
    progress.clear();
    expect(reports).toEqual([
      `\r\u001b[K[${"#".repeat(10)}${".".repeat(10)}] 50 %  40.0 MB/s  shards.csv`,
      `\r\u001b[K[${"#".repeat(20)}] 100 %  40.0 MB/s  shards.csv`,
      "\r\u001b[K",
    ]);
  });

  it("makes room for what is printed in between, and touches nothing where it shows nothing", () => {
    const { reports, progress, work } = stage(true);
    progress.clear();
    work(100, 10_000_000);
    progress.clear();
    progress.clear();
    work(100, 0);
    progress.clear();
    expect(reports.map((text) => text === "\r\u001b[K")).toEqual([false, true, false, true]);
  });

  it("shows the bytes done if the total is unknown, and the end of a long name", () => {
    const { reports, work } = stage(true, { bytes: 0, label: `/very/long/${"x".repeat(40)}.csv` });
    work(500, 1_500_000);
    expect(reports).toEqual([`\r\u001b[K1.5 MB  3.0 MB/s  …${"x".repeat(19)}.csv`]);
  });

  it("says how many rows are done and how long the rest takes, on one line of the terminal", () => {
    const { reports, progress, work } = stage(true);
    work(500, 100_000);
    progress.add(0, 1_234_567);
    work(1_500, 9_900_000);
    expect(reports.at(-1)).toBe(
      `\r\u001b[K[${"#".repeat(5)}${".".repeat(15)}] 25 %  5.0 MB/s  1,234,567 rows  6 s left  shards.csv`,
    );
    expect((reports.at(-1) ?? "").length).toBeLessThan(80);
  });

  it.each([
    [1, "1 s"],
    [99_000, "99 s"],
    [99_001, "2 min"],
    [3_540_001, "1 h 0 min"],
    [7_500_000, "2 h 5 min"],
  ])("%d ms are %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it("stays at 100 % while a file grows", () => {
    const { reports, work } = stage(true, { bytes: 10 });
    work(1_000, 20);
    expect(reports[0]).toContain("] 100 %");
  });
});

describe("progress elsewhere", () => {
  it("is a line every ten seconds, and none for short work", () => {
    const { reports, progress, work } = stage(false);
    work(9_999, 10_000_000);
    expect(reports).toEqual([]);
    work(1, 10_000_000);
    work(5_000, 5_000_000);
    work(5_000, 5_000_000);
    progress.clear();
    expect(reports).toEqual(["shards.csv: 50 %, 2.0 MB/s, 10 s left\n", "shards.csv: 75 %, 1.5 MB/s, 7 s left\n"]);
  });
});

it("is silent with --json, on a terminal too", () => {
  for (const isReportWatched of [true, false]) {
    const { reports, progress, work } = stage(isReportWatched, { isQuiet: true });
    work(60_000, 10_000_000);
    progress.clear();
    progress.clear();
    expect(reports).toEqual([]);
  }
});

it("counts the chunks of a stream when their reader is done with them", async () => {
  const { progress, reports, work } = stage(true, { bytes: 4 });
  async function* chunks() {
    yield new Uint8Array(1);
    work(200, 0);
    yield new Uint8Array(3);
  }
  const read: number[] = [];
  for await (const chunk of counted(chunks(), progress)) read.push(chunk.length);
  expect(read).toEqual([1, 3]);
  expect(reports).toEqual([expect.stringContaining(" 25 % ")]);
});

it("counts the lines of a stream as rows", async () => {
  const { progress, reports, work } = stage(true, { bytes: 8 });
  async function* chunks() {
    yield new TextEncoder().encode("a\nb\n");
    work(200, 0);
    yield new TextEncoder().encode("c\n");
  }
  for await (const _ of counted(chunks(), progress)) work(100, 0);
  expect(reports.at(-1)).toContain("  2 rows  ");
});

const marked = (text: string) => tinted(text, (style, part) => `<${style}>${part}</>`);

it.each([
  ["error: no\nnothing was changed\n", "<red>error:</> no\nnothing was changed\n"],
  ["a.json:1:2: /x: bad\nerror: a\n", "<red>a.json:1:2:</> /x: bad\n<red>error:</> a\n"],
  ["warning: a.json:1:2: /x: odd\n", "<yellow>warning:</> a.json:1:2: /x: odd\n"],
  ["note: error: in the middle\n", "note: error: in the middle\n"],
  ['{"file":"a:1:2:","error":"x"}\n', '{"file":"a:1:2:","error":"x"}\n'],
])("colours the beginning of %j", (text, shown) => {
  expect(marked(text)).toBe(shown);
});

it("a size is never shown as nothing", () => {
  expect([312, 9_149, 99_949, 100_000, 9_000_840].map(formatSize)).toEqual([
    "312 B",
    "9.1 kB",
    "99.9 kB",
    "0.1 MB",
    "9.0 MB",
  ]);
});
