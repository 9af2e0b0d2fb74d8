import { breakTable } from "./breaks.ts";
import { deviations } from "./compared.ts";
import { comparisons } from "./comparison.ts";
import { type Fleet, fleetFigures, fleetOf, kvFigures, objectFigures, propagationFigures } from "./figures.ts";
import { INPUT_ROWS, MILLION } from "./inputs.ts";
import { cpuFigures, memoryFigures, subrequestFigures } from "./isolate-figures.ts";
import { bill, logBill, total } from "./money.ts";
import { billing, largePackPages, reporting, section, selfHosting, simulated } from "./page-parts.ts";
import { READ_ON, SOURCES } from "./prices.ts";
import { reportSecondsFor, reportsPerSecond } from "./renewal.ts";
import { idleTable, sizeTable } from "./size-tables.ts";
import { checkedTable, exact, figureTable, money, shown, table } from "./text.ts";

/** The simulation on the page is always this one, so that the page stays the same. */
const SEED = 1;

/** `docs/scale.md`: every figure with its formula and its inputs, and the simulation beside it. */
export function scalePage(): string {
  const fleet = fleetOf(MILLION);
  const compared = comparisons(SEED);
  const deviating = deviations(compared);
  return `${[
    ...intro(fleet),
    ...section("Inputs", [
      "Symbols are those of the formulas below. What is assumed nobody outside of Cloudflare knows, or is yours to know: change it in",
      "`bench/scale/inputs.ts`, and `npm run generate` makes this page anew. The assumptions err on the side of more isolates, and so of more calls.",
      "",
      ...table(
        "lllrl",
        ["", "what", "from", "value", "unit"],
        INPUT_ROWS.map(({ key, symbol, what, unit, from }) => [symbol, what, from, exact(MILLION[key]), unit]),
      ),
    ]),
    ...section("Isolates", checkedTable(fleetFigures(fleet), deviating)),
    ...section("KV", [
      "An isolate reads the pointer at its first request, and then at the first request after each T. Only the first isolates of a location",
      "that see a new pointer read the body from KV; the others find it in the edge's cache, as cold isolates do. So it is with the parts of packs.",
      "",
      ...checkedTable(kvFigures(fleet), deviating),
    ]),
    ...largePackPages(),
    ...section("Durable Objects", [
      "Moved entities ask no object: isolates and the edge's cache remember them. What others have found of an origin comes with the answer to a",
      "report. A round of checks is one request to each origin that wants it, from the object.",
      "",
      ...checkedTable(objectFigures(fleet), deviating),
    ]),
    ...reporting(fleet),
    ...section("Until a new table is everywhere", [
      "After P it is in KV. A location sees it up to K later, when what it has cached runs out; an isolate of it up to T later, when it looks;",
      "and then it needs w. V is uniform, and W is the rest of a cycle that is running: its density is the chance that a cycle is",
      "longer, divided by the mean. The pointer is read with a cache life of 30 s, which may halve K; what is documented is 60.",
      "",
      ...checkedTable(propagationFigures(fleet), deviating),
      "",
      "An isolate that gets few requests looks less often than once in T, and the request that makes it look is still decided by the old table:",
      "",
      ...idleTable(),
    ]),
    ...section("Processors", checkedTable(cpuFigures(fleet), deviating)),
    ...section("Memory of an isolate", [
      "Of 128 MB [8]. Sums of what was measured and of caps: nothing of it is simulated. What objects parsed from a text take is assumed to be four times the text.",
      "",
      ...figureTable(memoryFigures(fleet)),
    ]),
    ...section("Sub-requests of one request, at most", [
      "The limit is 10,000 on the paid plan and 50 on the free one [8], and six may wait for headers at once. Nearly every request makes one.",
      "",
      ...figureTable(subrequestFigures(), ["for", "when", "most", ""]),
    ]),
    ...billing(fleet, deviating),
    ...section("At other sizes", [
      "S is 10 unless one object then gets more than C. Logs and traces are not in the bill.",
      "",
      ...sizeTable(),
    ]),
    ...simulated(compared),
    ...section("What does not scale", breakTable()),
    ...selfHosting(fleet),
    ...section("Sources", [
      `Prices and limits are those of Cloudflare's documentation, in copies that were read on ${READ_ON}; copies differ in age. Large`,
      "customers have contracts of their own.",
      "",
      ...SOURCES.map((source, at) => `${at + 1}. ${source}`),
    ]),
  ].join("\n")}\n`;
}

function intro({ inputs, locations, isolates, ...fleet }: Fleet): string[] {
  const whole = { inputs, locations, isolates, ...fleet };
  const lines = bill(whole);
  const [requests] = lines;
  const share = ((requests?.dollars ?? 0) / total(lines)) * 100;
  const propagation = propagationFigures(whole);
  const [half, , most] = propagation;
  const logs = logBill(whole, inputs.logSampling).slice(1);
  const allLogs = logBill(whole, 1).slice(1);
  return [
    "# Scale",
    "",
    "What a million requests a second over 300 locations cost: on paper, by formulas whose inputs stand beside them, and by a simulation",
    'that counts most of the same: a figure with a percentage in the column "simulation" is counted, and so far from its formula. Without one it follows from the',
    "others, or is a cap or a price. Generated from `bench/scale/` by `npm run generate`; a test fails when this page is stale. Nothing here was",
    "measured at that size.",
    "",
    `- **Money**: ${money(total(lines))} a month at list prices, of which ${shown(share)} % is the platform's price of the requests themselves. KV and Durable Objects together (reads and writes, calls,`,
    `  duration and rows) are ${money(total(lines.slice(2)))}.`,
    `- **Logs**: as \`wrangler.toml\` has it, one request in ${exact(1 / inputs.logSampling)} is logged and traced, which is another ${money(total(logs))}; all of them would be ${money(total(allLogs))}.`,
    `- **Reports**: with \`REPORT_SECONDS\` 10 the one object that counts gets ${shown(reportsPerSecond(inputs, locations))} calls a second, its limit. Set it to ${reportSecondsFor(inputs, locations, 1)}`,
    `  or more: that keeps it below ${inputs.objectCallsPerSecond}.`,
    `- **A new table**: half of all isolates have it after ${shown(half?.value ?? 0)} s, 99 of 100 after ${shown(most?.value ?? 0)} s; most of that is KV's own delay.`,
    "- **KV and objects** get calls by the number of isolates, not of requests. A request waits for KV only where its isolate is new or lacks a page,",
    "  and for an object only where it mints a LUUID and the block is used up.",
  ];
}
