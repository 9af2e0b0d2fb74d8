import { type Compared, isWithin } from "./compared.ts";
import { BURSTS } from "./comparison.ts";
import { type Fleet, fleetOf, MONTH_SECONDS } from "./figures.ts";
import { MILLION } from "./inputs.ts";
import { largePacks } from "./large-packs.ts";
import { type BillLine, bill, logBill, samplingMax, total } from "./money.ts";
import { dollars, PRICES, READ_ON } from "./prices.ts";
import { reportSecondsFor } from "./renewal.ts";
import { pagesKept } from "./simulated-pages.ts";
import { reportTable } from "./size-tables.ts";
import { THINNED } from "./steady.ts";
import { exact, money, shown, table } from "./text.ts";

/** The longer parts of the page. */

/** Requests a second of an isolate where traffic is spread over many more of them. */
const SPARSE = 20;

export const section = (title: string, lines: readonly string[]): string[] => ["", `## ${title}`, "", ...lines];

export function reporting({ inputs, locations }: Fleet): string[] {
  const needed = reportSecondsFor(inputs, locations, 1);
  const sparse = fleetOf({ ...inputs, isolateRequestsPerSecond: SPARSE });
  return section("Is one object for all reports enough?", [
    "An object has a soft limit of 1,000 requests a second [5]; C is half of it, so that bursts and the answers' size have room. Calls fall with",
    "S as N / S, so that the least S is about N / C. How many requests an isolate gets decides: it is the one input that nobody",
    "knows beforehand. `waybill_reports_total` shows the calls, and `waybill_reports_total` × S / time the isolates under traffic.",
    "",
    ...reportTable(),
    "",
    `So one object is enough for a million requests a second with \`REPORT_SECONDS\` = ${needed}, if isolates get about ${inputs.isolateRequestsPerSecond} a second, and with ${reportSecondsFor(sparse.inputs, sparse.locations, 1)} if they get ${SPARSE}. Sharding`,
    "by location would divide the calls by the number of objects and cost one call to each of them at a scrape; it is not built.",
  ]);
}

/** The simulation of each size is in the section about the simulation. */
export function largePackPages(): string[] {
  const { requestsPerSecond, packShare } = MILLION;
  const looks = requestsPerSecond * packShare;
  return section("Packs that an isolate cannot keep", [
    `Pages of packs stay in memory up to 16 MiB, which are ${pagesKept(MILLION)} full pages of 32-bit keys; a table may have 64 MiB of packs. Of larger ones pages are dropped and loaded`,
    'again: a request whose page is not there waits for it. Keys "anywhere" look into all pages alike (1 − kept / pages); with keys "mostly in some" the k-th page is looked into 1/k',
    "times as often as the first (Che's approximation). In the edge's cache pages are not dropped for this, so that KV is read no more often; without that cache",
    "(`workers.dev`) each load is a read of KV. If all requests look into packs:",
    "",
    ...table(
      "rlrrr",
      ["pages", "keys", "requests that wait", "loads, 1/s", "as reads of KV, a month"],
      largePacks(MILLION, 1).map(({ pages, keys, missed }) => [
        String(pages),
        keys,
        `${shown(missed * 100)} %`,
        shown(missed * looks),
        money(dollars(PRICES.kvReads, missed * looks * MONTH_SECONDS)),
      ]),
    ),
    "",
    "So packs that requests look into all the time belong below those 16 MiB together: larger ones are for keys of which few are in use.",
  ]);
}

export function billing(fleet: Fleet, deviating: ReadonlyMap<string, string>): string[] {
  const lines = bill(fleet);
  const billRow = ({ what, formula, units, price, dollars: amount }: BillLine): string[] => [
    what,
    formula,
    shown(units),
    `${price.text} [${price.source}]`,
    money(amount),
    deviating.get(what) ?? "",
  ];
  const heads = ["what", "units", "in 30 days", "price", "dollars", "simulation"];
  const sampling = fleet.inputs.logSampling;
  return section("Money", [
    ...table("llrlrr", heads, [
      ...lines.map(billRow),
      ["**together**", "", "", "", `**${money(total(lines))}**`, deviating.get("**together**") ?? ""],
    ]),
    "",
    `That is ${shown((total(lines) / fleet.inputs.requestsPerSecond / MONTH_SECONDS) * 1e6)} dollars for a million requests. A read of KV is paid whether a cache has it or not (assumed: the list makes no difference), and the edge's cache has no`,
    "price in these lists. An object's duration counts as if it never rested. What the plan costs ($5), and what origins cost, is left out.",
    "",
    "Logs and traces, with all requests sampled and with as many as `wrangler.toml` says:",
    "",
    ...table(
      "lrr",
      ["what", "all", `one in ${exact(1 / sampling)}`],
      logBill(fleet, 1).map(({ what, dollars: amount }, at) => [
        what,
        money(amount),
        money(logBill(fleet, sampling)[at]?.dollars ?? 0),
      ]),
    ),
    "",
    `The prices, in the copies read on ${READ_ON}: ${[PRICES.events, PRICES.eventGb, PRICES.eventGbMonths].map(({ text, source }) => `${text} [${source}]`).join("; ")}. The first price leaves out the limit of 5 billion events a day that was documented with it [7]: ${shown(samplingMax(fleet) * 100)} % of the requests fit, and of what is beyond one in a hundred is kept.`,
  ]);
}

