import { INPUTS, type Inputs, MILLION, READ_ON, SOURCES } from "./inputs.ts";
import * as model from "./model.ts";
import { comparisons } from "./simulation.ts";

/** The simulation on the page is always this one, so that the page stays the same. */
const SEED = 1;

/** Three significant digits: no figure here is worth more. */
const shown = (value: number): string => {
  for (const [unit, letter] of [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
  ] as const)
    if (value >= unit) return `${shown(value / unit)}${letter}`;
  return String(Number(value.toPrecision(3))).replace(/\B(?=(\d{3})+(?!\d))(?<!\..*)/g, ",");
};

function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? "").length)));
  const line = (row: readonly string[]): string => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ");
  return ["```text", ...rows.map((row) => line(row).trimEnd()), "```"];
}

function results(inputs: Inputs): readonly (readonly string[])[] {
  const simulated = new Map(
    comparisons(SEED).map((one) => [one.what, `${((one.simulated / one.formula - 1) * 100).toFixed(1)} %`]),
  );
  const row = (what: string, formula: string, value: number, unit: string, key = what): readonly string[] => [
    what,
    formula,
    `${shown(value)}${unit}`,
    simulated.get(key) ?? "",
  ];
  return [
    ["figure", "formula", "value", "simulation"],
    row("isolates N", "Σ ⌈r / u⌉ over locations", model.isolatesOf(inputs), ""),
    row("starts", "Σ N / (μ + 1/u)", model.startsPerSecond(inputs), "/s"),
    row("pointer reads", "starts / (1 − q), about N / T", model.pointerReadsPerSecond(inputs), "/s"),
    row("body reads", "Σ i x + 1 − x^i, x = w / (T + 1/u)", model.bodyReadsOfRevision(inputs), " a revision"),
    row("reports", "starts / (1 − q), about N / S", model.reportsPerSecond(inputs), "/s"),
    row("blocks", "Σ starts g p / (1 − p^B)", model.blocksPerSecond(inputs), "/s"),
    row("new table, half", "median of P + V + W + w", model.propagationSeconds(inputs, 0.5), " s", "half"),
    row("new table, 99 %", "99th percentile", model.propagationSeconds(inputs, 0.99), " s", "99 %"),
    row("new table, all", "P + K + (1+j)T + ln(N)/u + w", model.worstPropagationSeconds(inputs), " s", "all"),
    row("processors busy", "R c", inputs.requestsPerSecond * inputs.cpuSeconds, ""),
    row("compiling", "(starts + N V / 86,400) k", model.compilingProcessors(inputs), " processors"),
  ];
}

const bill = (inputs: Inputs): readonly (readonly string[])[] => [
  ["30 days", "units", "included", "a million more", "dollars"],
  ...model.billLines(inputs).map(({ what, units, price: [included, perMillion, source], dollars }) => {
    return [what, shown(units), shown(included), `$${perMillion} [${source}]`, shown(dollars)];
  }),
  ["together", "", "", "", shown(model.billOf(inputs))],
];

const SIZES = [1e3, 1e4, 1e5, 1e6, 1e7];

const sizes = (): readonly (readonly string[])[] => [
  ["R", "isolates", "pointer reads, 1/s", "reports, 1/s", "S to set", "dollars"],
  ...SIZES.map((requestsPerSecond) => {
    const inputs = { ...MILLION, requestsPerSecond, mintsPerSecond: requestsPerSecond / 100 };
    return [
      shown(requestsPerSecond),
      shown(model.isolatesOf(inputs)),
      shown(model.pointerReadsPerSecond(inputs)),
      shown(model.reportsPerSecond(inputs)),
      String(Math.max(inputs.reportSeconds, model.leastReportSeconds(inputs))),
      shown(model.billOf(inputs)),
    ];
  }),
];

