import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { iuid } from "../../src/ids/index.ts";
import { asOneProcess, installedEngines, startEngine } from "../../test/export/engines.ts";
import { COUNTRY_COUNT, SERVICE_COUNT } from "../lib/keys.ts";
import { pinToOneCore } from "../lib/process-usage.ts";
import { startOrigin } from "../lib/processes.ts";
import { needed, randomFields } from "../lib/random.ts";
import type { Bench, BenchOptions, Cell, Section } from "../lib/report.ts";
import { inTurn, ratios, spread } from "../lib/sample.ts";
import { countryServiceTable, kindPath } from "../lib/tables.ts";
import {
  column,
  type Load,
  processorUsOf,
  ratiosOf,
  startLoad,
  TURN_PER_SAMPLE,
  type Turn,
  takeTurn,
  verdict,
} from "../lib/turns.ts";
import { startWorker, type WorkerOptions } from "../lib/workerd.ts";
import { type ColdMeasured, measureCold, nextRatios, over } from "./cold.ts";
import { type Measurement, TARGETS, type Target, targetSection } from "./targets.ts";

const REQUESTS = 2_000;

const BARE = "bare pass-through Worker";
const BY_HAND = "by hand: Hono, regex, Map, hono/proxy";
const AGAIN = "the same again";
const STATIC = "static answer";
const WAYBILL = "Waybill";
const MINIMAL = "Waybill, minimal fields";

interface Subject {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
}

interface Shape {
  readonly title: string;
  readonly connections: number;
  /** Header fields of the client's request. */
  readonly fields: number;
  readonly query: string;
  /** Bytes of the request's body. */
  readonly upload?: number;
  /** Share of what the gateway carried in the first shape; absent: as many requests as go. */
  readonly load?: number;
  /** Turns before the first round; absent: one. V8 compiles what is used within the first ten thousand requests. */
  readonly warmUpTurns?: number;
}

const SMALL = { connections: 64, fields: 12, query: "limit=20" };

const SHAPES = {
  fields12: { ...SMALL, title: "Gateway, 64 connections, 12 header fields, small responses", warmUpTurns: 10 },
  fields1: { ...SMALL, title: "Gateway, 64 connections, 1 header field, small responses", fields: 1 },
  fields40: { ...SMALL, title: "Gateway, 64 connections, 40 header fields, small responses", fields: 40 },
  answers64k: { ...SMALL, title: "Gateway, 64 connections, responses of 64 KiB", query: "response=64k" },
  answers1m: { ...SMALL, title: "Gateway, 16 connections, responses of 1 MiB", connections: 16, query: "response=1m" },
  uploads1m: {
    ...SMALL,
    title: "Gateway, 16 connections, uploads of 1 MiB",
    connections: 16,
    upload: 1024 * 1024,
    warmUpTurns: 5,
  },
  oneConnection: { ...SMALL, title: "Gateway, 1 connection, small responses", connections: 1 },
  half: { ...SMALL, title: "Gateway, 64 connections, half of what the gateway carries", load: 0.5 },
} as const satisfies Record<string, Shape>;

/** The gateway against a pass-through Worker and a hand-written one, all on the same workerd. */
export const gatewayBench: Bench = {
  name: "gateway",
  run: async (options) => {
    const stops: (() => Promise<unknown>)[] = [];
    try {
      const origin = await startOrigin();
      stops.push(origin.stop);
      const subjects = await startSubjects(origin.url, options.against, stops);
      const isPinned = subjects.map(({ pid }) => pinToOneCore(pid)).every(Boolean);
      const pinned = isPinned
        ? "All but cold starts are pinned to one core."
        : "NOT PINNED to one core: `taskset` failed.";
      const load = startLoad();
      stops.push(load.stop);
      const sections: Section[] = [];
      const candidates = [{ name: "origin itself", ...origin }, ...subjects.filter(({ name }) => name !== STATIC)];
      const turns = new Map<string, Turns>();
      for (const [key, shape] of Object.entries<Shape>(SHAPES)) {
        const full = turns.get("fields12")?.get(WAYBILL) ?? [];
        const perSecond = shape.load && spread(full.map((one) => one.perSecond)).median * shape.load;
        const measured = await measure(shape, candidates, load, { ...options, perSecond });
        sections.push(measured.section);
        turns.set(key, measured.turns);
      }
      for (const count of [1, 1000]) sections.push(await measureMint(count, subjects, load, options));
      const few = await measureStarts(2, origin.url, options);
      const many = await measureStarts(COUNTRY_COUNT, origin.url, options);
      sections.push(few.section, many.section);
      sections.push(targetSection([...turnTargets(turns), ...startTargets(few.starts, many.starts)], pinned));
      return sections;
    } finally {
      await Promise.all(stops.map((stop) => stop()));
    }
  },
};

