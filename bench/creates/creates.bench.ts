import { startOrigin } from "../lib/processes.ts";
import type { Bench, BenchOptions, Cell, Section } from "../lib/report.ts";
import { inTurn, ratios, type Spread, spread } from "../lib/sample.ts";
import { countryServiceTable } from "../lib/tables.ts";
import {
  column,
  type Load,
  processorUsOf,
  startLoad,
  TURN_PER_SAMPLE,
  type Turn,
  takeTurn,
  verdict,
} from "../lib/turns.ts";
import { type RunningWorker, startWorker } from "../lib/workerd.ts";

const CONNECTIONS = 64;
const PACE_PER_SECOND = 1_000;

/** More than a turn takes: no key comes twice where it should be new. */
const KEYS_PER_SECOND_MAX = 10_000;

const POST = "POST to an entity's path";
const AGAIN = "the same again";
const CREATE = "create without a key";
const KEYED = "create with a key";
const UNKEPT = "create with a key, no answer kept";
const RETRY = "its retry";

interface Subject {
  readonly name: string;
  /** The one that its ratios are to. */
  readonly against: string | undefined;
  readonly path: string;
  readonly keys: "none" | "new" | "known";
  /** Calls of the object of keys for one request. */
  readonly calls: number;
}

const KEPT = "/kind-0";

const subjectsOf = (id: string): readonly Subject[] => [
  { name: POST, against: undefined, path: `${KEPT}/${id}`, keys: "none", calls: 0 },
  { name: AGAIN, against: POST, path: `${KEPT}/${id}`, keys: "none", calls: 0 },
  { name: CREATE, against: POST, path: KEPT, keys: "none", calls: 0 },
  { name: UNKEPT, against: CREATE, path: "/kind-1", keys: "new", calls: 2 },
  { name: KEYED, against: CREATE, path: KEPT, keys: "new", calls: 2 },
  { name: RETRY, against: KEYED, path: KEPT, keys: "known", calls: 1 },
];

/** The cost of creating an entity at the gateway, with an idempotency key and without, beside a POST that is only proxied. */
export const createsBench: Bench = {
  name: "creates",
  run: async (options) => {
    const stops: (() => Promise<unknown>)[] = [];
    try {
      const origin = await startOrigin();
      stops.push(origin.stop);
      const worker = new URL("creates.worker.ts", import.meta.url);
      const gateway = await startWorker({ worker, tableText: tableAt(origin.url) });
      stops.push(gateway.stop);
      const load = startLoad();
      stops.push(load.stop);
      const subjects = subjectsOf(await mintOne(gateway.url));
      const called = await countCalls(gateway, subjects);
      const full = await measure(gateway, subjects, load, options, undefined);
      const paced = await measure(gateway, subjects, load, options, PACE_PER_SECOND);
      return [called, full, paced];
    } finally {
      await Promise.all(stops.map((stop) => stop()));
    }
  },
};

/** Two kinds of entities: the answers of one are kept. */
function tableAt(originUrl: string): string {
  const { entities, ...table } = countryServiceTable(1, 2, originUrl);
  const key = { country: { header: "x-country" } };
  const create = [
    { key, idempotency: { keepAnswer: {} } },
    { key, idempotency: {} },
  ];
  const created = Object.entries(entities).map(([name, entity], at) => [name, { ...entity, create: create[at] }]);
  return JSON.stringify({ ...table, entities: Object.fromEntries(created) });
}

async function mintOne(url: string): Promise<string> {
  const body = JSON.stringify({ entity: "kind-0", country: "AD" });
  const minted = await fetch(`${url}/mint`, { method: "POST", body });
  const { ids } = (await minted.json()) as { readonly ids: readonly [string] };
  return ids[0];
}

const BODY = JSON.stringify({ items: [1, 2, 3], total: 1250, currency: "KZT", note: "leave at the door" });

let turns = 0;

