/** Inputs of the figures, in seconds, bytes and shares from 0 to 1: value, symbol, meaning and source. */
export const INPUTS = {
  requestsPerSecond: [1_000_000, "R", "requests, 1/s", "the question"],
  locations: [300, "L", "edge locations", "the question"],
  zipfExponent: [1, "z", "location k gets a share of 1/k^z", "assumed"],
  isolateRequestsPerSecond: [100, "u", "requests of one isolate, 1/s", "assumed"],
  isolateLifeSeconds: [1_800, "μ", "life of an isolate, s", "assumed"],
  refreshSeconds: [30, "T", "TABLE_REFRESH_SECONDS", "wrangler.toml"],
  refreshJitter: [0.1, "j", "jitter of T, either way", "source"],
  publishSeconds: [2, "P", "publishing until KV is written, s", "assumed"],
  kvDelaySeconds: [60, "K", "KV's delay at a location, 0 to K s", "[3]"],
  bodyFillSeconds: [0.5, "w", "reading and compiling a table, s", "assumed"],
  revisionsPerDay: [24, "V", "new tables a day", "assumed"],
  reportSeconds: [10, "S", "REPORT_SECONDS", "wrangler.toml"],
  objectCallsPerSecond: [500, "C", "calls one object should get, 1/s", "half of [5]"],
  saveSeconds: [8, "A", "the object writes changed series, s", "source"],
  series: [2_000, "M", "series that change all the time", "assumed"],
  mintsPerSecond: [10_000, "m", "LUUIDs minted, 1/s", "assumed"],
  sequences: [10, "g", "sequences of LUUIDs", "assumed"],
  blockNumbers: [64, "B", "numbers of a block", "source"],
  cpuSeconds: [145e-6, "c", "processor time of a request, s", "measured"],
  compileSeconds: [0.89, "k", "compiling the largest table, s", "measured"],
  tableBytes: [12 * 2 ** 20, "", "that table in memory, MiB", "measured"],
  loadBytes: [48 * 2 ** 20, "", "peak while it loads, MiB", "measured"],
  pageCacheBytes: [16 * 2 ** 20, "", "pack pages in memory, MiB", "source"],
  otherBytes: [15 * 2 ** 20, "", "code, buffers, series, moves, MiB", "assumed"],
  logSampling: [0.01, "h", "head_sampling_rate", "wrangler.toml"],
  eventsPerRequest: [3, "e", "log events and spans of a request", "assumed"],
} as const satisfies Readonly<Record<string, readonly [number, string, string, string]>>;

export type Inputs = { readonly [Key in keyof typeof INPUTS]: number };

/** A million requests a second over 300 locations. */
export const MILLION = Object.fromEntries(Object.entries(INPUTS).map(([key, [value]]) => [key, value])) as Inputs;

export type Price = readonly [included: number, perMillion: number, source: number];

/** Cloudflare's list prices of the paid plan in US dollars for 30 days: units included, a million more, source. */
export const PRICES = {
  requests: [10e6, 0.3, 1],
  cpuMs: [30e6, 0.02, 1],
  kvReads: [10e6, 0.5, 2],
  objectCalls: [1e6, 0.15, 4],
  objectGbSeconds: [400_000, 12.5, 4],
  rowsWritten: [50e6, 1, 4],
  /** From 1 December 2026. */
  logGb: [50, 250_000, 6],
  logGbMonths: [12, 100_000, 6],
} as const satisfies Readonly<Record<string, Price>>;

export const READ_ON = "2026-11-21";

const SITE = "https://developers.cloudflare.com";
export const SOURCES = [
  `Workers pricing: ${SITE}/workers/platform/pricing/`,
  `KV pricing: ${SITE}/kv/platform/pricing/`,
  `How KV works: ${SITE}/kv/concepts/how-kv-works/`,
  `Durable Objects pricing: ${SITE}/durable-objects/platform/pricing/`,
  `Durable Objects FAQ, soft limit of 1,000 requests a second: ${SITE}/durable-objects/reference/faq/`,
  `Observability pricing: ${SITE}/observability/pricing/`,
  `Workers limits: ${SITE}/workers/platform/limits/`,
];