async function startSubjects(
  originUrl: string,
  against: string | undefined,
  stops: (() => Promise<unknown>)[],
): Promise<Subject[]> {
  const table = countryServiceTable(COUNTRY_COUNT, SERVICE_COUNT, originUrl);
  const tableText = JSON.stringify(table);
  const withFields = (fields: string) => JSON.stringify({ ...table, fields });
  const vars = { ORIGIN: originUrl };
  const workers = {
    [BARE]: { worker: new URL("bare.worker.ts", import.meta.url) },
    // The difference of two identical Workers is the noise of the run.
    [AGAIN]: { worker: new URL("bare.worker.ts", import.meta.url) },
    [WAYBILL]: {},
    ...(against === undefined ? {} : { [`Waybill of ${against}`]: { worker: workerOf(against) } }),
    "Waybill, full fields": { tableText: withFields("full") },
    [MINIMAL]: { tableText: withFields("minimal") },
    [BY_HAND]: { worker: new URL("by-hand.worker.ts", import.meta.url) },
    [STATIC]: { worker: new URL("static.worker.ts", import.meta.url) },
  };
  const subjects: Subject[] = [];
  for (const [name, options] of Object.entries<Omit<WorkerOptions, "vars">>(workers)) {
    const running = await startWorker({
      tableText,
      ...options,
      vars,
    });
    stops.push(running.stop);
    subjects.push({ name, port: running.port, pid: running.pid });
  }
  for (const engine of installedEngines()) {
    const running = await startEngine(engine, table, undefined, asOneProcess);
    stops.push(running.stop);
    subjects.push({ name: `exported to ${engine}`, port: running.port, pid: running.pid });
  }
  return subjects;
}

/** A row for each figure of the turns that has a target. */
function turnTargets(turns: ReadonlyMap<string, Turns>): Measurement[] {
  const row = (
    target: Measurement["target"],
    shape: keyof typeof SHAPES,
    read: (turn: Turn) => number | undefined,
    { own = WAYBILL, reference = BARE, of }: { own?: string; reference?: string; of?: string } = {},
  ): Measurement => {
    const taken = turns.get(shape);
    const noise = Math.abs(spread(ratiosOf(taken?.get(AGAIN), taken?.get(BARE), read)).median - 1);
    return {
      target,
      ...(of === undefined ? {} : { of }),
      noise,
      figures: ratiosOf(taken?.get(own), taken?.get(reference), read),
    };
  };
  const small = [
    { shape: "fields1", of: "1 field" },
    { shape: "fields12", of: "12 fields" },
  ] as const;
  const rate = (turn: Turn) => turn.perSecond;
  return [
    ...small.map(({ shape, of }) => row(TARGETS.standardRate, shape, rate, { reference: BY_HAND, of })),
    ...small.map(({ shape, of }) => row(TARGETS.standardProcessor, shape, processorUsOf, { of })),
    ...small.map(({ shape, of }) => row(TARGETS.minimalRate, shape, rate, { own: MINIMAL, reference: BY_HAND, of })),
    row(TARGETS.answers64k, "answers64k", processorUsOf),
    row(TARGETS.answers1m, "answers1m", processorUsOf),
    row(TARGETS.uploads1m, "uploads1m", processorUsOf),
    row(TARGETS.p99, "half", (turn) => turn.p99Ms),
  ];
}

type Starts = ColdMeasured["starts"];

function startTargets(few: Starts, many: Starts): Measurement[] {
  const processor = (target: Target) => ({ name: `${target.name}, processor time` });
  const cases = [
    { target: TARGETS.firstOf10, of: "ten routes", starts: few },
    { target: TARGETS.firstOf1000, of: "1,000 routes", starts: many },
  ];
  const first = cases.flatMap(({ target, starts }) => [
    { target, figures: over(starts.get(WAYBILL), starts.get(BARE), "firstMs") },
    { target: processor(target), figures: over(starts.get(WAYBILL), starts.get(BARE), "firstProcessorMs") },
  ]);
  const next = cases.map(({ of, starts }) => {
    return { target: TARGETS.nextRequests, of, figures: nextRatios(starts.get(WAYBILL), starts.get(BARE)) };
  });
  return [...first, ...next];
}

/** By a table of five services in some countries, a route each. */
function measureStarts(countryCount: number, originUrl: string, options: BenchOptions): Promise<ColdMeasured> {
  const tableText = JSON.stringify(countryServiceTable(countryCount, SERVICE_COUNT, originUrl));
  const subjects = [
    { name: BARE, workerPath: fileURLToPath(new URL("bare.worker.ts", import.meta.url)), tableText },
    { name: WAYBILL, workerPath: undefined, tableText },
    { name: BY_HAND, workerPath: fileURLToPath(new URL("by-hand.worker.ts", import.meta.url)), tableText },
  ];
  // The Worker by hand reads an ID only with more path behind it.
  const paths = randomPaths(100, countryCount).map((path) => `${path}/events`);
  return measureCold(`Cold starts, ${countryCount * SERVICE_COUNT} routes`, subjects, paths, originUrl, options);
}

const workerOf = (checkout: string): URL => pathToFileURL(resolve(checkout, "src/worker.ts"));

