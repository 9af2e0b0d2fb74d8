/** Cloudflare's list prices of the paid plan, in US dollars for 30 days. */
export interface Price {
  readonly what: string;
  /** What the plan has in it, in units. */
  readonly included: number;
  readonly perUnit: number;
  readonly text: string;
  /** The number of the source in `SOURCES`. */
  readonly source: number;
}

const MILLIONTH = 1e-6;

export const PRICES = {
  requests: {
    what: "Worker requests",
    included: 10e6,
    perUnit: 0.3 * MILLIONTH,
    text: "10 million, then $0.30 a million; sub-requests are free",
    source: 1,
  },
  cpuMs: {
    what: "processor time",
    included: 30e6,
    perUnit: 0.02 * MILLIONTH,
    text: "30 million ms, then $0.02 a million ms",
    source: 1,
  },
  kvReads: {
    what: "KV reads",
    included: 10e6,
    perUnit: 0.5 * MILLIONTH,
    text: "10 million, then $0.50 a million",
    source: 2,
  },
  kvWrites: {
    what: "KV writes",
    included: 1e6,
    perUnit: 5 * MILLIONTH,
    text: "1 million, then $5.00 a million",
    source: 2,
  },
  objectCalls: {
    what: "Durable Object requests",
    included: 1e6,
    perUnit: 0.15 * MILLIONTH,
    text: "1 million, then $0.15 a million; alarms count",
    source: 4,
  },
  objectGbSeconds: {
    what: "Durable Object duration",
    included: 400_000,
    perUnit: 12.5 * MILLIONTH,
    text: "400,000 GB-s, then $12.50 a million; an object counts as 128 MB",
    source: 4,
  },
  rowsWritten: {
    what: "Durable Object rows written",
    included: 50e6,
    perUnit: 1 * MILLIONTH,
    text: "50 million, then $1.00 a million",
    source: 4,
  },
  events: {
    what: "logs and traces, until 30 November 2026",
    included: 20e6,
    perUnit: 0.6 * MILLIONTH,
    text: "20 million events, then $0.60 a million",
    source: 7,
  },
  eventGb: {
    what: "logs and traces, from 1 December 2026",
    included: 50,
    perUnit: 0.25,
    text: "50 GB, then $0.25 a GB",
    source: 6,
  },
  eventGbMonths: {
    what: "keeping them, from 1 December 2026",
    included: 12,
    perUnit: 0.1,
    text: "12 GB-months, then $0.10 a GB-month",
    source: 6,
  },
} as const satisfies Readonly<Record<string, Price>>;

/** All from Cloudflare's documentation, read in copies on the day of `READ_ON`; the copies differ in age. */
export const READ_ON = "2026-11-21";
export const SOURCES: readonly string[] = [
  "Workers pricing, <https://developers.cloudflare.com/workers/platform/pricing/>",
  "KV pricing, <https://developers.cloudflare.com/kv/platform/pricing/>",
  "How KV works, <https://developers.cloudflare.com/kv/concepts/how-kv-works/>",
  "Durable Objects pricing, <https://developers.cloudflare.com/durable-objects/platform/pricing/>",
  "Durable Objects FAQ, <https://developers.cloudflare.com/durable-objects/reference/faq/>",
  "Observability pricing, <https://developers.cloudflare.com/observability/pricing/>",
  "Workers Logs, <https://developers.cloudflare.com/workers/observability/logs/workers-logs/>",
  "Workers limits, <https://developers.cloudflare.com/workers/platform/limits/>",
  "KV limits, <https://developers.cloudflare.com/kv/platform/limits/>",
];

/** Dollars for so many units in a month. */
export const dollars = ({ included, perUnit }: Price, units: number): number => Math.max(0, units - included) * perUnit;
