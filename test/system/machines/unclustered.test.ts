import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeTransport } from "../../edge/machines/transport-contract.ts";
import { startOrders } from "../orders-origin.ts";
import { type Process, startMachines } from "./unclustered.ts";

/** Two edges and one state node without a cluster: the objects of the node are all that the edges share. */

let orders: Awaited<ReturnType<typeof startOrders>>;
let machines: Awaited<ReturnType<typeof startMachines>>;
let table: object;
let asker: Process;

beforeAll(async () => {
  orders = await startOrders();
  const origin = { origins: [{ url: orders.url }] };
  const create = { key: { country: { header: "x-country" } }, idempotency: { keepAnswer: {}, leaseSeconds: 5 } };
  const longCreate = { ...create, idempotency: { keepAnswer: {}, leaseSeconds: 120 } };
  table = {
    regions: { eu: { ...origin, health: { path: "/healthz" } }, us: origin },
    countries: { KZ: 5 },
    entities: {
      order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }], create },
      parcel: { path: "/parcels/:id", ids: [{ layout: "iuid", service: 2 }], create: longCreate },
      person: { path: "/person/:id", ids: [{ layout: "luuid", class: "com.example.Person" }] },
      ticket: { path: "/tickets/:id", ids: [{ layout: "snowflake" }] },
      shop: { path: "/shops/:id", directory: "slug" },
    },
    directory: { slug: { key: { text: "lower" } } },
    routes: [],
    default: "eu",
  };
  machines = await startMachines(table, 2);
  asker = await machines.startAsker();
});

afterAll(async () => {
  await asker?.kill();
  await machines?.stop();
  await orders?.stop();
});

const ask = async (url: string, method = "GET", body?: unknown, headers: Record<string, string> = {}) => {
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  const startedAtMs = Date.now();
  const response = await fetch(url, init);
  const text = await response.text();
  const json = text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: response.status, headers: response.headers, json, text, ms: Date.now() - startedAtMs };
};

const edge = (at: number): string => machines.edges[at % machines.edges.length] as string;

const create = (at: number, key: string, path = "/orders") => {
  const headers = { "idempotency-key": `"${key}"`, "content-type": "application/json", "x-country": "KZ" };
  return ask(edge(at) + path, "POST", { item: "tea" }, headers);
};

const ORDER = "/orders/0192f0c1-7a30-8005-8040-8f3b2a1c9d78";

