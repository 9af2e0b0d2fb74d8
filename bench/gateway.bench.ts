import { iuid } from "../src/ids/index.ts";
import type { Bench, BenchOptions } from "./bench.ts";
import { processorMs, startLoad, startOrigin } from "./children.ts";
import { COUNTRY_COUNT, SERVICE_COUNT } from "./keys.ts";
import { needed, randomFields } from "./random-ids.ts";
import type { Cell, Section } from "./report.ts";
import { inTurn, ratios, spread } from "./sample.ts";
import { countryServiceTable, kindPath } from "./tables.ts";
import { startWorker } from "./workerd.ts";

/** A turn is long enough for some garbage collections, which a gateway's throughput depends on. */
const TURN_PER_SAMPLE = 25;

const REQUESTS = 2_000;

const BARE = "bare pass-through Worker";

interface Contestant {
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
  { title: "Gateway, 64 connections, small answers", connections: 64, query: "limit=20" },
  { title: "Gateway, 64 connections, answers of 64 KiB", connections: 64, query: "answer=big" },
  { title: "Gateway, 1 connection, small answers", connections: 1, query: "limit=20" },
];

/** What one turn of one contestant gave. */
interface Turn {
  readonly perSecond: number;
  readonly processorUs: number | undefined;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

type Load = ReturnType<typeof startLoad>;

/** The whole gateway against a Worker that only passes on, and one written by hand, all on the same workerd. */
export const gatewayBench: Bench = {
  name: "gateway",
  run: async (options) => {
    const stops: (() => Promise<void>)[] = [];
    try {
      const origin = await startOrigin();
      stops.push(origin.stop);
      const contestants = await startContestants(origin.url, stops);
      const load = startLoad();
      stops.push(load.stop);
      const sections: Section[] = [];
      for (const shape of SHAPES) {
        sections.push(await measure(shape, [{ name: "origin itself", ...origin }, ...contestants], load, options));
      }
      return sections;
    } finally {
      await Promise.all(stops.map((stop) => stop()));
    }
  },
};

async function startContestants(originUrl: string, stops: (() => Promise<void>)[]): Promise<Contestant[]> {
  const tableText = JSON.stringify(countryServiceTable(COUNTRY_COUNT, SERVICE_COUNT, originUrl));
  const vars = { ORIGIN: originUrl };
  const workers = {
    [BARE]: { worker: "bare.ts" },
    // How far apart two that do the same come out is the noise of the run.
    "the same again": { worker: "bare.ts" },
    Waybill: {},
    "Waybill, bodies not watched": { vars: { IDLE_DEADLINE_MS: "0" } },
    "Waybill, no deadlines": { vars: { FIRST_BYTE_DEADLINE_MS: "0", IDLE_DEADLINE_MS: "0" } },
    "by hand: Hono, regex, Map, hono/proxy": { worker: "by-hand.ts" },
  };
  const contestants: Contestant[] = [];
  for (const [name, options] of Object.entries(workers)) {
    const running = await startWorker({
      tableText,
      ...options,
      vars: { ...vars, ...("vars" in options && options.vars) },
    });
    stops.push(running.stop);
    contestants.push({ name, port: running.port, pid: running.pid });
  }
  return contestants;
}

async function measure(shape: Shape, contestants: Contestant[], load: Load, options: BenchOptions): Promise<Section> {
  const { rounds, progress } = options;
  const durationMs = options.sampleMs * TURN_PER_SAMPLE;
  const requests = requestsOf(shape);
  const turn = async ({ port, pid }: Contestant): Promise<Turn> => {
    const before = processorMs(pid);
    const { answers, tookMs, p50Ms, p99Ms } = await load.run({
      port,
      connections: shape.connections,
      durationMs,
      requests,
    });
    const after = processorMs(pid);
    const processorUs = before === undefined || after === undefined ? undefined : ((after - before) * 1000) / answers;
    return { perSecond: (answers / tookMs) * 1000, processorUs, p50Ms, p99Ms };
  };
  progress(`${shape.title}: warming up`);
  for (const contestant of contestants) await turn(contestant);
  const turns = await inTurn(contestants, rounds, turn, (round) =>
    progress(`${shape.title}: round ${round} of ${rounds}`),
  );
  const bare = turns.get(BARE) ?? [];
  return {
    title: shape.title,
    note:
      `Median (range) over ${rounds} round(s), ${durationMs} ms each; ratios to the bare Worker's turn of the same round. ` +
      `Processor time is the process's own and the kernel's for it.`,
    columns: ["what", "requests/s", "x bare", "processor us", "x bare", "p50 ms", "p99 ms"],
    rows: [...turns].map(([name, own]) => [name, ...cells(own, bare)]),
  };
}

function cells(own: readonly Turn[], bare: readonly Turn[]): Cell[] {
  const column = (turns: readonly Turn[], read: (turn: Turn) => number | undefined) =>
    turns.map(read).filter((figure) => figure !== undefined);
  const perSecond = (turns: readonly Turn[]) => column(turns, (turn) => turn.perSecond);
  const processorUs = (turns: readonly Turn[]) => column(turns, (turn) => turn.processorUs);
  const reported = processorUs(own).length > 0;
  return [
    spread(perSecond(own)),
    spread(ratios(perSecond(own), perSecond(bare))),
    reported ? spread(processorUs(own)) : null,
    reported ? spread(ratios(processorUs(own), processorUs(bare))) : null,
    spread(column(own, (turn) => turn.p50Ms)),
    spread(column(own, (turn) => turn.p99Ms)),
  ];
}

/** Requests as a mobile app sends them, for IDs of every country and service. */
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
