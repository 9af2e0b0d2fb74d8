/** Everything that the figures depend on. Times in seconds, octets in octets, shares from 0 to 1. */
export interface Inputs {
  readonly requestsPerSecond: number;
  readonly locations: number;
  readonly zipfExponent: number;
  readonly isolateRequestsPerSecond: number;
  readonly isolateLifeSeconds: number;
  readonly refreshSeconds: number;
  readonly refreshJitter: number;
  readonly publishSeconds: number;
  readonly kvDelaySeconds: number;
  readonly bodyFillSeconds: number;
  readonly revisionsPerDay: number;
  readonly packsPerDay: number;
  readonly packRanges: number;
  readonly rangeOctets: number;
  readonly rangeMemoryOctets: number;
  readonly packShare: number;
  readonly pageOctets: number;
  readonly packMemoryOctets: number;
  readonly reportSeconds: number;
  readonly objectCallsPerSecond: number;
  readonly saveSeconds: number;
  readonly series: number;
  readonly reportedSeries: number;
  readonly seriesOctets: number;
  readonly scrapeSeconds: number;
  readonly checkSeconds: number;
  readonly breakerFailures: number;
  readonly originShare: number;
  readonly mintsPerSecond: number;
  readonly mintNames: number;
  readonly blockNumbers: number;
  readonly cpuSeconds: number;
  readonly compileSeconds: number;
  readonly tableOctets: number;
  readonly loadOctets: number;
  readonly movedEntries: number;
  readonly isolateSeries: number;
  readonly entryOctets: number;
  readonly emptyIsolateOctets: number;
  readonly answerSeconds: number;
  readonly requestOctets: number;
  readonly logSampling: number;
  readonly eventsPerRequest: number;
  readonly eventOctets: number;
  readonly logDays: number;
}

/** A million requests a second over 300 locations. `INPUT_ROWS` says where each value comes from. */
export const MILLION: Inputs = {
  requestsPerSecond: 1_000_000,
  locations: 300,
  zipfExponent: 1,
  isolateRequestsPerSecond: 100,
  isolateLifeSeconds: 1_800,
  refreshSeconds: 30,
  refreshJitter: 0.1,
  publishSeconds: 2,
  kvDelaySeconds: 60,
  bodyFillSeconds: 0.5,
  revisionsPerDay: 24,
  packsPerDay: 1,
  packRanges: 1_000_000,
  rangeOctets: 9,
  rangeMemoryOctets: 8.5,
  packShare: 1,
  pageOctets: 2 ** 20,
  packMemoryOctets: 16 * 2 ** 20,
  reportSeconds: 10,
  objectCallsPerSecond: 500,
  saveSeconds: 10,
  series: 2_000,
  reportedSeries: 200,
  seriesOctets: 60,
  scrapeSeconds: 15,
  checkSeconds: 15,
  breakerFailures: 5,
  originShare: 1 / 3,
  mintsPerSecond: 10_000,
  mintNames: 10,
  blockNumbers: 64,
  cpuSeconds: 145e-6,
  compileSeconds: 0.89,
  tableOctets: 12 * 2 ** 20,
  loadOctets: 48 * 2 ** 20,
  movedEntries: 10_000,
  isolateSeries: 2_000,
  entryOctets: 200,
  emptyIsolateOctets: 10 * 2 ** 20,
  answerSeconds: 0.2,
  requestOctets: 128 * 2 ** 10,
  logSampling: 0.01,
  eventsPerRequest: 3,
  eventOctets: 1_000,
  logDays: 7,
};

/** What an input stands for in the formulas of the page, its unit, and where its value comes from. */
export interface InputRow {
  readonly key: keyof Inputs;
  readonly symbol: string;
  readonly what: string;
  readonly unit: string;
  readonly from: string;
}

const ASSUMED = "assumed";

const row = (key: keyof Inputs, symbol: string, what: string, unit: string, from: string): InputRow => ({
  key,
  symbol,
  what,
  unit,
  from,
});

