import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { DemoTable } from "../demo/demo.ts";
import { type Stack, startStack } from "../stack.ts";
import { growthDuring, residentBytes } from "../table/memory.ts";

const REGIONS = ["r1", "r2", "r3", "r4", "r5"] as const;
const EACH = 200_000;
const PAGE = 1_000;
const MS = Date.UTC(2026, 0, 1);
const MB = 1024 * 1024;

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");

/** The order at a place of a region's list: each region has every fifth. */
function itemAt(region: number, at: number): string {
  const time = hex(MS + at, 12);
  const id = `${time.slice(0, 8)}-${time.slice(8)}-80${hex(region + 1, 2)}-8040-${hex(at, 12)}`;
  return `{"id":"${id}","at":${at * REGIONS.length + region},"note":"${"x".repeat(80)}"}`;
}

const servers: Server[] = [];
let stack: Stack;
let pages = 0;

beforeAll(async () => {
  const urls = await Promise.all(
    REGIONS.map(async (_, region) => {
      const server = createServer((request, response) => {
        pages++;
        const from = Number(new URL(request.url ?? "/", "http://x").searchParams.get("after") ?? 0);
        const items = Array.from({ length: Math.min(PAGE, EACH - from) }, (_each, at) => itemAt(region, from + at));
        const next = from + PAGE < EACH ? `"${from + PAGE}"` : "null";
        response.setHeader("content-type", "application/json");
        response.end(`{"items":[${items.join(",")}],"next":${next}}`);
      });
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }),
  );
  const list = {
    items: "/items",
    next: { cursor: "/next", query: "after" },
    order: { by: { member: "/at", type: "number" }, direction: "asc" },
    pageSize: PAGE,
    limit: { max: 1_000_000 },
    pagesMax: 2_000,
  };
  const declared = {
    regions: Object.fromEntries(REGIONS.map((name, at) => [name, { origins: [{ url: urls[at] }] }])),
    countries: { AT: 1, BE: 2, CH: 3, DE: 4, ES: 5 },
    entities: { order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }], list } },
    routes: ["AT", "BE", "CH", "DE", "ES"].map((country, at) => ({ when: { country }, region: REGIONS[at] })),
    moved: {},
  };
  stack = await startStack(declared as unknown as DemoTable);
});

afterAll(async () => {
  await stack?.stop();
  for (const server of servers) server.close();
});

/** Reads lines; `pauseAt`: after so many the reader rests. */
async function read(limit: number, pauseAt = -1): Promise<{ count: number; summary: unknown }> {
  const response = await fetch(`${stack.url}/orders?limit=${limit}`, { headers: { accept: "application/x-ndjson" } });
  if (response.status !== 200 || response.body === null) throw new Error(`${response.status} ${await response.text()}`);
  const decoder = new TextDecoder();
  let rest = "";
  let count = 0;
  let last = "";
  for await (const chunk of response.body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) {
      if (line.startsWith('{"id"')) {
        const at = Number(/"at":(\d+)/.exec(line)?.[1]);
        if (at !== count) throw new Error(`item ${at} at place ${count}`);
        count++;
      } else last = line;
      if (count === pauseAt) {
        const asked = pages;
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        // Some megabytes are on their way in sockets: no more is read ahead for a reader that rests.
        expect(pages - asked).toBeLessThan(100);
        pauseAt = -1;
      }
    }
  }
  return { count, summary: JSON.parse(last).summary };
}

it("1,000,000 items of five regions stream in order, with flat memory", async () => {
  // From then on the engine's young heap has its full size, whatever is done.
  await read(300_000);
  const before = residentBytes(stack.gateway.pid);
  const startMs = performance.now();
  let result: Awaited<ReturnType<typeof read>> | undefined;
  const grown = await growthDuring(stack.gateway.pid, async () => {
    result = await read(1_000_000, 500_000);
  });
  const seconds = (performance.now() - startMs) / 1000;
  const shown = [`${(grown / MB).toFixed(1)} MB growth over ${(before / MB).toFixed(0)} MB`, `${seconds.toFixed(1)} s`];
  process.stdout.write(`a list of 1,000,000 items: ${shown.join(", ")}\n`);
  expect(result).toMatchObject({ count: 1_000_000, summary: { next: null, partial: [] } });
  expect(grown).toBeLessThan(32 * MB);
});
