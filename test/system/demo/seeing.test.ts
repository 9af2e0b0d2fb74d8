import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stack, startStack } from "../stack.ts";
import { readDemoTable } from "./demo.ts";

/** Operators see a real origin go down and return, on bare workerd with its real alarms. */

const ORDER = "/orders/01990f04-d900-8009-8040-000000000001";

/** Short, so that the test sees it close again. */
const OPEN_MS = 500;

const checks: IncomingHttpHeaders[] = [];
let server: Server;
let port = 0;
let stack: Stack;

async function startOrigin(): Promise<void> {
  server = createServer((request, response) => {
    if (request.url === "/healthz") checks.push(request.headers);
    response.end("here");
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
}

async function stopOrigin(): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

interface RegionsPage {
  readonly source: string;
  readonly regions: Record<
    string,
    {
      readonly requests: number;
      readonly origins: readonly {
        readonly breaker: string;
        readonly lastFault: { readonly fault: string } | null;
        readonly lastCheck: { readonly good: boolean; readonly status: number | null } | null;
      }[];
    }
  >;
}

const page = async () => (await (await fetch(`${stack.url}/-/regions`)).json()) as RegionsPage;
const origin = async () => (await page()).regions["eu"]?.origins[0];
const metrics = async () => (await fetch(`${stack.url}/-/metrics`)).text();
const ask = async () => (await fetch(stack.url + ORDER)).status;

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 100));
}

beforeAll(async () => {
  await startOrigin();
  const region = { origins: [{ url: `http://127.0.0.1:${port}` }] };
  const eu = { ...region, health: { path: "/healthz", timeoutMs: 500 }, breaker: { failures: 3, openMs: OPEN_MS } };
  const demo = readDemoTable();
  const declared = { ...demo, regions: { eu, us: region, ap: region }, moved: {} } as typeof demo;
  stack = await startStack(declared, { CHECK_SECONDS: "1", REPORT_SECONDS: "1" });
});

afterAll(async () => {
  await stack?.stop();
  server?.closeAllConnections();
  server?.close();
});

describe("an origin with active checks", () => {
  it("is asked by itself, as the gateway, without any client's request but the first", async () => {
    expect(await ask()).toBe(200);
    await until(async () => checks.length >= 3);
    expect(checks[0]).toMatchObject({ "user-agent": "waybill-health", via: "1.1 waybill", "cdn-loop": "waybill" });
    expect(await page()).toMatchObject({
      source: "durable object",
      regions: { eu: { origins: [{ breaker: "closed", lastFault: null, lastCheck: { good: true, status: 200 } }] } },
    });
    expect(await metrics()).toContain(`waybill_origin_up{region="eu",origin="127.0.0.1:${port}",index="0"} 1\n`);
  });

  it("is seen to be down, by the checks and by its breaker, and to return", async () => {
    await stopOrigin();
    await until(async () => (await origin())?.lastCheck?.good === false);
    expect((await origin())?.lastCheck?.status).toBeNull();
    expect(await metrics()).toContain(`waybill_origin_up{region="eu",origin="127.0.0.1:${port}",index="0"} 0\n`);
    // It is the only one: it is asked all the same.
    await until(async () => (await ask()) === 502);
    // It is half open again after half a second; a request that fails then opens it anew.
    await until(async () => {
      await ask();
      return (await origin())?.breaker === "open";
    });
    expect((await origin())?.lastFault?.fault).toBe("connection_terminated");
    const down = await metrics();
    expect(down).toMatch(/^waybill_breaker_openings_total\{region="eu"\} [1-9]/m);
    expect(down).toMatch(/^waybill_requests_total\{entity="order",region="eu",outcome="origin-unreachable"\} [1-9]/m);

    await startOrigin();
    await until(async () => (await ask()) === 200);
    await until(async () => (await origin())?.lastCheck?.good === true);
    expect((await origin())?.breaker).toBe("closed");
    expect(await metrics()).toContain(`waybill_origin_up{region="eu",origin="127.0.0.1:${port}",index="0"} 1\n`);
  });
});
