import { createHash } from "node:crypto";
import { startClients, startOrigin } from "../lib/processes.ts";
import type { Bench, BenchOptions, Cell, Section } from "../lib/report.ts";
import { spread } from "../lib/sample.ts";
import { startWorker } from "../lib/workerd.ts";
import type { ClientsFigures, ClientsRequest } from "./client.process.ts";

/** Turns are short and many, so that what else the machine does meets both kinds alike. */
const TURN_PER_SAMPLE = 25;
const TURNS_PER_ROUND = 3;

/** Good requests come at this pace: 95 a second. */
const GOOD_PACE = { burst: 1, everyMs: 1000 / 95 };

/** 46,000 a minute, at which one gateway still has time left: beyond that its pauses are the runtime's, whatever is asked. */
const FLOOD = { burst: 1, everyMs: 1000 / 770 };

/** Losses that good requests may have beside an attack. */
const P99_RATIO_MAX = 2;
const SUCCESS_MIN = 0.999;

/** The same turns differ no more than this on a machine that can tell. */
const NOISE_RATIO_MAX = 1.5;

const TOKEN = "the-right-token-of-this-gateway-0123456789";

/** Sequences of 16 numbers a second, some seconds of which a few requests use up. */
const BEACON_ROWS = [
  { field: "mintedAt", bits: 40, role: "time", unit: "s", epoch: "2020-01-01T00:00:00Z" },
  { field: "counter", bits: 4, role: "counter" },
  { field: "machine", bits: 4, role: "key" },
];

interface Attack {
  readonly name: string;
  readonly pace: ClientsRequest["pace"];
  readonly messages: readonly string[];
  readonly good: readonly string[];
  /** Sent before each turn. */
  readonly before?: readonly string[];
}

const text = (method: string, path: string, fields: readonly string[], body = ""): string =>
  [`${method} ${path} HTTP/1.1`, "host: api.example.com", ...fields, `content-length: ${body.length}`, "", body].join(
    "\r\n",
  );
const from = (address: string): string => `x-forwarded-for: ${address}`;
const mint = (address: string, body: object): string => text("POST", "/mint", [from(address)], JSON.stringify(body));
const addresses = Array.from({ length: 4096 }, (_, at) => `10.${at >> 8}.${at & 255}.1`);

async function attacksOn(url: string): Promise<readonly Attack[]> {
  const minted = await fetch(`${url}/mint`, {
    method: "POST",
    body: JSON.stringify({ entity: "parcel", shardKey: 1, count: 100 }),
  });
  const { ids } = (await minted.json()) as { readonly ids: readonly string[] };
  const good = ids.map((id) => text("GET", `/parcels/${id}`, [from("203.0.113.1")]));
  const authorized = text("GET", "/-/regions", [from("203.0.113.1"), `authorization: Bearer ${TOKEN}`]);
  const beacon = { entity: "beacon", fields: { machine: 1 } };
  const many = { entity: "parcel", shardKey: 1, count: 1000 };
  return [
    {
      name: "mints that are refused",
      pace: FLOOD,
      messages: addresses.map((address) => mint(address, { ...beacon, count: 960 })),
      good,
      before: [mint("198.51.100.1", { ...beacon, count: 100 })],
    },
    {
      name: "requests that break their connections",
      pace: { burst: 20, everyMs: 2_000 },
      messages: [text("GET", `/parcels/${ids[0]}?response=reset`, [from("198.51.100.2")])],
      good,
    },
    {
      name: "wrong tokens",
      pace: FLOOD,
      messages: [
        text("GET", "/-/metrics", [from("203.0.113.1"), "authorization: Bearer a-wrong-token-of-this-gateway-012345"]),
      ],
      good: [...good.slice(0, 1), authorized],
    },
    {
      name: "large mints, 8 at once",
      pace: { connections: 8 },
      messages: addresses.map((address) => mint(address, many)),
      good,
    },
    { name: "mints over the limit", pace: FLOOD, messages: [mint("198.51.100.3", many)], good },
  ];
}

type Clients = ReturnType<typeof startClients<ClientsRequest, ClientsFigures>>;

interface World {
  readonly port: number;
  readonly good: Clients;
  readonly bad: Clients;
}

/** Good traffic alone and beside each attack, in turn. */
export const attacksBench: Bench = {
  name: "attacks",
  run: async (options) => {
    const stops: (() => Promise<unknown>)[] = [];
    try {
      const origin = await startOrigin();
      stops.push(origin.stop);
      const gateway = await startWorker({ tableText: tableAt(origin.url), vars: VARS });
      stops.push(gateway.stop);
      const clients = new URL("client.process.ts", import.meta.url);
      const [good, bad] = [
        startClients<ClientsRequest, ClientsFigures>(clients),
        startClients<ClientsRequest, ClientsFigures>(clients),
      ];
      stops.push(good.stop, bad.stop);
      const rows: Cell[][] = [];
      const failures: string[] = [];
      for (const attack of await attacksOn(gateway.url)) {
        const { row, failure } = await measure(attack, { port: gateway.port, good, bad }, options);
        rows.push(row);
        if (failure !== undefined) failures.push(failure);
      }
      return [sectionOf(rows, failures, options)];
    } finally {
      await Promise.all(stops.map((stop) => stop()));
    }
  },
};

