import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idWith } from "../hostile/gateway.ts";
import { settles } from "../hostile/settle.ts";
import { type Stack, startStack } from "../stack.ts";
import type { DemoTable } from "./demo.ts";

/** Requests a second, over all regions in turn. */
const RATE = 200;
/** How long each phase of the load lasts. */
const PHASE_MS = 1_500;
/** Long enough that the attempts before a breaker opens are told apart from those that try the origin again. */
const OPEN_MS = 1_000;
const FAILURES_MAX = 10;
const ERROR_SHARE_MAX = 0.01;

/** Shard keys: a thousand for each region, so that every origin of it has its part. */
const KEYS = { eu: 0, us: 1000, ap: 2000 } as const;
type RegionName = keyof typeof KEYS;
const REGIONS = Object.keys(KEYS) as RegionName[];

const origins = new Map<string, MortalOrigin>();
let stack: Stack;
beforeAll(async () => {
  for (const name of ["eu", "us-1", "us-2", "ap"]) origins.set(name, await startMortalOrigin(name));
  const at = (...names: readonly string[]) => ({
    origins: names.map((name) => ({ url: originAt(name).url })),
    breaker: { openMs: OPEN_MS },
  });
  const table: DemoTable = {
    regions: { eu: { ...at("eu"), failover: ["ap"] }, us: at("us-1", "us-2"), ap: at("ap") },
    countries: {},
    entities: { parcel: { path: "/parcel/:id", ids: [{ layout: "hotguid" }] } },
    routes: REGIONS.map((region) => ({
      when: { layout: "hotguid", shardKey: `${KEYS[region]}-${KEYS[region] + 999}` },
      region,
    })),
    moved: {},
  };
  stack = await startStack(table, { REPORT_SECONDS: "1" });
});
afterAll(async () => {
  await stack?.stop();
  for (const origin of origins.values()) await origin.stop();
});

/** `home`: where all is answered while nothing is lost; `refuge`: where it is meanwhile. */
describe.each([
  { lost: "eu", region: "eu", home: ["eu"], refuge: ["ap"], about: "the only origin of a region with failover" },
  { lost: "us-1", region: "us", home: ["us-1", "us-2"], refuge: ["us-2"], about: "one of a region's two origins" },
] as const)("when $about dies under load", ({ lost, region, home, refuge }) => {
  it("reads go on, others notice nothing, and it heals by itself", async () => {
    const before = await load(PHASE_MS);
    expect(errorsOf(before)).toEqual([]);
    expect(answeredBy(before, region)).toEqual([...home]);

    const dead = originAt(lost);
    dead.kill();
    const during = await load(PHASE_MS);
    const own = during.filter((one) => one.region === region);
    expect(errorsOf(own).length / own.length, JSON.stringify(errorsOf(own))).toBeLessThan(ERROR_SHARE_MAX);
    expect(errorsOf(during.filter((one) => one.region !== region))).toEqual([]);
    expect(answeredBy(own.slice(own.length / 2), region)).toEqual([...refuge]);
    expect(dead.attemptsWithin(OPEN_MS * 0.8)).toBeLessThanOrEqual(FAILURES_MAX);

    dead.revive();
    const healed = async () => answeredBy(await load(OPEN_MS / 5), region);
    await settles("not healed", healed, (names) => names.join() === home.join(), 10 * OPEN_MS);
    const after = await load(PHASE_MS);
    expect(errorsOf(after)).toEqual([]);
    expect(answeredBy(after, region)).toEqual([...home]);
  });

  it("its breaker is counted", async () => {
    const text = async () => (await fetch(`${stack.url}/-/metrics`)).text();
    const opened = new RegExp(`^waybill_breaker_openings_total\\{region="${region}"\\} [1-9]`, "m");
    expect(await settles("not counted", text, (metrics) => opened.test(metrics), 5_000)).toMatch(opened);
  });
});

describe("a write to a region that is lost", () => {
  it("is refused at once, goes nowhere else, and is taken as soon as the region is back", async () => {
    const dead = originAt("eu");
    dead.kill();
    const write = () => fetch(`${stack.url}${pathOf("eu", 0)}`, { method: "POST", body: "x" });
    for (let count = 0; count < 20; count++) {
      const startedMs = performance.now();
      const response = await write();
      const { type } = (await response.json()) as { type: string };
      expect([response.status, type]).toEqual([502, "/-/problems/origin-unreachable"]);
      expect(performance.now() - startedMs).toBeLessThan(2_000);
    }
    dead.revive();
    await settles("not healed", write, ({ status }) => status === 200, 10 * OPEN_MS);
    expect(originAt("ap").writes()).toBe(0);
  });
});

/** One read, as it ended. */
interface Read {
  readonly region: RegionName;
  /** The origin that answered, or what went wrong. */
  readonly by: string;
  readonly isError: boolean;
}

const errorsOf = (reads: readonly Read[]) =>
  reads.filter(({ isError }) => isError).map(({ region, by }) => `${region}: ${by}`);

const answeredBy = (reads: readonly Read[], region: RegionName): readonly string[] =>
  [...new Set(reads.filter((one) => one.region === region && !one.isError).map(({ by }) => by))].sort();

const pathOf = (region: RegionName, index: number) => `/parcel/${idWith(KEYS[region] + (index % 1000))}`;

/** Sends reads at the rate, whatever becomes of those before, and waits for the last one. */
async function load(durationMs: number): Promise<readonly Read[]> {
  const startedMs = performance.now();
  const reads: Promise<Read>[] = [];
  for (;;) {
    const elapsedMs = performance.now() - startedMs;
    if (elapsedMs >= durationMs) return Promise.all(reads);
    while (reads.length < (elapsedMs * RATE) / 1000) reads.push(readOnce(reads.length));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function readOnce(index: number): Promise<Read> {
  const region = REGIONS[index % REGIONS.length] as RegionName;
  try {
    const response = await fetch(stack.url + pathOf(region, index));
    const body = await response.text();
    return { region, by: body, isError: response.status !== 200 };
  } catch (error) {
    return { region, by: String(error), isError: true };
  }
}

/** An origin that can die and come back at the same port. Dead, it resets whoever comes, and counts them. */
interface MortalOrigin {
  readonly url: string;
  kill(): void;
  revive(): void;
  /** Connections attempted within the first milliseconds after its death. */
  attemptsWithin(ms: number): number;
  readonly writes: () => number;
  stop(): Promise<void>;
}

async function startMortalOrigin(name: string): Promise<MortalOrigin> {
  const sockets = new Set<Socket>();
  let writes = 0;
  let diedAtMs: number | undefined;
  let attempts: number[] = [];
  const http = createHttpServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    if (request.method === "POST") writes++;
    response.end(name);
  });
  const server = createServer((socket) => {
    if (diedAtMs !== undefined) {
      attempts.push(performance.now() - diedAtMs);
      socket.resetAndDestroy();
      return;
    }
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    http.emit("connection", socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    kill: () => {
      diedAtMs = performance.now();
      attempts = [];
      for (const socket of sockets) socket.resetAndDestroy();
    },
    revive: () => {
      diedAtMs = undefined;
    },
    attemptsWithin: (ms) => attempts.filter((atMs) => atMs < ms).length,
    writes: () => writes,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function originAt(name: string): MortalOrigin {
  const origin = origins.get(name);
  if (origin === undefined) throw new RangeError(`no origin ${name}`);
  return origin;
}