/** Requests of one turn. */
function messagesOf({ path, keys }: Subject, count: number): readonly string[] {
  const turn = keys === "known" ? 0 : ++turns;
  const message = (field: string) =>
    [
      `POST ${path} HTTP/1.1`,
      "host: api.example.com",
      "authorization: Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJl",
      "x-country: AD",
      `content-type: application/json${field}`,
      `content-length: ${BODY.length}`,
      "",
      BODY,
    ].join("\r\n");
  if (keys === "none") return [message("")];
  return Array.from({ length: keys === "known" ? KNOWN : count }, (_, at) =>
    message(`\r\nidempotency-key: bench-${turn}-${at}`),
  );
}

/** Keys that all retries share. */
const KNOWN = 500;

const CALLS_COUNTED = 50;

async function countCalls({ url }: RunningWorker, subjects: readonly Subject[]): Promise<Section> {
  const countOf = async () => Number(await (await fetch(`${url}/calls`)).text());
  const rows: Cell[][] = [];
  const wrong: string[] = [];
  for (const { name, path, keys, calls } of subjects) {
    const send = async (at: number) => {
      const key =
        keys === "none" ? {} : { "idempotency-key": `${name}-${keys === "new" ? at : 0}`.replaceAll(/\W/g, "-") };
      const headers = { "content-type": "application/json", "x-country": "AD", ...key };
      const response = await fetch(url + path, { method: "POST", body: BODY, headers });
      if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`);
      await response.arrayBuffer();
    };
    await send(-1);
    const before = await countOf();
    for (let at = 0; at < CALLS_COUNTED; at++) await send(at);
    const each = ((await countOf()) - before) / CALLS_COUNTED;
    rows.push([name, each]);
    if (each !== calls) wrong.push(`${name}: ${each} calls, not ${calls}`);
  }
  return {
    title: "Calls of the object of keys for each request",
    note: `Over ${CALLS_COUNTED} requests.`,
    columns: ["what", "calls"],
    rows,
    ...(wrong.length > 0 && { failure: wrong.join("; ") }),
  };
}

async function measure(
  { port, pid }: RunningWorker,
  subjects: readonly Subject[],
  load: Load,
  { rounds, sampleMs, progress }: BenchOptions,
  perSecond: number | undefined,
): Promise<Section> {
  const durationMs = sampleMs * TURN_PER_SAMPLE;
  const title = `Creates, ${CONNECTIONS} connections${perSecond === undefined ? "" : `, ${perSecond} a second`}`;
  const turn = async (subject: Subject): Promise<Turn> => {
    const count = Math.ceil((durationMs * KEYS_PER_SECOND_MAX) / 1000) + CONNECTIONS;
    const requests = messagesOf(subject, count);
    const taken = await takeTurn(load, pid, { port, connections: CONNECTIONS, durationMs, perSecond, requests });
    if (taken.perSecond > KEYS_PER_SECOND_MAX) throw new Error("more requests than keys");
    return taken;
  };
  progress(`${title}: warming up`);
  for (const subject of subjects) await turn(subject);
  const taken = await inTurn(subjects, rounds, turn, (round) => progress(`${title}: round ${round} of ${rounds}`));
  const turnsOf = (name = "") => taken.get(name) ?? [];
  const columns = ["what", "requests/s", "x", "processor us", "x", "compared with", "p50 ms", "p99 ms"];
  const rows = subjects.map(({ name, against }): Cell[] => {
    const own = turnsOf(name);
    const figures = (read: (turn: Turn) => number | undefined) => spreadOf(column(own, read));
    const ratio = (read: (turn: Turn) => number | undefined) =>
      spreadOf(ratios(column(own, read), column(turnsOf(against), read)).filter((each) => !Number.isNaN(each)));
    return [
      name,
      figures((each) => each.perSecond),
      ratio((each) => each.perSecond),
      figures(processorUsOf),
      ratio(processorUsOf),
      against ?? null,
      figures((each) => each.p50Ms),
      figures((each) => each.p99Ms),
    ];
  });
  const note =
    `Median (range) over ${rounds} round(s), ${durationMs} ms each; ratios to the turn of the row named in the same round. ` +
    `Processor time is the gateway's with its objects.${verdict(turnsOf(AGAIN), turnsOf(POST), "the proxied POST")}`;
  return { title, note, columns, rows };
}

const spreadOf = (figures: readonly number[]): Spread | null => (figures.length === 0 ? null : spread(figures));