const sha256 = createHash("sha256").update(TOKEN).digest("hex");
const VARS = {
  ADMIN_TOKENS: JSON.stringify([{ name: "ci", scope: "operator", sha256 }]),
  TRUSTED_PROXIES: "127.0.0.0/8",
  CLIENT_RATE_LIMIT: "20000/60",
};

const tableAt = (url: string): string =>
  JSON.stringify({
    regions: { eu: { origins: [{ url }] } },
    entities: {
      parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
      beacon: { path: "/beacons/:id", ids: [{ layout: "beacon" }] },
    },
    layouts: { beacon: { text: "hex", rows: BEACON_ROWS } },
    routes: [
      { when: { entity: "parcel" }, region: "eu" },
      { when: { entity: "beacon" }, region: "eu" },
    ],
  });

interface Turn {
  readonly latenciesMs: readonly number[];
  readonly success: number;
}

async function measure(attack: Attack, { port, good, bad }: World, { rounds, sampleMs, progress }: BenchOptions) {
  const durationMs = sampleMs * TURN_PER_SAMPLE;
  const statuses: Record<string, number> = {};
  const turn = async (): Promise<Turn> => {
    const { latenciesMs, statuses: own } = await good.run({ port, durationMs, messages: attack.good, pace: GOOD_PACE });
    return { latenciesMs, success: (own[200] ?? 0) / latenciesMs.length };
  };
  const besideTurn = async (): Promise<Turn> => {
    const { before, messages, pace } = attack;
    if (before) await bad.run({ port, durationMs: BEFORE_MS, messages: before, pace: { connections: 1 } });
    const attacking = bad.run({ port, durationMs, messages, pace });
    const found = await turn();
    for (const [status, count] of Object.entries((await attacking).statuses)) {
      statuses[status] = (statuses[status] ?? 0) + count;
    }
    return found;
  };
  // Newly compiled code must not make the first turns of one kind slower.
  await turn();
  await besideTurn();
  const [alone, beside]: Turn[][] = [[], []];
  for (let at = 0; at < rounds * TURNS_PER_ROUND; at++) {
    for (const isBeside of at % 2 === 0 ? [false, true] : [true, false]) {
      if (isBeside) beside?.push(await besideTurn());
      else alone?.push(await turn());
    }
    if ((at + 1) % TURNS_PER_ROUND === 0) progress(`${attack.name}: round ${(at + 1) / TURNS_PER_ROUND} of ${rounds}`);
  }
  return verdict(attack.name, alone ?? [], beside ?? [], statuses);
}

const BEFORE_MS = 200;

const quantile = (turns: readonly Turn[], share: number): number => {
  const sorted = turns.flatMap(({ latenciesMs }) => latenciesMs).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
};

/** How far the same traffic differs between halves of its turns, and some of its turns from the others. */
function noiseOf(turns: readonly Turn[]): number {
  const [even, odd] = [0, 1].map((half) => turns.filter((_, at) => at % 2 === half));
  const one = quantile(even ?? [], 0.99);
  const other = quantile(odd ?? [], 0.99);
  const typical = spread(turns.map((turn) => quantile([turn], 0.99))).median;
  return Math.max(one / other, other / one, quantile(turns, 0.99) / typical);
}

function verdict(name: string, alone: readonly Turn[], beside: readonly Turn[], statuses: Record<string, number>) {
  const p99Alone = quantile(alone, 0.99);
  const p99Beside = quantile(beside, 0.99);
  const ratio = p99Beside / p99Alone;
  const noise = Math.max(noiseOf(alone), noiseOf(beside));
  const success = beside.reduce((sum, one) => sum + one.success, 0) / beside.length;
  const byRound = beside.map((one, at) => quantile([one], 0.99) / quantile(alone.slice(at, at + 1), 0.99));
  const answers = Object.entries(statuses).map(([status, count]) => `${count} x ${status}`);
  const isQuiet = noise <= NOISE_RATIO_MAX;
  const isLate = ratio > P99_RATIO_MAX;
  const row: Cell[] = [
    name,
    answers.join(", "),
    success * 100,
    p99Alone,
    p99Beside,
    ratio,
    spread(byRound),
    noise,
    isQuiet ? (isLate ? "too slow" : "holds") : "no verdict: busy machine",
  ];
  if (success < SUCCESS_MIN) return { row, failure: `beside ${name}, ${success * 100} % of good requests succeed` };
  return { row, failure: isLate && isQuiet ? `beside ${name}, the p99 is ${ratio.toFixed(1)} times` : undefined };
}

function sectionOf(rows: Cell[][], failures: string[], { rounds, sampleMs }: BenchOptions): Section {
  return {
    title: "Good requests beside attacks",
    note:
      `95 good requests a second, alone and beside each attack in turn: ${rounds * TURNS_PER_ROUND} turns of ` +
      `${sampleMs * TURN_PER_SAMPLE} ms each. The p99 of all, its ratio, and the median (range) of the turns' ratios. ` +
      `Noise is how many times the p99 of the same turns differs, between halves and from that of a typical turn: above ` +
      `${NOISE_RATIO_MAX} the machine is too busy for a verdict.`,
    columns: ["attack", "its answers", "success %", "p99 alone, ms", "p99, ms", "x", "x by turn", "noise", "verdict"],
    rows,
    ...(failures.length === 0 ? {} : { failure: failures.join("; ") }),
  };
}
