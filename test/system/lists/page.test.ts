import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listSchema } from "../../../src/features/lists/table/schema.ts";
import { readDemoTable } from "../demo/demo.ts";
import { type DemoStack, startDemoStack, startStack } from "../stack.ts";

const PAGE = readFileSync(new URL("../../../docs/guides/lists.md", import.meta.url), "utf8");
const blocksOf = (language: string): readonly string[] =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, block = ""]) => block);

let stack: DemoStack;
beforeAll(async () => {
  stack = await startDemoStack();
});
afterAll(() => stack?.stop());

describe("docs/guides/lists.md", () => {
  /** The origins are in this process, so it must not wait for the shell. */
  const run = async (block = ""): Promise<readonly string[]> => {
    const script = block.replaceAll("http://127.0.0.1:8787", stack.url);
    const { stdout } = await promisify(execFile)("bash", ["-euc", script]);
    return stdout.trimEnd().split("\n");
  };

  it("lists all regions, goes on with a cursor, and ends lines with a summary", async () => {
    for (const country of ["KZ", "BR", "DE", "KZ", "BR"]) {
      const headers = { "x-country": country, "content-type": "application/json" };
      const created = await fetch(`${stack.url}/orders`, { method: "POST", headers, body: '{"total":1}' });
      expect(created.status).toBe(201);
    }
    const text = (await run(blocksOf("sh")[0])).join("\n");
    const [first, second, last] = text.replaceAll("}\n{", "}\u0000{").split("\u0000");
    const answers = [first, second].map((answer) => JSON.parse(answer ?? ""));
    const ids = answers.flatMap(({ items }) => items.map(({ id }: { id: string }) => id));
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    expect(ids).toHaveLength(4);
    expect(new Set(answers.flatMap(({ items }) => items.map(({ region }: { region: string }) => region))).size).toBe(3);
    expect(answers[0].summary.partial).toEqual([]);
    expect(JSON.parse(last ?? "").summary).toMatchObject({ partial: [] });
  });

  it("shows what the demo's table has", () => {
    const [block] = blocksOf("json");
    expect(JSON.parse(`{${block}}`)).toEqual({ list: readDemoTable().entities["order"]?.list });
  });

  it("names every member of a list", () => {
    const members = Object.keys(listSchema.entries);
    for (const member of members) expect(PAGE).toContain(`\`${member}\``);
  });

  it("tells origins who asks for many", async () => {
    const headers = { "x-country": "KZ", "content-type": "application/json" };
    const created = await fetch(`${stack.url}/orders`, { method: "POST", headers, body: '{"total":1}' });
    const id = created.headers.get("waybill-entity-id") ?? "";
    const body = JSON.stringify([id]);
    const answer = await fetch(`${stack.url}/any`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    const { results } = (await answer.json()) as {
      results: { status: number; body: { headers: Record<string, string> } }[];
    };
    expect(results[0]?.status).toBe(200);
    expect(results[0]?.body.headers).toMatchObject({ "x-forwarded-for": "127.0.0.1", "waybill-entity-id": id });
  });

  it("answers many IDs, and locates them", async () => {
    const [many, located] = (await run(blocksOf("sh")[1])).join("").split(/(?<=\}\})(?=\{"results")/);
    expect(JSON.parse(many ?? "")).toMatchObject({
      results: [{ status: expect.any(Number), region: expect.any(String) }, { problem: { title: "Malformed ID" } }],
      summary: { count: 2 },
    });
    expect(JSON.parse(located ?? "").results[0]).toMatchObject({ entity: "order", layout: "iuid" });
  });
});

it("an answer without its summary is a broken message, and a client that leaves ends its requests", async () => {
  let asked = 0;
  let failsFrom = 15;
  const item = (at: number) => ({
    id: `0192f0c1-7a30-8005-8040-${String(at).padStart(12, "0")}`,
    pad: "x".repeat(2000),
  });
  const server: Server = createServer((request, response) => {
    const from = Number(new URL(request.url ?? "/", "http://x").searchParams.get("after") ?? 0);
    if (++asked > failsFrom) {
      response.statusCode = 500;
      response.end();
      return;
    }
    const items = Array.from({ length: 100 }, (_, at) => item(from + at));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ items, next: from + 100 }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const list = {
    items: "/items",
    next: { cursor: "/next", query: "after" },
    order: { by: "id-time", direction: "asc" },
    limit: { max: 100_000 },
    partial: "refuse",
  } as const;
  const demo = readDemoTable();
  const cut = await startStack({
    ...demo,
    regions: { eu: { origins: [{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }] } },
    entities: { order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }], list } },
    countries: { KZ: 5 },
    layouts: {},
    routes: [{ when: { country: "KZ" }, region: "eu" }],
    moved: {},
    withoutId: {},
  } as unknown as typeof demo);
  try {
    const response = await fetch(`${cut.url}/orders?limit=100000`);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    failsFrom = Infinity;
    const left = new AbortController();
    const begun = await fetch(`${cut.url}/orders?limit=100000`, { signal: left.signal });
    await begun.body?.getReader().read();
    left.abort();
    await new Promise((resolve) => setTimeout(resolve, 500));
    const soonAfter = asked;
    expect(soonAfter).toBeLessThan(200);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(asked).toBe(soonAfter);
  } finally {
    await cut.stop();
    server.close();
  }
});