export const INPUT_ROWS: readonly InputRow[] = [
  row("requestsPerSecond", "R", "requests", "1/s", "the question"),
  row("locations", "L", "locations of the edge", "", "the question"),
  row("zipfExponent", "z", "the k-th location has a share of 1/k^z", "", ASSUMED),
  row("isolateRequestsPerSecond", "u", "requests that one isolate gets", "1/s", `${ASSUMED}: not published`),
  row("isolateLifeSeconds", "μ", "life of an isolate", "s", `${ASSUMED}: not published`),
  row("refreshSeconds", "T", "`TABLE_REFRESH_SECONDS`", "s", "wrangler.toml"),
  row("refreshJitter", "j", "each T is longer or shorter by up to this share", "", "src/edge/tables.ts"),
  row("publishSeconds", "P", "from publishing until the pointer is in KV", "s", `${ASSUMED}: two writes of an alarm`),
  row("kvDelaySeconds", "K", "a location sees KV's new value after 0 to K", "s", "How KV works [3]: 60 s or more"),
  row("bodyFillSeconds", "w", "KV's body read, checked and in the edge's cache", "s", `${ASSUMED}, compiling included`),
  row("revisionsPerDay", "V", "new revisions of the table", "1/day", ASSUMED),
  row("packsPerDay", "Q", "new packs", "1/day", ASSUMED),
  row("packRanges", "n", "ranges of a pack", "", "the question"),
  row("rangeOctets", "", "a range of 32-bit keys", "octets", "src/routing/pack/format.ts"),
  row("rangeMemoryOctets", "", "the same in memory", "octets", "src/routing/pack/page.ts"),
  row("packShare", "y", "requests that look into a pack", "", `${ASSUMED}: all, by keys that lie anywhere in it`),
  row("pageOctets", "", "a page at most", "octets", "src/routing/pack/format.ts"),
  row("packMemoryOctets", "", "pages in an isolate at most", "octets", "src/edge/packs.ts"),
  row("reportSeconds", "S", "`REPORT_SECONDS`", "s", "wrangler.toml"),
  row("objectCallsPerSecond", "C", "calls that one object shall get", "1/s", "half of the soft limit of 1,000 [5]"),
  row("saveSeconds", "A", "the object writes what has changed", "s", "src/edge/traffic-reports.ts"),
  row("series", "M", "series that change all the time", "", `${ASSUMED}: 20 entities, 5 regions`),
  row("reportedSeries", "", "series in one report", "", ASSUMED),
  row("seriesOctets", "", "a series in a report", "octets", "its key of about 50 characters, and a number"),
  row("scrapeSeconds", "", "between two scrapes of `/-/metrics`", "s", ASSUMED),
  row("checkSeconds", "", "`CHECK_SECONDS`", "s", "wrangler.toml"),
  row("breakerFailures", "b", "failures in a row that open a breaker", "", "src/routing/carriage.ts"),
  row("originShare", "o", "requests that go to the origin that dies", "", ASSUMED),
  row("mintsPerSecond", "m", "LUUIDs that are minted", "1/s", ASSUMED),
  row("mintNames", "g", "sequences that they come from", "", ASSUMED),
  row("blockNumbers", "B", "numbers of a block", "", "src/edge/sequences.ts"),
  row("cpuSeconds", "c", "processor time of a request", "s", "[performance.md](performance.md): 100 µs × 1.3 to 1.6"),
  row("compileSeconds", "k", "compiling the promised table", "s", "[performance.md](performance.md)"),
  row("tableOctets", "", "that table in memory", "octets", "[performance.md](performance.md)"),
  row(
    "loadOctets",
    "",
    "making it takes so much at most, besides the table",
    "octets",
    "[performance.md](performance.md)",
  ),
  row("movedEntries", "", "moved entities that an isolate remembers", "", "src/edge/moved-memory.ts"),
  row("isolateSeries", "", "series of an isolate at most", "", "src/edge/traffic.ts"),
  row("entryOctets", "", "an entry of either", "octets", "src/edge/moved-memory.ts"),
  row("emptyIsolateOctets", "", "the code, and what the runtime takes", "octets", ASSUMED),
  row("answerSeconds", "a", "a request is under way", "s", ASSUMED),
  row("requestOctets", "", "buffers of a request under way", "octets", ASSUMED),
  row("logSampling", "h", "`head_sampling_rate`", "", "wrangler.toml, for logs and for traces"),
  row("eventsPerRequest", "e", "events of a request", "", "a log, and spans of the request and of its fetch"),
  row("eventOctets", "", "an event", "octets", ASSUMED),
  row("logDays", "", "events are kept", "days", "Observability pricing [6]"),
];
