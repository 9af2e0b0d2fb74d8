import { DEPLOYED_WITHIN_SECONDS, deploymentCalls } from "./comparison.ts";
import { fleetOf, MONTH_SECONDS } from "./figures.ts";
import { type Inputs, MILLION } from "./inputs.ts";
import { memoryOctets } from "./isolate-figures.ts";
import { samplingMax } from "./money.ts";
import { packParts } from "./packs.ts";
import { dollars, PRICES } from "./prices.ts";
import { reportSecondsFor, reportsPerSecond } from "./renewal.ts";
import { money, shown, table } from "./text.ts";

/** What does not scale: where it ends, and what to do then. */

const SERIES_MAX = 20_000;
/** Four classes of statuses, and as many problems. */
const OUTCOMES = 8;
/** Two histograms of 13 buckets and a sum, attempts, retries, and faults of five kinds. */
const SERIES_OF_REGION = 2 * 14 + 2 + 5;
const ENTITIES = 1_000;
const REGIONS_OF_ENTITY = 3;
const REGIONS = 20;

const REPORT_SECONDS_MAX = 3_600;
const MIB = 2 ** 20;

export function breakTable(inputs: Inputs = MILLION): string[] {
  const fleet = fleetOf(inputs);
  const { locations, isolates, isolateRequestsPerSecond: perIsolate, startsPerSecond } = fleet;
  const { objectCallsPerSecond, reportSeconds, compileSeconds, blockNumbers, mintNames } = inputs;
  const needed = reportSecondsFor(inputs, locations, 1);
  const atNeeded = reportsPerSecond({ ...inputs, reportSeconds: needed }, locations);
  const atMost = reportsPerSecond({ ...inputs, reportSeconds: REPORT_SECONDS_MAX }, locations);
  const mostIsolates = (isolates * objectCallsPerSecond) / atMost;
  const series = ENTITIES * REGIONS_OF_ENTITY * OUTCOMES + REGIONS * SERIES_OF_REGION;
  const lostNumbers = (startsPerSecond * mintNames * blockNumbers) / 2;
  const rows: readonly (readonly string[])[] = [
    [
      "One object takes all reports",
      `${shown(objectCallsPerSecond * reportSeconds)} isolates under traffic with S = ${reportSeconds}: ${shown(objectCallsPerSecond * reportSeconds * inputs.isolateRequestsPerSecond)} requests a second at ${inputs.isolateRequestsPerSecond} an isolate`,
      `\`REPORT_SECONDS\` = ${needed}: ${shown(atNeeded)} calls a second. S may be ${shown(REPORT_SECONDS_MAX)} at most, good for ${shown(mostIsolates)} isolates (the N at which the formula of reports gives C, since each isolate that begins reports too), with metrics an hour old; before that, one object for each location, and totals of all when somebody scrapes. That is not built`,
    ],
    [
      "Every isolate tells at once that an origin died",
      `more than ${shown(objectCallsPerSecond)} isolates that send to one origin: ${shown(isolates)} make ${shown(isolates)} calls in a second`,
      `what comes too late goes with the next report after S, and breakers need nobody's word; but the object has about ${shown(isolates / (2 * objectCallsPerSecond))} s of work, in which metrics and hints come late or not at all. Spreading these reports over some seconds is not built`,
    ],
    [
      "New code ends all isolates together",
      `everywhere in ${DEPLOYED_WITHIN_SECONDS} s: ${shown(deploymentCalls(isolates, reportSeconds))} calls a second (N / D + N / S × (1 − 1 / 2 D), D = ${DEPLOYED_WITHIN_SECONDS} s), and ${shown(isolates / DEPLOYED_WITHIN_SECONDS)} (N / D) again in each S, since reports have no jitter`,
      "deploy in steps. Looking for tables has jitter and drifts apart; a jitter of reports is not built",
    ],
    [
      "Octets of reports",
      `${shown((atNeeded * inputs.isolateSeries * inputs.seriesOctets) / 1e6)} MB/s at ${shown(atNeeded)} calls, if each brings ${shown(inputs.isolateSeries)} series, the cap`,
      "fewer entities and regions an isolate sees, or a longer S: both lower it",
    ],
    [
      "Series",
      `${shown(SERIES_MAX)}: ${shown(ENTITIES)} entities in ${REGIONS_OF_ENTITY} regions each, ${OUTCOMES} outcomes, ${REGIONS} regions make ${shown(series)} (${ENTITIES} × ${REGIONS_OF_ENTITY} × ${OUTCOMES} + ${REGIONS} × ${SERIES_OF_REGION}: of a region two histograms of 14, attempts, retries, 5 faults)`,
      "the rest is summed as `(other)`: totals stay right, the split is lost",
    ],
    [
      "KV takes one write a second of a key",
      "54 revisions a minute: one pointer in 1.1 s [9]",
      "faster ones are published in the truth, and KV gets the last; isolates skip those between. As a table needs a minute and a half to be everywhere, revisions that must be seen by all need that long between them",
    ],
    [
      "A new table is not everywhere at once",
      "at any size: KV's delay [3] does not depend on traffic",
      "the table is no fence: see [moving.md](moving.md)",
    ],
    [
      "The table's text",
      `8 MiB; for the promised table each isolate stands still for ${shown(compileSeconds * 1_000)} ms, and ${shown(perIsolate * compileSeconds)} requests wait for it`,
      `packs: a million ranges in ${packParts(inputs) - 1} pages, of which an isolate loads what it needs`,
    ],
    [
      "Memory while a table is replaced",
      `${shown(memoryOctets(inputs, perIsolate).refreshing / MIB)} of 128 MB with the promised table and all pages of packs that may be kept; a table at the cap on complexity takes up to a tenth more`,
      "`waybill table capacity` says how near it is; packs",
    ],
    [
      "Cold isolates read packs",
      `${shown(startsPerSecond * packParts(inputs))} parts a second, from the edge's cache; a location that gets few requests loses them there, and reads KV again`,
      `all of them from KV would cost ${money(dollars(PRICES.kvReads, startsPerSecond * packParts(inputs) * MONTH_SECONDS))} a month; on \`workers.dev\`, which has no such cache, they do`,
    ],
    [
      "Logs and traces",
      `5 billion events of an account in a day, as documented with the price until November [7]: ${shown(samplingMax(fleet) * 100)} % of the requests`,
      "`head_sampling_rate` for logs and traces, below that in `wrangler.toml`; `REQUEST_LOG` stays `off`; counters cost nothing of it",
    ],
    [
      "Numbers of one sequence",
      `${shown(objectCallsPerSecond * blockNumbers)} numbers a second; and isolates that end lose ${shown(lostNumbers)} a second of all sequences, so that short IDs grow longer`,
      "more entities, each with a sequence of its own; a UUID where numbers need not be short",
    ],
    [
      "Isolates without traffic",
      "below a request in T the first one after a pause is decided by an old table: see the table above",
      "send each gateway a request after publishing, or let the old region refuse",
    ],
  ];
  return table("lll", ["what", "where it ends", "what then"], rows);
}