type Turns = ReadonlyMap<string, readonly Turn[]>;

interface Measured {
  readonly section: Section;
  readonly turns: Turns;
}

async function measure(
  { title, connections, warmUpTurns = 1, ...shape }: Shape,
  subjects: readonly Subject[],
  load: Load,
  { rounds, sampleMs, progress, perSecond }: BenchOptions & { readonly perSecond: number | undefined },
  messages: readonly string[] | ((name: string) => readonly string[]) = requestsOf(shape),
  reference = BARE,
): Promise<Measured> {
  const durationMs = sampleMs * TURN_PER_SAMPLE;
  const turn = async ({ name, port, pid }: Subject): Promise<Turn> => {
    const requests = typeof messages === "function" ? messages(name) : messages;
    return takeTurn(load, pid, { port, connections, durationMs, perSecond, requests });
  };
  progress(`${title}: warming up`);
  for (const subject of subjects) for (let each = 0; each < warmUpTurns; each++) await turn(subject);
  const turns = await inTurn(subjects, rounds, turn, (round) => progress(`${title}: round ${round} of ${rounds}`));
  const bare = turns.get(reference) ?? [];
  const note =
    `Median (range) over ${rounds} round(s), ${durationMs} ms each; ratios to the turn of "${reference}" in the same round. ` +
    `Processor time is user and kernel time of the process.${verdict(turns.get(AGAIN), bare, "the bare Worker")}`;
  const columns = ["what", "requests/s", "x", "processor us", "x", "p50 ms", "p99 ms"];
  const rows = [...turns].map(([name, own]) => [name, ...cells(own, bare)]);
  return { section: { title, note, columns, rows }, turns };
}

/** A minted ID costs a request; a thousand cost the text of a thousand. */
async function measureMint(count: number, subjects: readonly Subject[], load: Load, options: BenchOptions) {
  const body = JSON.stringify({ entity: "kind-0", country: "AD", count });
  const message = (target: string) =>
    `POST ${target} HTTP/1.1\r\nhost: api.example.com\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const bytes = 60 + count * 39;
  const requests = (name: string) => [message(name === STATIC ? `/?${bytes}` : "/mint")];
  const shape = { title: `POST /mint of ${count}, 64 connections`, connections: 64, fields: 3, query: "" };
  const two = subjects.filter(({ name }) => name === STATIC || name === WAYBILL);
  return (await measure(shape, two, load, { ...options, perSecond: undefined }, requests, STATIC)).section;
}

function cells(own: readonly Turn[], bare: readonly Turn[]): Cell[] {
  const perSecond = (turns: readonly Turn[]) => column(turns, (turn) => turn.perSecond);
  const processorUs = (turns: readonly Turn[]) => column(turns, processorUsOf);
  const isMeasured = processorUs(own).length > 0;
  return [
    spread(perSecond(own)),
    spread(ratios(perSecond(own), perSecond(bare))),
    isMeasured ? spread(processorUs(own)) : null,
    isMeasured ? spread(ratios(processorUs(own), processorUs(bare))) : null,
    spread(column(own, (turn) => turn.p50Ms)),
    spread(column(own, (turn) => turn.p99Ms)),
  ];
}

/** Header fields of a mobile app, and more of its own when there are to be more. */
const FIELDS = [
  "host: api.example.com",
  "user-agent: ExampleApp/8.4.1 (iPhone; iOS 19.1)",
  "accept: application/json",
  "accept-encoding: gzip, br",
  "accept-language: kk-KZ,ru;q=0.8",
  "authorization: Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJl",
  "cookie: session=2f8a7c1d9b; theme=dark; language=kk",
  "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  "x-app-version: 8.4.1",
  "x-device-id: 7f1b2c3d",
  "cache-control: no-cache",
  "referer: https://app.example.com/orders",
  ...Array.from({ length: 28 }, (_, at) => `x-app-field-${at}: the value of field ${at}`),
];

/** For IDs of all countries and services. */
function requestsOf({ query, fields, upload }: Pick<Shape, "query" | "fields" | "upload">): string[] {
  const [method, length, body] =
    upload === undefined ? ["GET", [], ""] : ["PUT", [`content-length: ${upload}`], "x".repeat(upload)];
  const count = upload === undefined ? REQUESTS : 20;
  return randomPaths(count).map((path) =>
    [`${method} ${path}/events?${query} HTTP/1.1`, ...FIELDS.slice(0, fields), ...length, "", body].join("\r\n"),
  );
}

function randomPaths(count: number, countryCount = COUNTRY_COUNT): string[] {
  const word = () => Math.floor(Math.random() * 2 ** 32);
  return Array.from({ length: count }, () => {
    const service = word() % SERVICE_COUNT;
    const keys = { mintedAt: Date.now(), country: word() % countryCount, service };
    const id = iuid.format(needed(iuid.encode({ ...randomFields(iuid, word), ...keys })));
    return kindPath(service).replace(":id", id);
  });
}
