import { createServer, type IncomingMessage } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { sendAgain } from "../../docs/examples/send-again.ts";
import {
  createEpochGuard,
  memoryEpochStore,
  type VerifiedRequest,
  type WaybillOriginOptions,
  type WaybillRequest,
  waybillOrigin,
} from "../../src/origin/index.ts";
import { problemOf } from "../../src/problems/index.ts";
import { headersOf, KEY, NOW_MS, PARTS } from "./signed-request.ts";

const OPTIONS = { keys: [KEY], now: () => NOW_MS, regions: ["eu"] };
const running: (() => void)[] = [];
afterEach(() => {
  for (const stop of running.splice(0)) stop();
});

/** A node:http server behind the middleware. `passed` is what reached the application. */
async function serve(options: WaybillOriginOptions = OPTIONS) {
  const passed: (VerifiedRequest | undefined)[] = [];
  const verify = waybillOrigin(options);
  const server = createServer((request: IncomingMessage & WaybillRequest, response) => {
    void verify(request, response, (error) => {
      passed.push(request.waybill);
      response.statusCode = error === undefined ? 200 : 500;
      response.end(error instanceof Error ? error.message : "done");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  running.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no TCP address");
  const send = (changes: Partial<typeof PARTS> = {}, forged: Record<string, string> = {}) => {
    const parts = { ...PARTS, ...changes };
    const headers = { ...headersOf(parts), ...forged };
    return fetch(`http://127.0.0.1:${address.port}${PARTS.target}`, { method: parts.method, headers });
  };
  return { send, passed };
}

describe("the middleware", () => {
  it("hands on what the gateway signed, with what it vouches for", async () => {
    const { send, passed } = await serve();
    expect(await (await send({ epoch: 4 })).text()).toBe("done");
    expect(passed).toEqual([
      {
        entityId: "1",
        region: "eu",
        revision: 41,
        epoch: 4,
        clientAddress: "203.0.113.9",
        signedAtMs: NOW_MS,
        keyId: "2026a",
      },
    ]);
  });

  it("answers all else with 401 and a reason, and the application never sees it", async () => {
    const { send, passed } = await serve();
    const refused = [
      await send({}, { "waybill-entity-id": "2" }),
      await send({ region: "us" }),
      await send({ seconds: PARTS.seconds - 1000 }),
    ];
    for (const response of refused) {
      expect(response.status).toBe(401);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(response.headers.get("www-authenticate")).toBe("Waybill-Signature");
      expect(response.headers.get("cache-control")).toBe("no-store");
    }
    const problems = await Promise.all(refused.map((response) => response.json()));
    expect(problems).toMatchObject([
      { status: 401, reason: "mismatch" },
      { reason: "wrong-region", region: "us" },
      { reason: "expired", ageSeconds: 1000 },
    ]);
    expect(passed).toEqual([]);
  });

  it("refuses keys that are none when it is made", () => {
    expect(() => waybillOrigin({ keys: [] })).toThrow(TypeError);
    expect(() => waybillOrigin({ keys: [{ id: "a", key: "short" }] })).toThrow('the key "a"');
    expect(() => waybillOrigin({ keys: [{ id: "a b", key: KEY.key }] })).toThrow(TypeError);
    expect(() => waybillOrigin({ keys: [KEY, KEY] })).toThrow("the same ID");
  });

  it.each<[string, unknown]>([
    ["needs the gateway's keys", undefined],
    ["needs the gateway's keys", {}],
    ["needs the gateway's keys", { keys: "secret" }],
    ["a key ID consists", { keys: [null] }],
    ["a key ID consists", { keys: [{ key: KEY.key }] }],
    ['the key "a"', { keys: [{ id: "a" }] }],
    ['no option "region"', { ...OPTIONS, region: ["eu"] }],
    ['no option "toString"', { ...OPTIONS, toString: 1 }],
    ['"regions" must be a list', { ...OPTIONS, regions: "eu" }],
    ['"regions" must be a list', { ...OPTIONS, regions: [] }],
    ['"toleranceSeconds" must be a number', { ...OPTIONS, toleranceSeconds: Number.NaN }],
    ['"toleranceSeconds" must be a number', { ...OPTIONS, toleranceSeconds: "300" }],
    ['"now" must be a function', { ...OPTIONS, now: NOW_MS }],
    ['"epochs" must be a guard', { ...OPTIONS, epochs: memoryEpochStore() }],
    ['"keyOf" needs', { ...OPTIONS, keyOf: String }],
  ])("rejects invalid options: %s", (message, options) => {
    const make = () => waybillOrigin(options as WaybillOriginOptions);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });

  it("takes options that are left undefined for none", () => {
    const options = { keys: [KEY], regions: undefined, epochs: undefined, keyOf: undefined };
    expect(() => waybillOrigin(options as unknown as WaybillOriginOptions)).not.toThrow();
  });

  it("leaves errors of the application to the application", async () => {
    const verify = waybillOrigin(OPTIONS);
    const request = { method: "PUT", url: PARTS.target, headers: headersOf(PARTS) };
    const response = { statusCode: 200, setHeader: () => undefined, end: () => undefined };
    const calls: unknown[] = [];
    const failing = verify(request, response, (error) => {
      calls.push(error);
      throw new Error("the application's own");
    });
    await expect(failing).rejects.toThrow("the application's own");
    expect(calls).toEqual([undefined]);
  });
});

describe("with the guard", () => {
  it("refuses fenced writes, and sends what it has given away to its new region", async () => {
    const epochs = createEpochGuard(memoryEpochStore());
    const { send, passed } = await serve({ ...OPTIONS, epochs });
    expect((await send({ epoch: 1 })).status).toBe(200);
    await epochs.fence("1", 2);
    const fenced = await send({ epoch: 1 });
    expect([fenced.status, fenced.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(await fenced.json()).toEqual({
      ...problemOf({ reason: "entity-moving", retryAfterMs: 2000 }),
      reason: "fenced",
      upTo: 2,
    });
    expect((await send({ epoch: 1, method: "GET" })).status).toBe(200);
    await epochs.leave("1", 3, "us");
    const gone = await send({ epoch: 2, method: "GET" });
    expect([gone.status, gone.headers.get("waybill-region")]).toEqual([421, "us"]);
    expect((await send({ id: "" })).status).toBe(200);
    expect(passed).toHaveLength(3);
  });

  it("refuses a fenced write so that an app sends it again, as after the gateway's own word", async () => {
    const epochs = createEpochGuard(memoryEpochStore());
    const { send, passed } = await serve({ ...OPTIONS, epochs });
    await epochs.fence("1", 2);
    const pauses: number[] = [];
    const answer = await sendAgain(new Request("https://api.example.com/orders/1", { method: "POST" }), {
      fetch: ({ method }) => send({ epoch: 1, method }),
      pause: async (ms) => {
        pauses.push(ms);
        await epochs.open("1", 2);
      },
      random: () => 0,
    });
    expect([answer.status, pauses, passed.length]).toEqual([200, [2000], 1]);
  });

  it("knows an entity by the key of its row, where its ID has two texts", async () => {
    const epochs = createEpochGuard(memoryEpochStore());
    const rows = new Map([
      ["1", "row 7"],
      ["0000001", "row 7"],
    ]);
    const { send } = await serve({ ...OPTIONS, epochs, keyOf: async (id) => rows.get(id) ?? id });
    await epochs.fence("row 7", 2);
    const statuses: number[] = [];
    for (const id of ["1", "0000001", "2"]) statuses.push((await send({ id, epoch: 1 })).status);
    expect(statuses).toEqual([503, 503, 200]);
  });

  it.each([
    ["websocket", 503],
    ["WebSocket", 503],
    ["h2c, websocket", 503],
    ["h2c", 200],
    ["TLS/1.0", 200],
    ["foo", 200],
  ])("takes an upgrade for a write if it is one to a WebSocket: %s", async (upgrade, status) => {
    const epochs = createEpochGuard(memoryEpochStore());
    await epochs.fence("1", 2);
    const headers = { ...headersOf({ ...PARTS, method: "GET" }), upgrade };
    const response = { statusCode: 200, setHeader: () => undefined, end: () => undefined };
    const verify = waybillOrigin({ ...OPTIONS, epochs });
    await verify({ method: "GET", url: PARTS.target, headers }, response, () => undefined);
    expect(response.statusCode).toBe(status);
  });

  it("hands a failing store to the application's error handler", async () => {
    const update = () => Promise.reject(new Error("no database"));
    const { send, passed } = await serve({ ...OPTIONS, epochs: createEpochGuard({ update }) });
    const failed = await send();
    expect([failed.status, await failed.text()]).toEqual([500, "no database"]);
    expect(passed).toEqual([undefined]);
  });
});
