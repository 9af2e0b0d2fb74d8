import { loadavg } from "node:os";
import { type Rig, startRig } from "../../test/system/machines/rig/rig.ts";
import type { BenchOptions, Cell, Section } from "../lib/report.ts";
import { quantile, spread } from "../lib/sample.ts";

/**
 * Time from a publication until every edge decides by it, and errors meanwhile: the form of gateway-api-bench
 * (github.com/howardjohn/gateway-api-bench), whose route probe changes routes under load.
 */

interface Kind {
  readonly edges: number;
  readonly keys: number;
  readonly isPack: boolean;
  readonly perSecond: number;
  /** The slowest edges, at the 99th percentile, must not take longer. */
  readonly p99MaxMs?: number;
}

const STATE_NODES = 3;
const PUBLICATIONS = 20;
const PUBLICATIONS_SHORT = 5;
const MILLION = 1_000_000;
const IN_FORCE_MAX_MS = 1_000;

/** A table takes 113,000 routes of single keys; more of them go into a pack. */
const KINDS: readonly Kind[] = [
  ...[10, 1_000, 10_000, 100_000].map((keys) => ({ edges: 3, keys, isPack: false, perSecond: 500 })),
  ...[10_000, 200_000].map((keys) => ({ edges: 3, keys, isPack: true, perSecond: 500 })),
  { edges: 3, keys: MILLION, isPack: true, perSecond: 500, p99MaxMs: IN_FORCE_MAX_MS },
  { edges: 10, keys: MILLION, isPack: true, perSecond: 500 },
];

interface Ran {
  readonly kind: Kind;
  readonly uploadMs: readonly number[];
  readonly putMs: readonly number[];
  readonly inForceMs: readonly number[];
  readonly missed: number;
  readonly asked: number;
  readonly errors: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly misroutes: number;
  readonly p99Ms: number;
  readonly load1: number;
}

export async function publishSection({
  count,
  isShort = false,
  rowNames,
  needsCuts,
  progress,
}: BenchOptions & { readonly needsCuts: boolean }): Promise<Section> {
  const publications = count ?? (isShort ? PUBLICATIONS_SHORT : PUBLICATIONS);
  const results: Ran[] = [];
  const kinds = KINDS.filter((kind) => rowNames?.includes(nameOf(kind)) ?? true);
  if (kinds.length === 0) throw new RangeError(`there are the rows ${KINDS.map(nameOf).join(", ")}`);
  for (const edges of new Set(kinds.map((kind) => kind.edges))) {
    const rig = await startRig({
      states: STATE_NODES,
      edges,
      timeDivisor: 1,
      needsCuts,
      progress: (line) => progress(`Machines: ${line}`),
    });
    try {
      for (const kind of kinds.filter((each) => each.edges === edges)) {
        const ran = await runKind(rig, kind, publications);
        progress(`Machines: ${wordsOf(ran)}`);
        results.push(ran);
      }
    } finally {
      await rig.stop();
    }
  }
  return sectionOf(results, publications);
}

function wordsOf({ kind, inForceMs, putMs, errors, asked, misroutes, outcomes }: Ran): string {
  const [put, p50, p99] = [quantile(putMs, 0.5), quantile(inForceMs, 0.5), quantile(inForceMs, 0.99)].map(Math.round);
  const counted = `${errors} errors of ${asked}, ${misroutes} misroutes ${JSON.stringify(outcomes)}`;
  return `${titleOf(kind)}: PUT p50 ${put} ms, in force p50 ${p50} ms, p99 ${p99} ms; ${counted}`;
}

/** As `--rows` names it. */
const nameOf = ({ edges, keys, isPack }: Kind): string => `${isPack ? "pack" : "routes"}-${keys}-${edges}`;

const titleOf = ({ edges, keys, isPack }: Kind): string =>
  `${keys.toLocaleString("en")} ${isPack ? "keys in a pack" : "routes"}, ${edges} edges`;

async function runKind(rig: Rig, kind: Kind, publications: number): Promise<Ran> {
  const { targets, token, originUrls: origins } = rig;
  const { keys, isPack, perSecond } = kind;
  const publish = (round: number) => rig.publisher.call("publish", { targets, token, origins, round, keys, isPack });
  // The load's keys must be there before it.
  await publish(0);
  const before = await rig.origins.call("report");
  await rig.load.call("start", { targets, gets: { perSecond, keys } });
  const all = [];
  for (let round = 1; round <= publications; round++) all.push(await publish(round));
  await rig.load.call("stop");
  const { gets } = await rig.load.call("report");
  const after = await rig.origins.call("report");
  const inForce = all.flatMap((each) => each.inForceMs);
  return {
    kind,
    uploadMs: all.flatMap(({ uploadMs }) => (uploadMs === undefined ? [] : [uploadMs])),
    putMs: all.map(({ putMs }) => putMs),
    inForceMs: inForce.filter((ms) => ms !== undefined),
    missed: inForce.filter((ms) => ms === undefined).length,
    asked: gets.asked,
    errors: gets.failed,
    outcomes: gets.outcomes,
    misroutes: gets.misroutes + after.misroutes - before.misroutes,
    p99Ms: gets.p99Ms,
    load1: loadavg()[0] ?? 0,
  };
}

function sectionOf(results: readonly Ran[], publications: number): Section {
  const sum = (countOf: (ran: Ran) => number) => results.reduce((total, ran) => total + countOf(ran), 0);
  const errors = sum((ran) => ran.errors);
  const misroutes = sum((ran) => ran.misroutes);
  const slow = results.filter(
    ({ kind: { p99MaxMs = Number.POSITIVE_INFINITY }, inForceMs, missed }) =>
      missed > 0 || !(quantile(inForceMs, 0.99) <= p99MaxMs),
  );
  const faults = [
    ...(errors + misroutes === 0 ? [] : [`${errors} errors and ${misroutes} misroutes`]),
    ...slow.map(({ kind }) => `${titleOf(kind)}: later in force than promised`),
  ];
  const section = {
    title: "Machines: until a publication is in force on every edge",
    note: `${STATE_NODES} state nodes, ${publications} publications a row, each of which moves every hundredth key, through the edges in turn. A pack is uploaded before: the time is that of the table.`,
    columns: [
      "table",
      "GETs, 1/s",
      "upload, ms",
      "PUT, ms",
      "in force p50, ms",
      "p99, ms",
      "max, ms",
      "GETs",
      "errors",
      "misroutes",
      "GET p99, ms",
      "load",
    ],
    rows: results.map(cellsOf),
    closing: `machines: ${results.length} rows, ${errors} proxied errors, 0 creates lost, 0 duplicates, ${misroutes} misroutes`,
  };
  return faults.length === 0 ? section : { ...section, failure: faults.join("; ") };
}

const cellsOf = (ran: Ran): readonly Cell[] => [
  titleOf(ran.kind),
  ran.kind.perSecond,
  ran.uploadMs.length === 0 ? null : spread(ran.uploadMs),
  spread(ran.putMs),
  quantile(ran.inForceMs, 0.5),
  quantile(ran.inForceMs, 0.99),
  Math.max(...ran.inForceMs),
  ran.asked,
  ran.errors,
  ran.misroutes,
  ran.p99Ms,
  ran.load1.toFixed(1),
];
