import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { idWith } from "../hostile/gateway.ts";
import { type Stack, startStack } from "../stack.ts";

/** Good requests come at this rate, and 20 bad ones every 2 s. */
const GOOD_RATE = 95;
const BURST = 20;
const BURST_EVERY_MS = 2_000;
const PHASE_MS = 4_500;

/** An origin whose handler ends the connection for one path. */
const origin = createServer((request, response) => {
  if (request.url?.endsWith("?bad") === true) request.socket.resetAndDestroy();
  else response.end("good");
});
let stack: Stack;
beforeAll(async () => {
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  stack = await startStack({
    regions: { eu: { origins: [{ url: `http://127.0.0.1:${(origin.address() as AddressInfo).port}` }] } },
    countries: {},
    entities: { parcel: { path: "/parcel/:id", ids: [{ layout: "hotguid" }] } },
    routes: [{ when: { layout: "hotguid" }, region: "eu" }],
    moved: {},
  });
});
afterAll(async () => {
  await stack?.stop();
  origin.closeAllConnections();
  await new Promise((resolve) => origin.close(resolve));
});

const ask = async (query = "") => {
  const startedMs = performance.now();
  const response = await fetch(`${stack.url}/parcel/${idWith(1)}${query}`);
  await response.arrayBuffer();
  return { status: response.status, ms: performance.now() - startedMs };
};

async function goodTraffic(): Promise<{ readonly failed: number; readonly p99Ms: number }> {
  const startedMs = performance.now();
  const asked: ReturnType<typeof ask>[] = [];
  for (let elapsedMs = 0; elapsedMs < PHASE_MS; elapsedMs = performance.now() - startedMs) {
    while (asked.length < (elapsedMs * GOOD_RATE) / 1000) asked.push(ask());
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const answers = await Promise.all(asked);
  const times = answers.map(({ ms }) => ms).toSorted((one, other) => one - other);
  return {
    failed: answers.filter(({ status }) => status !== 200).length,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? Infinity,
  };
}

it("requests that break their own connections fail nobody else's and do not slow them down", async () => {
  await Promise.all(Array.from({ length: 50 }, () => ask()));
  const burst = (): void => {
    for (let count = 0; count < BURST; count++) void ask("?bad").catch(() => undefined);
  };
  // Other work on the machine slows one try; what bad requests slow is slow in each.
  const isHeldUp: boolean[] = [];
  while (isHeldUp.length < 3 && isHeldUp.at(-1) !== false) {
    const alone = await goodTraffic();
    burst();
    const bursts = setInterval(burst, BURST_EVERY_MS);
    const beside = await goodTraffic();
    clearInterval(bursts);
    expect([alone.failed, beside.failed]).toEqual([0, 0]);
    // A few milliseconds are nothing to double.
    isHeldUp.push(beside.p99Ms >= Math.max(2 * alone.p99Ms, 100));
  }
  expect(isHeldUp).toContain(false);
});

it("three bad requests to an idle gateway close nothing", async () => {
  for (let count = 0; count < 3; count++) expect((await ask("?bad")).status).toBe(502);
  expect((await ask()).status).toBe(200);
});
