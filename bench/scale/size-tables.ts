import { fleetOf } from "./figures.ts";
import { type Inputs, MILLION } from "./inputs.ts";
import { bill, total } from "./money.ts";
import { newValueReads, pointerReadsPerSecond, reportSecondsFor, reportsPerSecond } from "./renewal.ts";
import { exact, money, shown, table } from "./text.ts";

/** The same at other sizes. */

const SIZES = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
const ISOLATE_LOADS = [2_000, 500, 100, 20];
const OBJECTS = [1, 10];

/** A hundredth of all requests mint, as in `MILLION`. */
const atSize = (requestsPerSecond: number): Inputs => ({
  ...MILLION,
  requestsPerSecond,
  mintsPerSecond: requestsPerSecond / 100,
});

export const sizeTable = (): string[] =>
  table(
    "rrrrrrr",
    ["R", "isolates", "pointer reads, 1/s", "body reads a revision", "reports, 1/s", "S to set", "bill of a month"],
    SIZES.map((size) => {
      const fleet = fleetOf(atSize(size));
      const { inputs, locations, isolates } = fleet;
      return [
        exact(size),
        shown(isolates),
        shown(pointerReadsPerSecond(inputs, locations)),
        shown(newValueReads(inputs, locations)),
        shown(reportsPerSecond(inputs, locations)),
        String(Math.max(inputs.reportSeconds, reportSecondsFor(inputs, locations, 1))),
        money(total(bill(fleet))),
      ];
    }),
  );

/** Which `REPORT_SECONDS` a number of objects needs, by the load of an isolate, which nobody outside knows. */
export const reportTable = (): string[] =>
  table(
    "rrrrr",
    [
      "u",
      "isolates",
      "reports at 10 s, 1/s",
      ...OBJECTS.map((count) => `least S, ${count} object${count > 1 ? "s" : ""}`),
    ],
    ISOLATE_LOADS.map((isolateRequestsPerSecond) => {
      const { inputs, locations, isolates } = fleetOf({ ...MILLION, isolateRequestsPerSecond });
      return [
        exact(isolateRequestsPerSecond),
        shown(isolates),
        shown(reportsPerSecond(inputs, locations)),
        ...OBJECTS.map((count) => `${reportSecondsFor(inputs, locations, count)} s`),
      ];
    }),
  );

const IDLE: readonly (readonly [text: string, gapSeconds: number])[] = [
  ["100 a second", 0.01],
  ["1 a second", 1],
  ["1 a minute", 60],
  ["1 in 10 minutes", 600],
  ["1 an hour", 3_600],
];

/** Requests of an isolate that are decided by a table nobody had looked after for T: the first one after each cycle. */
export const idleTable = (): string[] =>
  table(
    "lrr",
    ["an isolate gets", "requests decided by a table older than T", "of these, 1 in 100 by one older than"],
    IDLE.map(([text, gapSeconds]) => {
      const { refreshSeconds } = MILLION;
      const share = gapSeconds / (gapSeconds + refreshSeconds);
      return [text, `${shown(share * 100)} %`, `${shown(refreshSeconds + gapSeconds * Math.log(100))} s`];
    }),
  );
