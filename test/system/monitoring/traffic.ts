import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { DemoTable } from "../demo/demo.ts";
import { startStack } from "../stack.ts";

/** A gateway under traffic that moves every metric: each kind of request, origin and fault once a round. */

export const VIEWER = "waybill_viewer-of-the-monitoring-test-000000000000";
const OPERATOR = "waybill_operator-of-the-monitoring-test-0000000000";

const entryOf = (name: string, scope: string, token: string) => ({
  name,
  scope,
  sha256: createHash("sha256").update(token).digest("hex"),
});

const ACCESS = {
  ADMIN_TOKENS: JSON.stringify([entryOf("viewer", "viewer", VIEWER), entryOf("me", "operator", OPERATOR)]),
  ORIGIN_SIGNING_KEYS: JSON.stringify([{ id: "a", key: Buffer.alloc(32, 7).toString("base64") }]),
  REPORT_SECONDS: "1",
  TABLE_REFRESH_SECONDS: "0.5",
  CHECK_SECONDS: "1",
};

/** iUIDs of service 1 by country. */
const ORDERS = {
  kz: "01990f04-d900-8005-8040-000000000001",
  br: "01990f04-d900-8007-8040-000000000001",
  de: "01990f04-d900-8009-8040-000000000001",
  aq: "01990f04-d900-80c8-8040-000000000001",
};
const ORDER_FR = "01990f04-d900-800b-8040-000000000001";
const RIDE_KZ = "01990f04-d900-8005-8080-000000000001";
const INVOICE = "919108f7-52d1-4320-9bac-f847db4148a8";

/** `peer`: another gateway of the mesh, which has a region of its own. */
const tableOf = (origin: string, dead: string, peer: string | undefined) => ({
  regions: {
    ...(peer === undefined ? {} : { far: { origins: [{ url: dead }], gateway: peer } }),
    eu: { origins: [{ url: origin }], health: { path: "/healthz" } },
    us: { origins: [{ url: `${origin}/us` }], health: { path: "/missing" } },
    dead: { origins: [{ url: dead }, { url: `${dead}/2` }], failover: ["us"], breaker: { failures: 2, openMs: 1000 } },
  },
  countries: { KZ: 5, BR: 7, DE: 9, FR: 11, AQ: 200 },
  entities: {
    order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }], wholeAnswers: true },
    ride: {
      path: "/rides/:id",
      ids: [{ layout: "iuid", service: 2 }],
      readCopies: { countryHeader: "x-country", clientCountry: { MX: "us" }, lagSeconds: 30 },
    },
    person: { path: "/person/:id", ids: [{ layout: "luuid", class: "com.example.Person" }] },
    shop: { path: "/shops/:id", directory: "slug" },
    invoice: { path: "/invoices/:id", ids: [{ layout: "uuid-v4" }] },
  },
  directory: { slug: { key: { text: "lower" } }, old: { key: { layout: "uuid-v4" }, mode: "verify" } },
  withoutId: {
    search: {
      path: "/search",
      sources: [{ header: "x-home", values: { a: "eu" }, unlisted: "next" }, { region: "us" }],
    },
  },
  routes: [
    { when: { layout: "uuid-v4" }, directory: "old" },
    { when: { layout: "uuid-v4" }, region: "eu" },
    { when: { layout: "iuid", country: "KZ" }, region: "eu", shadow: { region: "us", percent: 100 } },
    { when: { layout: "iuid", country: "BR" }, region: "us" },
    { when: { layout: "iuid", country: "DE" }, region: "dead" },
    ...(peer === undefined ? [] : [{ when: { layout: "iuid", country: "FR" }, region: "far" }]),
    { when: { entity: "person" }, region: "eu" },
  ],
});

/** 200 with a little JSON; cuts `/cut` off; registers the key of a shop that is created. */
async function startOrigin() {
  const server = createServer((request, response) => {
    const { url = "", method } = request;
    request.resume();
    if (url.endsWith("/missing")) response.statusCode = 503;
    if (url.endsWith("/cut")) {
      // Its length is unknown, so that the gateway does not wait for its end.
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"a":');
      setTimeout(() => response.destroy(), 20);
      return;
    }
    if (method === "POST") response.setHeader("waybill-register", `slug=shop-${Date.now()};owner=1`);
    response.setHeader("content-type", "application/json");
    response.end('{"a":1}');
  });
  const url = await listening(server);
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, stop };
}

/** An address that resets all connections. */
async function startDead() {
  const server = createServer();
  server.on("connection", (socket) => socket.destroy());
  return { url: await listening(server), stop: () => server.close() };
}

const listening = async (server: ReturnType<typeof createServer>): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
};

export async function startTraffic(vars: Readonly<Record<string, string>> = {}, peer?: string) {
  const origin = await startOrigin();
  const dead = await startDead();
  const declared = tableOf(origin.url, dead.url, peer);
  const stack = await startStack(declared as unknown as DemoTable, { ...ACCESS, ...vars });
  const { url } = stack;
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, init);
    await response.arrayBuffer().catch(() => undefined);
    return response.status;
  };
  const as = (token: string, more = {}) => ({ authorization: `Bearer ${token}`, ...more });
  const json = { "content-type": "application/json" };

  /** A canary of the whole table decides for half of the IDs. */
  const beginCanary = () =>
    ask("/-/table/canary", {
      method: "POST",
      headers: as(OPERATOR, { "if-match": '"1"', ...json }),
      body: JSON.stringify({ table: { ...declared, default: "eu" }, share: 50 }),
    });

  /** Each kind of request once. */
  const round = () =>
    Promise.all([
      ...Object.values(ORDERS).map((id) => ask(`/orders/${id}`)),
      ...(peer === undefined ? [] : [ask(`/orders/${ORDER_FR}`)]),
      ask(`/orders/${ORDERS.br}/cut`),
      ask(`/rides/${RIDE_KZ}`, { headers: { "x-country": "MX" } }),
      ask(`/invoices/${INVOICE}`),
      ask("/shops/a-shop"),
      ask("/shops", { method: "POST", body: "{}" }),
      ask("/search", { headers: { "x-home": "b" } }),
      ask("/search", { method: "POST", headers: { "x-home": "a" }, body: "{}" }),
      ask("/mint", { method: "POST", headers: json, body: JSON.stringify({ entity: "person", count: 100 }) }),
      ask("/-/metrics", { headers: as(`${VIEWER}-wrong`) }),
    ]);

  const metrics = async (accept = "application/json") => {
    const response = await fetch(`${url}/-/metrics`, { headers: as(VIEWER, { accept }) });
    return response.text();
  };

  const stop = async () => {
    await stack.stop();
    origin.stop();
    dead.stop();
  };
  return { ...stack, beginCanary, round, metrics, stop };
}