/** `docs/design/scale.md`: inputs, formulas and results on one page. */
export function scalePage(): string {
  const inputs = MILLION;
  const atRest = inputs.tableBytes + inputs.pageCacheBytes + inputs.otherBytes;
  const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
  const least = model.leastReportSeconds(inputs);
  return `${[
    "# Scale",
    "",
    "The cost of a million requests a second over 300 locations, by formulas and by a seeded simulation. Nothing was measured at",
    "that size. Generated from `bench/scale/` by `npm run generate`; `npm run bench -- scale` runs more seeds.",
    "",
    "## Results",
    "",
    `- **Money**: $${shown(model.billOf(inputs))} a month at list prices; the platform's price per request is most of it.`,
    `- **Logs**: sampling 1 % of the requests costs another $${shown(model.logDollars(inputs, inputs.logSampling))}; all of them, $${shown(model.logDollars(inputs, 1))}.`,
    `- **Reports**: set \`REPORT_SECONDS\` to ${least}. At 10, one object gets ${shown(model.reportsPerSecond(inputs))} calls a second, its limit.`,
    `- **New table**: half of all isolates have it after ${shown(model.propagationSeconds(inputs, 0.5))} s, all after ${shown(model.worstPropagationSeconds(inputs))} s. Most of that is KV's delay.`,
    `- **Memory**: ${mib(atRest)} of 128 MB [7] with the largest table, ${mib(atRest + inputs.tableBytes + inputs.loadBytes)} while the next one is loaded.`,
    "- KV and objects get calls by isolates, not by requests.",
    "",
    ...columns(results(inputs)),
    "",
    "q: the chance that an isolate lives through a pause (T or S) and the wait for a request. p: that it mints once more from a",
    "sequence. V is uniform up to K; W is the rest of a cycle. An isolate that gets few requests keeps its table until the next",
    "one: at one request an hour, 99 % of requests are decided by a table older than T.",
    "",
    "The simulation has all isolates with a hundredth of their requests, for two minutes with one publication. Its column is the",
    "difference from the formula.",
    "",
    "## Inputs",
    "",
    "Assumed values are not published, or are yours to know. Change them in `bench/scale/inputs.ts`.",
    "",
    ...columns(
      Object.values(INPUTS).map(([value, symbol, what, from]) => [
        symbol,
        what.endsWith("MiB") ? shown(value / 2 ** 20) : value < 1 ? String(value) : shown(value),
        what,
        from,
      ]),
    ),
    "",
    "## Bill",
    "",
    ...columns(bill(inputs)),
    "",
    "## Other sizes",
    "",
    ...columns(sizes()),
    "",
    "## Where it ends",
    "",
    `- **One object for reports**: ${shown(inputs.objectCallsPerSecond * inputs.reportSeconds)} isolates at S = 10. Beyond, raise S.`,
    "- **An origin dies**: every isolate that uses it reports within a second. Late reports wait for the next interval.",
    "- **New code everywhere at once**: N / 5 reports a second if it takes 5 s. Deploy in steps.",
    "- **KV takes one write a second for a key**: one pointer in 1.1 s. Isolates skip the revisions between.",
    "- **Packs above 16 MiB** that all requests use: pages are evicted, and 1 − kept / pages of the requests wait. With 36 pages",
    "  and keys anywhere, that is 56 %.",
    "- **Series**: 20,000. The rest is summed as `(other)`.",
    `- **One sequence**: ${shown(inputs.objectCallsPerSecond * inputs.blockNumbers)} numbers a second in the smallest blocks; under load they grow.`,
    `- **Self-hosted**: one process uses one processor, ${shown(1 / inputs.cpuSeconds)} requests a second. Each process has its own Durable Objects: scrape`,
    "  each, and give each its `SEQUENCE_RANGE`.",
    "",
    "## Sources",
    "",
    `Read on ${READ_ON}.`,
    "",
    ...SOURCES.map((source, at) => `${at + 1}. ${source}`),
  ].join("\n")}\n`;
}
