import { originHealth } from "../../src/edge/origins/health.ts";
import type { ProxyPorts } from "../../src/ports/gateway.ts";
import { fieldRules } from "../../src/proxy/headers.ts";
import { type ProxyRequest, pseudonymOf } from "../../src/proxy/origin-request.ts";
import { retryBudget } from "../../src/proxy/origins.ts";
import { loadTable, resolvePath } from "../../src/routing/index.ts";
import type { CompiledTable } from "../../src/routing/table.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";

/** An order of DE, which belongs to `eu`, which has `us` for failover. */
export const ORDER = "01990f04-d900-8009-8040-000000000001";

type Table = typeof DECLARED_TABLE;

/** Work that outlives the answers. */
const works: Promise<unknown>[] = [];

/** The fixtures' table with another `eu` and another order. */
export const tableWith = (eu: object = {}, order: object = {}, more: Partial<Table> | object = {}): CompiledTable => {
  const declared = {
    ...DECLARED_TABLE,
    ...more,
    regions: { ...DECLARED_TABLE.regions, eu: { ...DECLARED_TABLE.regions.eu, ...eu } },
    entities: { ...DECLARED_TABLE.entities, order: { ...DECLARED_TABLE.entities.order, ...order } },
  };
  const table = loadTable(declared, 7);
  if (!table.ok) throw new Error(JSON.stringify(table.error));
  return table.value;
};

export const proxyRequest = (
  table: CompiledTable,
  request: Request,
  body: ProxyRequest["body"] = { kind: "none" },
): ProxyRequest => {
  const { pathname, search } = new URL(request.url);
  const match = table.paths.match(pathname);
  if (match === undefined) throw new Error(`${pathname} is no entity's`);
  const decision = resolvePath(table, match, pathname, Date.UTC(2026, 10, 21));
  if (!decision.ok) throw new Error(JSON.stringify(decision.error));
  return {
    request,
    method: request.method,
    arrivedAtMs: Date.now(),
    watchClient: () => undefined,
    body,
    target: pathname + search,
    decision: decision.value,
    revision: table.revision,
    client: { address: "192.0.2.1", country: undefined, continent: undefined },
    host: "gw.test",
    scheme: "https",
    trustsForwarded: false,
    asksReadable: false,
    hidesAuthorization: false,
    regions: table.regions,
    waitUntil: (work) => void works.push(work),
    attempts: 0,
    traceparent: undefined,
  };
};

export type FakeOrigin = (request: Request) => Response | Promise<Response>;

/** A world without a network, in which pauses take no time. */
export function deps(_: CompiledTable, origin: FakeOrigin, more: Partial<ProxyPorts> = {}) {
  const asked: string[] = [];
  const checked: string[] = [];
  const paused: number[] = [];
  const given: ProxyPorts = {
    clock: { nowMs: Date.now },
    fetch: (target, init) => {
      const request = new Request(target, init);
      const isCheck = request.headers.get("user-agent") === "waybill-health";
      (isCheck ? checked : asked).push(`${request.method} ${new URL(request.url).host}`);
      return Promise.resolve(origin(request));
    },
    sign: undefined,
    isOnEdge: false,
    deadlines: { firstByteMs: 0, idleMs: 0, totalMs: 0 },
    originHealth: originHealth({ attempts: { attempt: () => undefined }, onStateChange: () => undefined }),
    fieldRules: fieldRules(),
    pseudonym: pseudonymOf("waybill"),
    retryBudget: retryBudget(),
    movedMemory: undefined,
    entropy: { word: () => 2 ** 31 },
    shadows: { admit: () => false, report: () => undefined },
    pause: async (ms) => {
      paused.push(ms);
    },
    ...more,
  };
  /** Waits for what outlives the answers. */
  const settle = () => Promise.race([Promise.all(works.splice(0)), new Promise((resolve) => setTimeout(resolve, 100))]);
  return { world: given, asked, checked, paused, settle };
}

/** workerd's error for a connection that was refused, reset, or gave no HTTP. */
export const lost = (): Promise<never> =>
  Promise.reject(Object.assign(new Error("Network connection lost."), { retryable: true }));

export const order = (init?: RequestInit, query = ""): Request =>
  new Request(`https://gw.test/orders/${ORDER}${query}`, init);

/** A body that was kept so that it can be sent again. */
export const kept = (text: string): ProxyRequest["body"] => ({
  kind: "kept",
  bytes: Uint8Array.from(text, (character) => character.charCodeAt(0)).buffer,
});
