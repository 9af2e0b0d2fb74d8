import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningGateway, startGateway } from "../../../src/host/workerd/gateway.ts";
import { readDemoTable } from "../demo/demo.ts";
import { type Act, answer, startOrders } from "../orders-origin.ts";

/** Clients that reset their connection (RFC 9293 §3.10.7), which ends a request sooner than one that is closed. */

const stateFolder = mkdtempSync(join(tmpdir(), "waybill-"));
let orders: Awaited<ReturnType<typeof startOrders>>;
let gateway: RunningGateway;

beforeAll(async () => {
  orders = await startOrders();
  const demo = readDemoTable();
  const { order } = demo.entities;
  const region = { origins: [{ url: orders.url }] };
  const regions = Object.fromEntries(Object.keys(demo.regions).map((name) => [name, region]));
  const create = {
    key: { country: { header: "x-country" } },
    bulk: { array: "", max: 10 },
    // Longer than the test: a key whose attempt is lost is not free meanwhile.
    idempotency: { keepAnswer: {}, leaseSeconds: 3600 },
  };
  const tableText = JSON.stringify({ ...demo, regions, entities: { ...demo.entities, order: { ...order, create } } });
  gateway = await startGateway({ port: 0, tableText, stateFolder, vars: { REQUEST_LOG: "off" } });
});

afterAll(async () => {
  await gateway?.stop();
  await orders?.stop();
  rmSync(stateFolder, { recursive: true, force: true });
});

const fieldsOf = (key: string) => ({
  "content-type": "application/json",
  "x-country": "KZ",
  "idempotency-key": key,
});

/** Sends the head and as much of the body. */
function open(path: string, key: string, body: string, sentBytes = body.length) {
  const fields = Object.entries({ ...fieldsOf(key), host: "gw", "content-length": `${body.length}` });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const socket = connect({ port: Number(new URL(gateway.url).port), host: "127.0.0.1" });
  socket.on("error", () => undefined);
  socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n${body.slice(0, sentBytes)}`);
  return socket;
}

/** As clients do: again while it is told that this helps. */
async function retry(path: string, key: string, body: string): Promise<Response> {
  for (let tries = 0; ; tries++) {
    const answered = await fetch(gateway.url + path, { method: "POST", body, headers: fieldsOf(key) });
    if (answered.status < 300 || tries === 100) return answered;
    expect([answered.status, tries]).toEqual([409, tries]);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const BODIES = [
  ["one entity", '[{"total":1}]'],
  ["a bulk", '[{"total":1},{"total":2}]'],
] as const;

/** `reset` returns when the gateway has had the time to see it. */
const MOMENTS: Record<string, (reset: () => Promise<void>) => Act> = {
  "while the origin works": (reset) => async (_, response, store) => {
    await reset();
    answer(response, store());
  },
  "in the middle of the origin's answer": (reset) => async (_, response, store) => {
    const body = store();
    response.writeHead(201, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    response.write(body.slice(0, 3));
    await reset();
    response.end(body.slice(3));
  },
  "in an answer of unknown length": (reset) => async (_, response, store) => {
    const body = store();
    response.writeHead(201, { "content-type": "application/json" });
    response.write(body.slice(0, 3));
    await reset();
    response.end(body.slice(3));
  },
};

const CASES = Object.entries(MOMENTS).flatMap(([when, act]) =>
  BODIES.map(([what, body]) => ({ when, act, what, body })),
);

it.each(CASES)("$what whose client resets $when is kept", async ({ act, body }) => {
  const key = crypto.randomUUID();
  orders.posts.length = 0;
  const reset = async () => {
    socket.resetAndDestroy();
    await new Promise((resolve) => setTimeout(resolve, 300));
  };
  const done = new Promise<void>((resolve) => {
    orders.next(async (...request) => {
      await act(reset)(...request);
      resolve();
    });
  });
  const socket = open("/orders", key, body);
  await done;
  const again = await retry("/orders", key, body);
  expect([again.status, again.headers.get("idempotent-replayed"), orders.posts.length]).toEqual([201, "true", 1]);
  expect(await again.text()).toContain('"total');
});

it("a create whose client resets in its upload leaves the key free", async () => {
  const [[, body]] = BODIES;
  const key = crypto.randomUUID();
  orders.posts.length = 0;
  const socket = open("/orders", key, body, 4);
  await new Promise((resolve) => setTimeout(resolve, 300));
  socket.resetAndDestroy();
  const again = await retry("/orders", key, body);
  expect([again.status, again.headers.get("idempotent-replayed"), orders.posts.length]).toEqual([201, null, 1]);
});

it("a mint whose client resets has one answer", async () => {
  const body = '{"entity":"order","country":"KZ","count":1000}';
  const key = crypto.randomUUID();
  const socket = open("/mint", key, body);
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.resetAndDestroy();
  const answers = [await retry("/mint", key, body), await retry("/mint", key, body)];
  const [first, second] = await Promise.all(answers.map((answered) => answered.text()));
  expect([answers.map(({ status }) => status), second]).toEqual([[201, 201], first]);
});
