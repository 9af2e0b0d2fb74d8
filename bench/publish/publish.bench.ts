import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runWaybill } from "../../src/host/publish/publish.ts";
import type { LoadFigures, LoadRequest } from "../gateway/load.process.ts";
import { startClients, startOrigin } from "../lib/processes.ts";
import type { Bench, Cell } from "../lib/report.ts";
import { quantile, spread } from "../lib/sample.ts";
import { countryServiceTable } from "../lib/tables.ts";
import { type RunningWorker, startWorker } from "../lib/workerd.ts";

/** By default; the median of so many publications is to be below a second. */
const PUBLICATIONS = 20;
const IN_FORCE_MS_MAX = 1_000;

const TRAFFIC = { connections: 16, perSecond: 300, durationMs: 1_000 };

/** Only what is published changes a table here: an isolate reads KV by itself once a day. */
const DAY = "86400";
const TOKEN = "an-operator-of-the-benchmark-alone-0123456789";
const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };
const ADMIN_TOKENS = JSON.stringify([
  { name: "bench", scope: "operator", sha256: createHash("sha256").update(TOKEN).digest("hex") },
]);

const SIZES = [
  { routes: 9, countries: 3, services: 3 },
  { routes: 9_960, countries: 249, services: 40 },
];

type Table = ReturnType<typeof countryServiceTable>;

/** Two tables that send each ID to unlike regions. */
const tablesOf = ({ countries, services }: (typeof SIZES)[number], originUrl: string): readonly [Table, Table] => {
  const table = countryServiceTable(countries, services, originUrl);
  const [first = "", second = ""] = Object.keys(table.regions);
  const other = (region: string) => (region === first ? second : first);
  return [table, { ...table, routes: table.routes.map((route) => ({ ...route, region: other(route.region) })) }];
};

interface Stage {
  readonly gateway: RunningWorker;
  readonly path: string;
  readonly texts: readonly [string, string];
  /** Publications so far: each puts the other text into force. */
  made: number;
}

const regionNow = async ({ gateway, path }: Stage): Promise<string | null> => {
  const response = await fetch(gateway.url + path);
  await response.arrayBuffer();
  return response.headers.get("waybill-region");
};

/** From before the change is sent until a request is decided by it. */
async function untilInForce(stage: Stage, send: () => Promise<void>): Promise<number> {
  const before = await regionNow(stage);
  const startMs = performance.now();
  await send();
  while ((await regionNow(stage)) === before) {
    if (performance.now() - startMs > 60_000) throw new Error("the publication is not in force after a minute");
  }
  return performance.now() - startMs;
}

const revisionAt = async (gateway: RunningWorker): Promise<string> => {
  const response = await fetch(`${gateway.url}/-/table`, { headers: AUTHORIZED });
  await response.arrayBuffer();
  return response.headers.get("etag") ?? "";
};

async function overHttp(stage: Stage, at: number): Promise<number> {
  const { gateway, texts } = stage;
  const headers = { ...AUTHORIZED, "if-match": await revisionAt(gateway) };
  return untilInForce(stage, async () => {
    const response = await fetch(`${gateway.url}/-/table`, { method: "PUT", headers, body: texts[at % 2] as string });
    if (response.status !== 201) throw new Error(`PUT /-/table: ${response.status} ${await response.text()}`);
  });
}

