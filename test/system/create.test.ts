import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunningGateway, serveWorker } from "../../src/host/workerd/gateway.ts";
import type { ModuleFile } from "../../src/host/workerd/modules.ts";
import { workerWith } from "../../src/host/workerd/table-modules.ts";
import { readDemoTable } from "./demo/demo.ts";
import { type Act, answer, startOrders } from "./orders-origin.ts";

/** A gateway that is killed and started again on one state, and an origin that stores each ID once. */

const BODY = '{"total":1}';
const stateFolder = mkdtempSync(join(tmpdir(), "waybill-"));

let orders: Awaited<ReturnType<typeof startOrders>>;
let worker: readonly ModuleFile[];
let tableText: string;
let gateway: RunningGateway;

const start = async () => {
  gateway = await serveWorker(worker, { port: 0, tableText, stateFolder, vars: { REQUEST_LOG: "off" } });
};
const kill = (): void => void process.kill(gateway.pid, "SIGKILL");

beforeAll(async () => {
  orders = await startOrders();
  const demo = readDemoTable();
  const { order } = demo.entities;
  const region = { origins: [{ url: orders.url }] };
  // A short lease: nothing here waits long for an attempt that is dead.
  const create = { key: { country: { header: "x-country" } }, idempotency: { keepAnswer: {}, leaseSeconds: 1 } };
  const regions = Object.fromEntries(Object.keys(demo.regions).map((name) => [name, region]));
  tableText = JSON.stringify({ ...demo, regions, entities: { ...demo.entities, order: { ...order, create } } });
  worker = await workerWith(tableText);
  await start();
});

afterAll(async () => {
  await gateway?.stop();
  await orders?.stop();
  rmSync(stateFolder, { recursive: true, force: true });
});

let key: string;
beforeEach(() => {
  key = crypto.randomUUID();
  orders.entities.clear();
  orders.posts.length = 0;
});

interface Answer {
  readonly status: number;
  readonly id: string | undefined;
  readonly isReplayed: boolean;
  readonly retryAfterSeconds: number;
  readonly body: string;
}

interface Sending {
  readonly agent?: Agent | undefined;
  /** Called when half of the body is sent, and no more will be. */
  readonly upload?: (end: () => void) => void;
  readonly signal?: AbortSignal;
}

/** Rejects where the connection breaks before the answer's end. */
async function create({ agent, upload, signal }: Sending = {}): Promise<Answer> {
  const headers = {
    "content-type": "application/json",
    "content-length": BODY.length,
    "x-country": "KZ",
    "idempotency-key": key,
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(`${gateway.url}/orders`, { method: "POST", agent, signal, headers }, resolve);
    sent.on("error", reject);
    if (upload === undefined) sent.end(BODY);
    else sent.write(BODY.slice(0, 3), () => upload(() => sent.destroy()));
  });
  const body = await text(response);
  if (!response.complete) throw new Error("the answer broke off");
  return {
    status: response.statusCode ?? 0,
    id: response.headers["waybill-entity-id"]?.toString(),
    isReplayed: response.headers["idempotent-replayed"] === "true",
    retryAfterSeconds: Number(response.headers["retry-after"] ?? 0),
    body,
  };
}

const TRIES_MAX = 10;

/** As a client does: again while it is told that this helps. */
async function createUntilDone(agent?: Agent, onWait?: () => void): Promise<Answer> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const answered = await create({ agent });
    if (answered.status < 300) return answered;
    expect([409, 502, 503]).toContain(answered.status);
    onWait?.();
    await delay(answered.retryAfterSeconds * 1000);
  }
  throw new Error(`no answer after ${TRIES_MAX} tries`);
}

const expectOne = (answers: readonly Answer[]) => {
  const [id] = orders.entities.keys();
  expect(orders.entities.size).toBe(1);
  expect([...new Set(answers.map((each) => each.id))]).toEqual([id]);
  expect([...new Set(answers.map(({ body }) => body))]).toEqual([JSON.stringify({ id, order: BODY })]);
  expect([...new Set(orders.posts)]).toEqual([id]);
};