describe("what edges share by the state node", () => {
  it("a keyed create is made once, whichever edge is asked again", async () => {
    const first = await create(0, "shared");
    expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([201, null]);
    const again = await create(1, "shared");
    expect([again.status, again.headers.get("idempotent-replayed"), again.text]).toEqual([201, "true", first.text]);
    const many = await Promise.all(Array.from({ length: 12 }, (_, at) => create(at, "at-once")));
    const made = many.filter(({ status }) => status === 201);
    for (const { status } of many) expect([201, 409]).toContain(status);
    expect(new Set(made.map(({ json }) => json["id"])).size).toBe(1);
  });

  it("minted IDs differ, with and without counters", async () => {
    const ofTicket = { entity: "ticket", fields: { datacenter: 1, worker: 7 } };
    for (const what of [{ entity: "person" }, ofTicket]) {
      const mint = (at: number) => ask(`${edge(at)}/mint`, "POST", { ...what, count: 20 });
      const minted = await Promise.all(Array.from({ length: 12 }, (_, at) => mint(at)));
      const ids = minted.flatMap(({ json }) => json["ids"] as readonly string[]);
      expect(ids).toHaveLength(240);
      // The last bits of an LUUID are random: its primary key must differ.
      const keys = what.entity === "person" ? ids.map((id) => id.slice(0, 13)) : ids;
      expect(new Set(keys).size).toBe(240);
    }
  });

  it("a key of a directory is claimed once", async () => {
    const claim = (at: number) =>
      ask(`${edge(at)}/-/directory/slug/corner`, "PUT", { owner: `o${at}`, operation: `p${at}`, region: "us" });
    const claims = await Promise.all([claim(0), claim(1), claim(2), claim(3)]);
    expect(claims.filter(({ status }) => status < 300)).toHaveLength(1);
    const read = await Promise.all([0, 1].map((at) => ask(`${edge(at)}/-/directory/slug/corner`)));
    expect(read[0]?.json).toEqual(read[1]?.json);
  });

  it("a table that is published through one edge is in force on both, and in the history", async () => {
    const { headers } = await ask(`${edge(0)}/-/table`);
    const tag = headers.get("etag") ?? "";
    const body = { ...table, default: "us" };
    const published = await ask(`${edge(0)}/-/table`, "PUT", body, { "if-match": tag });
    expect(published.status).toBe(201);
    const revision = published.json["revision"];
    const served = async (at: number) =>
      ((await ask(`${edge(at)}/-/table/status`)).json["isolate"] as { readonly revision?: unknown })?.revision;
    await expect
      .poll(async () => [await served(0), await served(1)], { timeout: 20_000 })
      .toEqual([revision, revision]);
    const stale = await ask(`${edge(1)}/-/table`, "PUT", body, { "if-match": tag });
    expect(stale.status).toBe(412);
    const { json } = await ask(`${edge(1)}/-/table/revisions`);
    expect((json["revisions"] as readonly { readonly revision: number }[])[0]?.revision).toBe(revision);
    const pointer = await ask(`${machines.stateSocket()}/pointer?wait=0`);
    expect([pointer.status, pointer.json["revision"]]).toEqual([200, revision]);
  });

  it("counts are summed once, and both edges show them", async () => {
    const countOf = async (at: number) => {
      const { text } = await ask(`${edge(at)}/-/metrics`);
      const lines = text
        .split("\n")
        .filter((line) => /^waybill_requests_total\{.*entity="order".*region="us"/.test(line));
      return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
    };
    // Each edge reports what came before.
    const before = Math.max(await countOf(0), await countOf(1), await countOf(0));
    await Promise.all(Array.from({ length: 60 }, (_, at) => ask(edge(at) + ORDER)));
    await expect.poll(() => countOf(0), { timeout: 20_000, interval: 500 }).toBe(before + 60);
    expect(await countOf(1)).toBe(before + 60);
  });
});

describe("while the state node is gone", () => {
  /** Proxied requests at both edges until it is told to stop: how many failed. */
  const startTraffic = () => {
    let isOver = false;
    let sent = 0;
    const failed: unknown[] = [];
    const run = async (at: number) => {
      while (!isOver) {
        sent++;
        const answer = await ask(edge(at) + ORDER).catch((error: unknown) => ({ status: String(error) }));
        if (answer.status !== 201) failed.push(answer.status);
        await delay(10);
      }
    };
    const running = [run(0), run(1)];
    return async () => {
      isOver = true;
      await Promise.all(running);
      return { sent, failed };
    };
  };

  const untilCreated = async (key: string) =>
    expect
      .poll(async () => (await create(0, key)).status === 201 && (await create(1, key)).status === 201, {
        timeout: 20_000,
        interval: 250,
      })
      .toBe(true);

  it.each(["killed", "silent"] as const)("%s: reads go on, and creates get a problem soon", async (how) => {
    const kept = await create(0, `before-${how}`);
    expect(kept.status).toBe(201);
    const stopTraffic = startTraffic();
    if (how === "killed") {
      await machines.killState();
      machines.network.become("down");
    } else machines.network.become("silent");
    const first = await create(0, `while-${how}`);
    expect([first.status, first.json["type"]]).toEqual([503, "/-/problems/idempotency-unavailable"]);
    expect(first.ms).toBeLessThan(2_500);
    const unasked = await create(0, `while-${how}`);
    expect([unasked.status, unasked.ms < 500]).toEqual([503, true]);
    const reserved = await ask(`${edge(0)}/-/directory/slug/corner`);
    expect([reserved.status, reserved.json["type"]]).toEqual([503, "/-/problems/directory-unavailable"]);
    const page = await ask(`${edge(0)}/-/table/status`);
    expect(page.json["type"] ?? page.status).toBe("/-/problems/control-plane-unavailable");
    if (how === "killed") await machines.startState();
    machines.network.become("up");
    await untilCreated(`while-${how}`);
    const replayed = await create(1, `before-${how}`);
    expect([replayed.status, replayed.text]).toEqual([201, kept.text]);
    const { sent, failed } = await stopTraffic();
    expect(failed).toEqual([]);
    expect(sent).toBeGreaterThan(20);
  });

  it("stopped and continued: a create that its client gave up holds no key", async () => {
    await untilCreated("warm");
    machines.signalState("SIGSTOP");
    try {
      const refused = await create(0, "given-up");
      expect([refused.status, refused.json["type"]]).toEqual([503, "/-/problems/idempotency-unavailable"]);
      expect(refused.ms).toBeLessThan(2_500);
      // The node reads the call when its caller has not waited for longer than clocks may differ.
      await delay(2_500);
    } finally {
      machines.signalState("SIGCONT");
    }
    const seen: unknown[] = [];
    await expect
      .poll(
        async () => {
          const { status, json } = await create(1, "given-up");
          seen.push(json["type"] ?? status);
          return status;
        },
        { timeout: 20_000, interval: 100 },
      )
      .toBe(201);
    expect(seen).not.toContain("/-/problems/idempotency-key-in-use");
  });
});

it("a create whose answer was lost on its way gives its key back long before the lease ends", async () => {
  const make = (key: string) => create(0, key, "/parcels");
  expect((await make("heard")).status).toBe(201);
  machines.network.become("deaf");
  const refused = await make("unheard").finally(() => machines.network.become("up"));
  expect([refused.status, refused.json["type"]]).toEqual([503, "/-/problems/idempotency-unavailable"]);
  const seen = new Set<unknown>();
  await expect
    .poll(
      async () => {
        const { status, json } = await make("unheard");
        seen.add(json["type"] ?? status);
        return status;
      },
      { timeout: 30_000, interval: 200 },
    )
    .toBe(201);
  // The node had taken it.
  expect(seen).toContain("/-/problems/idempotency-key-in-use");
});

it("a state node with CHECK_SECONDS=0 asks no origin whether it is well", async () => {
  // Each request of an order brings its ID; a check brings none.
  await delay(1_500);
  expect(orders.posts).not.toContain("undefined");
});

const NETWORK = { well: "up", gone: "down", frozen: "silent" } as const;

describeTransport("two workerds", async () => {
  const call = async (method: string, values: readonly unknown[]): Promise<unknown> => {
    const { json } = await ask(`http://127.0.0.1:${asker.ports["http"]}`, "POST", { method, values });
    if (json["error"] !== undefined) throw new Error(String(json["error"]));
    return json["value"];
  };
  return {
    rpc: { ping: async () => void (await call("ping", [])), call: (...values) => call("call", values) },
    async become(state) {
      machines.network.become(NETWORK[state]);
    },
    settled: (work, ms) =>
      Promise.race([
        work.then(
          (value) => value ?? "done",
          (error: unknown) => error,
        ),
        delay(ms).then(() => undefined),
      ]),
  };
});