/** As the command says it, which is a process of its own; the request after it must be decided by the table. */
async function byCommand(stage: Stage, at: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-bench-publish-"));
  try {
    const file = join(folder, "table.json");
    writeFileSync(file, stage.texts[at % 2] as string);
    const before = await regionNow(stage);
    const env = { WAYBILL_GATEWAY: stage.gateway.url, WAYBILL_TOKEN: TOKEN };
    const { isGood, printed } = await runWaybill(["table", "publish", file, "--yes", "--json"], env);
    const [first = ""] = printed.split("\n");
    const { inForceHereMs } = isGood ? (JSON.parse(first) as { readonly inForceHereMs?: number }) : {};
    if (inForceHereMs === undefined || (await regionNow(stage)) === before) throw new Error(printed);
    return inForceHereMs;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Clients = ReturnType<typeof startClients<LoadRequest, LoadFigures>>;

/** Traffic beside some work, for as long as it takes. The slowest second's p99. */
async function beside<Value>(clients: Clients, { gateway, path }: Stage, work: () => Promise<Value>) {
  const requests = [`GET ${path} HTTP/1.1\r\nhost: gateway.test\r\n\r\n`];
  let isOver = false;
  const seconds: LoadFigures[] = [];
  const traffic = (async () => {
    while (!isOver) seconds.push(await clients.run({ ...TRAFFIC, port: gateway.port, requests }));
  })();
  try {
    return { value: await work(), p99Ms: () => Math.max(...seconds.map(({ p99Ms }) => p99Ms)) };
  } finally {
    isOver = true;
    await traffic;
  }
}

const WAYS = [
  { name: "HTTP: to the first request by it", publish: overHttp },
  { name: "command: its own figure", publish: byCommand },
];

/** From sending a table to its being in force, in one workerd process, with and without traffic. */
export const publishBench: Bench = {
  name: "publish",
  run: async ({ count = PUBLICATIONS, progress }) => {
    const stops: (() => Promise<unknown>)[] = [];
    const rows: Cell[][] = [];
    const medians: number[] = [];
    try {
      const origin = await startOrigin();
      const clients: Clients = startClients(new URL("../gateway/load.process.ts", import.meta.url));
      stops.push(origin.stop, clients.stop);
      for (const size of SIZES) {
        const stage = await startStage(size, origin.url);
        stops.push(stage.gateway.stop);
        for (const { name, publish } of WAYS) {
          const all = async (): Promise<readonly number[]> => {
            const found: number[] = [];
            while (found.length < count) found.push(await publish(stage, ++stage.made));
            return found;
          };
          const alone = await all();
          const { value: loaded, p99Ms } = await beside(clients, stage, all);
          for (const [traffic, ms, slowest] of [
            ["none", alone, null],
            [perSecond, loaded, p99Ms()],
          ] as const) {
            rows.push([size.routes, name, traffic, spread(ms), slowest]);
            medians.push(quantile(ms, 0.5));
          }
          const [still, busy] = [alone, loaded].map((ms) => Math.round(quantile(ms, 0.5)));
          progress(`Publish: ${name}, ${size.routes} routes: median ${still} ms, with traffic ${busy} ms`);
        }
      }
    } finally {
      await Promise.all(stops.map((stop) => stop()));
    }
    const slow = medians.filter((ms) => !(ms <= IN_FORCE_MS_MAX)).length;
    const section = {
      title: "Publish: until it is in force",
      note: `One workerd process, KV and objects on disk; ${count} publications a row. Isolates read KV by themselves once a day.`,
      columns: ["routes", "publication", "traffic, 1/s", "in force after, ms", "p99 of the traffic, ms"],
      rows,
    };
    return [slow === 0 ? section : { ...section, failure: `${slow} medians are above ${IN_FORCE_MS_MAX} ms` }];
  },
};

const perSecond = String(TRAFFIC.perSecond);

async function startStage(size: (typeof SIZES)[number], originUrl: string): Promise<Stage> {
  const [table, other] = tablesOf(size, originUrl);
  const texts = [JSON.stringify(table), JSON.stringify(other)] as const;
  const vars = { ADMIN_TOKENS, TABLE_REFRESH_SECONDS: DAY };
  const gateway = await startWorker({ tableText: texts[0], vars });
  const minted = await fetch(`${gateway.url}/mint`, {
    method: "POST",
    body: JSON.stringify({ entity: "kind-0", country: Object.keys(table.countries)[0] }),
    headers: { accept: "text/plain" },
  });
  if (minted.status !== 201) throw new Error(`POST /mint: ${minted.status} ${await minted.text()}`);
  return { gateway, path: `/kind-0/${(await minted.text()).trim()}`, texts, made: 0 };
}