it("100 creates with one key by 10 connections are one entity", async () => {
  let go: () => void = () => undefined;
  const twinIsRefused = new Promise<void>((resolve) => {
    go = resolve;
  });
  orders.next(async (_, response, store) => {
    const body = store();
    await twinIsRefused;
    answer(response, body);
  });
  const answers = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const own: Answer[] = [];
      while (own.length < 10) own.push(await createUntilDone(agent, go));
      agent.destroy();
      return own;
    }),
  );
  expect(answers.flat()).toHaveLength(100);
  expectOne(answers.flat());
});

describe("a create is one entity, and its retry has its ID, after the gateway was killed", () => {
  const half = (body: string) => body.slice(0, body.length / 2);
  const acts: Record<string, Act> = {
    "before the origin acts": kill,
    "when the origin has acted": (_, __, store) => {
      store();
      kill();
    },
    "in the middle of the origin's answer": (_, response, store) => {
      const body = store();
      response.writeHead(201, { "content-length": body.length });
      response.write(half(body), kill);
    },
    "when the origin has answered": (_, response, store) => {
      response.once("finish", kill);
      answer(response, store());
    },
  };

  it.each(Object.entries(acts))("%s", async (_, act) => {
    orders.next(act);
    const lost = await create().catch(() => undefined);
    await gateway.exited;
    await start();
    expectOne([...(lost === undefined ? [] : [lost]), await createUntilDone(), await createUntilDone()]);
  });

  it("when the client has its answer: the kept one survives", async () => {
    const first = await create();
    kill();
    await gateway.exited;
    await start();
    const again = await create();
    expect([again.isReplayed, orders.posts.length]).toEqual([true, 1]);
    expectOne([first, again]);
  });

  it("in the middle of the upload", async () => {
    await expect(create({ upload: kill })).rejects.toThrow();
    await gateway.exited;
    await start();
    expectOne([await createUntilDone()]);
  });
});

describe("a create is one entity, and its retry has its ID, when", () => {
  it.each<[string, Act]>([
    ["the origin resets the connection before it acts", ({ socket }) => void socket.resetAndDestroy()],
    [
      "the origin resets the connection after it acted",
      ({ socket }, _, store) => {
        store();
        socket.resetAndDestroy();
      },
    ],
    [
      "the origin's answer breaks off",
      ({ socket }, response, store) => {
        const body = store();
        response.writeHead(201, { "content-length": body.length });
        response.write("{", () => socket.resetAndDestroy());
      },
    ],
  ])("%s", async (_, act) => {
    orders.next(act);
    const first = await create().catch(() => undefined);
    expectOne([...(first?.status === 201 ? [first] : []), await createUntilDone(), await createUntilDone()]);
  });

  it("the origin is stopped, and started again", async () => {
    await orders.stop();
    const failed = await create();
    expect([failed.status, orders.posts]).toEqual([502, []]);
    await orders.startAgain();
    const answered = await createUntilDone();
    expect(answered.id).toBe(failed.id);
    expectOne([answered, await createUntilDone()]);
  });

  it("the client leaves in the middle of its upload", async () => {
    await expect(create({ upload: (end) => end() })).rejects.toThrow();
    expectOne([await createUntilDone(), await createUntilDone()]);
  });

  it("the client leaves while the origin is asked", async () => {
    const client = new AbortController();
    orders.next(async (_, response, store) => {
      const left = once(response, "close");
      client.abort();
      await left;
      store();
    });
    await expect(create({ signal: client.signal })).rejects.toThrow();
    expectOne([await createUntilDone(), await createUntilDone()]);
  });

  it("the origin takes longer than the lease", async () => {
    let go: () => void = () => undefined;
    const twinIsDone = new Promise<void>((resolve) => {
      go = resolve;
    });
    const asked = new Promise<void>((resolve) => {
      orders.next(async (_, response, store) => {
        resolve();
        await twinIsDone;
        answer(response, store());
      });
    });
    const slow = create();
    await asked;
    const twin = await createUntilDone();
    go();
    expectOne([twin, await slow, await createUntilDone()]);
    expect(orders.posts).toHaveLength(2);
  });
});