export function simulated(compared: readonly Compared[]): string[] {
  return section("Simulation", [
    "`npm run bench -- scale` runs it with several seeds, prints the ratios, and fails when one leaves its band. It draws every request:",
    "each stream of requests meets an isolate, which ends at random and begins anew, looks for tables and reports by the rules of `src/edge/`",
    "(`test/edge/scale-rules.test.ts` runs both side by side), reads KV through the view of its location, and bodies and parts of packs through its location's cache.",
    "It keeps and drops pages by the code of `src/edge/kept-pages.ts` and `src/routing/pack/` itself, and takes numbers block by block. The bill is that of",
    "the counts: rates go on for a month, and a publication comes as often as the inputs say. Alarms, scrapes, and the calls and writes of one publication are no",
    "matter of chance: they are set, and the same test counts those of a publication with a pack.",
    `**Scaled down** are the requests alone: ${exact(THINNED.requestsPerSecond)} a second instead of a million, over the same ${exact(THINNED.locations)} locations and the same`,
    `${shown(fleetOf(THINNED).isolates)} isolates. An isolate depends on requests only by the wait for the next one, which is a hundred times as long here, and the formulas`,
    "are evaluated with that wait; the numbers that an isolate mints, and so its blocks, are as many as in earnest. The three rows of busiest seconds after the bill have about a",
    "tenth of the isolates, with a tenth of their requests each; those behind them are one isolate's. Seed 1:",
    "",
    ...table(
      "lrrrrl",
      ["what", "formula", "simulated", "ratio", "band", ""],
      compared.map((one) => [
        one.what,
        `${shown(one.formula)} ${one.unit}`.trim(),
        shown(one.simulated),
        (one.simulated / one.formula).toFixed(2),
        `± ${shown(one.band * 100)} %`,
        isWithin(one) ? "holds" : "**does not hold**",
      ]),
    ),
    "",
    "One publication differs from the next by more than the number of isolates suggests, since a sixth of them share the busiest location's",
    "view of KV: hence the wide band of the median. The time of all of them is a bound, so that the simulation stays below it. New code in D = 5 s: N / D + N / S × (1 − 1 / 2 D) in its first second, N / D two cycles later, with the",
    `N = ${shown(fleetOf(BURSTS).isolates)} isolates of those rows.`,
  ]);
}

export function selfHosting({ inputs }: Fleet): string[] {
  const busyShare = 0.6;
  const processes = Math.ceil((inputs.requestsPerSecond * inputs.cpuSeconds) / busyShare);
  return section("Self-hosted", [
    `A workerd process uses one processor, and a request ${exact(inputs.cpuSeconds * 1e6)} µs of it ([performance.md](performance.md), on one machine on one day): ${shown(1 / inputs.cpuSeconds)} requests a second when it does`,
    `nothing else, and ${exact(processes)} processes for a million at ${exact(busyShare * 100)} % load (R c / 0.6). Each is one isolate: it looks into its own folder once in T (${shown(processes / inputs.refreshSeconds)} reads`,
    `a second of all), a new table is in force ${exact(inputs.refreshSeconds * (1 + inputs.refreshJitter))} s after its files are there, and compiling the promised one stops its process for ${exact(inputs.compileSeconds * 1_000)} ms, in which ${shown((busyShare / inputs.cpuSeconds) * inputs.compileSeconds)} requests wait.`,
    "What does not grow along: Durable Objects are each process's own, so that metrics are scraped from each and summed by Prometheus, breakers know",
    "only what their process saw, and LUUIDs must be minted by one process, or two give the same number.",
  ]);
}
