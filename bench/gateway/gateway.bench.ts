import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { iuid } from "../../src/ids/index.ts";
import { COUNTRY_COUNT, SERVICE_COUNT } from "../lib/keys.ts";
import { processorMs } from "../lib/process-usage.ts";
import { startClients, startOrigin } from "../lib/processes.ts";
import { needed, randomFields } from "../lib/random.ts";
import type { Bench, BenchOptions, Cell, Section } from "../lib/report.ts";
import { inTurn, ratios, spread } from "../lib/sample.ts";
import { countryServiceTable, kindPath } from "../lib/tables.ts";
import { startWorker } from "../lib/workerd.ts";
import type { LoadFigures, LoadRequest } from "./load.process.ts";

/** A turn spans some garbage collections, which affect a gateway's throughput. */
const TURN_PER_SAMPLE = 25;

const REQUESTS = 2_000;

const BARE = "bare pass-through Worker";

interface Subject {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
}

interface Shape {
  readonly title: string;
  readonly connections: number;
  readonly query: string;
}

const SHAPES: readonly Shape[] = [
  { title: "Gateway, 64 connections, small responses", connections: 64, query: "limit=20" },
  { title: "Gateway, 64 connections, responses of 64 KiB", connections: 64, query: "response=big" },
  { title: "Gateway, 1 connection, small responses", connections: 1, query: "limit=20" },
];

/** Figures of one turn. */
interface Turn {
  readonly perSecond: number;
  readonly processorUs: number | undefined;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const startLoad = () => startClients<LoadRequest, LoadFigures>(new URL("load.process.ts", import.meta.url));
type Load = ReturnType<typeof startLoad>;

/** The gateway against a pass-through Worker and a hand-written one, all on the same workerd. */
export const gatewayBench: Bench = {
  name: "gateway",
  run: async (options) => {
    const stops: (() => Promise<unknown>)[] = [];
    try {
      const origin = await startOrigin();
      stops.push(origin.stop);
      const subjects = await startSubjects(origin.url, options.against, stops);
      const load = startLoad();
      stops.push(load.stop);
      const sections: Section[] = [];
      for (const shape of SHAPES) {
        sections.push(await measure(shape, [{ name: "origin itself", ...origin }, ...subjects], load, options));
      }
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
  const tableText = JSON.stringify(countryServiceTable(COUNTRY_COUNT, SERVICE_COUNT, originUrl));
  const vars = { ORIGIN: originUrl };
  const workers = {
    [BARE]: { worker: new URL("bare.worker.ts", import.meta.url) },
    // The difference of two identical Workers is the noise of the run.
    "the same again": { worker: new URL("bare.worker.ts", import.meta.url) },
    Waybill: {},
    ...(against === undefined ? {} : { [`Waybill of ${against}`]: { worker: workerOf(against) } }),
    "Waybill, no idle deadline": { vars: { IDLE_DEADLINE_MS: "0" } },
    "Waybill, no deadlines": { vars: { FIRST_BYTE_DEADLINE_MS: "0", IDLE_DEADLINE_MS: "0" } },
    "by hand: Hono, regex, Map, hono/proxy": { worker: new URL("by-hand.worker.ts", import.meta.url) },
  };
  const subjects: Subject[] = [];
  for (const [name, options] of Object.entries(workers)) {
    const running = await startWorker({
      tableText,
      ...options,
      vars: { ...vars, ...("vars" in options && options.vars) },
    });
    stops.push(running.stop);
    subjects.push({ name, port: running.port, pid: running.pid });
  }
  return subjects;
}

const workerOf = (checkout: string): URL => pathToFileURL(resolve(checkout, "src/worker.ts"));

async function measure(shape: Shape, subjects: Subject[], load: Load, options: BenchOptions): Promise<Section> {
  const { rounds, progress } = options;
  const durationMs = options.sampleMs * TURN_PER_SAMPLE;
  const requests = requestsOf(shape);
  const turn = async ({ port, pid }: Subject): Promise<Turn> => {
    const before = processorMs(pid);
    const { responses, tookMs, p50Ms, p99Ms } = await load.run({
      port,
      connections: shape.connections,
      durationMs,
      requests,
    });
    const after = processorMs(pid);
    const processorUs = before === undefined || after === undefined ? undefined : ((after - before) * 1000) / responses;
    return { perSecond: (responses / tookMs) * 1000, processorUs, p50Ms, p99Ms };
  };
  progress(`${shape.title}: warming up`);
  for (const subject of subjects) await turn(subject);
  const turns = await inTurn(subjects, rounds, turn, (round) =>
    progress(`${shape.title}: round ${round} of ${rounds}`),
  );
  const bare = turns.get(BARE) ?? [];
  return {
    title: shape.title,
    note:
      `Median (range) over ${rounds} round(s), ${durationMs} ms each; ratios to the bare Worker's turn of the same round. ` +
      `Processor time is user and kernel time of the process.`,
    columns: ["what", "requests/s", "x bare", "processor us", "x bare", "p50 ms", "p99 ms"],
    rows: [...turns].map(([name, own]) => [name, ...cells(own, bare)]),
  };
}

function cells(own: readonly Turn[], bare: readonly Turn[]): Cell[] {
  const column = (turns: readonly Turn[], read: (turn: Turn) => number | undefined) =>
    turns.map(read).filter((figure) => figure !== undefined);
  const perSecond = (turns: readonly Turn[]) => column(turns, (turn) => turn.perSecond);
  const processorUs = (turns: readonly Turn[]) => column(turns, (turn) => turn.processorUs);
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

/** Requests of a mobile app, for IDs of all countries and services. */
function requestsOf({ query }: Shape): string[] {
  const word = () => Math.floor(Math.random() * 2 ** 32);
  return Array.from({ length: REQUESTS }, () => {
    const service = word() % SERVICE_COUNT;
    const keys = { mintedAt: Date.now(), country: word() % COUNTRY_COUNT, service };
    const id = iuid.format(needed(iuid.encode({ ...randomFields(iuid, word), ...keys })));
    return [
      `GET ${kindPath(service).replace(":id", id)}/events?${query} HTTP/1.1`,
      "host: api.example.com",
      "user-agent: ExampleApp/8.4.1 (iPhone; iOS 19.1)",
      "accept: application/json",
      "accept-encoding: gzip, br",
      "accept-language: kk-KZ,ru;q=0.8",
      "authorization: Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJl",
      "x-app-version: 8.4.1",
      "x-device-id: 7f1b2c3d",
      "",
      "",
    ].join("\r\n");
  });
}
