import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prepareFolder } from "../../../src/host/self-hosting.ts";
import { serveWorker } from "../../../src/host/workerd/gateway.ts";
import { type ModuleFile, readWorker } from "../../../src/host/workerd/modules.ts";
import { FOR_PROJECTS } from "../../../src/host/workerd/table-modules.ts";
import { startOrders } from "../orders-origin.ts";

/** Folders that wrangler uploads as they are, here served by workerd. */

const folder = mkdtempSync(join(tmpdir(), "waybill-prepare-"));
const tableFile = join(folder, "routing-table.json");
const ORDER = "/orders/0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
/** The check and the compiler: an isolate needs them only for a table for which nothing vouches. */
const COMPILER = "edge-table-compile-text.js";
let orders: Awaited<ReturnType<typeof startOrders>>;
let text = "";
let made = 0;

beforeAll(async () => {
  orders = await startOrders();
  const origin = { origins: [{ url: orders.url }] };
  const order = { path: "/orders/:id", ids: [{ layout: "iuid" }] };
  text = JSON.stringify({ regions: { eu: origin, us: origin }, entities: { order }, routes: [], default: "us" });
  writeFileSync(tableFile, text);
});
afterAll(async () => {
  await orders?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function prepared(mainCode?: string): Promise<string> {
  const out = join(folder, `${made++}`);
  expect(await prepareFolder({ tableFile, folder: out, mainCode })).toEqual({ ok: true, value: text });
  return out;
}

const serve = (worker: readonly ModuleFile[], stateFolder = join(folder, `${made++}`)) =>
  serveWorker(worker, { port: 0, tableText: text, stateFolder, vars: { REQUEST_LOG: "off" } });

async function answer(worker: readonly ModuleFile[], stateFolder?: string) {
  const gateway = await serve(worker, stateFolder);
  try {
    const { status, headers } = await fetch(gateway.url + ORDER);
    return { status, region: headers.get("waybill-region"), own: headers.get("x-own") };
  } finally {
    await gateway.stop();
  }
}

const projectWith = (table: string): string => `
import { gateway } from "${FOR_PROJECTS.worker}";
import table from "${FOR_PROJECTS.table}";
export * from "${FOR_PROJECTS.objects}";
const waybill = gateway(${table});
export default {
  ...waybill,
  async fetch(request, env, context) {
    const response = await waybill.fetch(request, env, context);
    const headers = new Headers(response.headers);
    headers.set("x-own", "1");
    return new Response(response.body, { status: response.status, headers });
  },
};
`;

describe("a folder for wrangler", () => {
  it("has modules with their maps, and the console, which wrangler.toml of the checkout names", async () => {
    const out = await prepared();
    const names = readdirSync(join(out, "worker"));
    const [main, base, globs] = [/^main = "(.*)"/m, /^base_dir = "(.*)"/m, /globs = \["(.*?)"\]/g].map((pattern) =>
      [...readFileSync("wrangler.toml", "utf8").matchAll(new RegExp(pattern, "gm"))].map(([, value]) => value),
    );
    expect([main, base, globs]).toEqual([["build/worker/main.js"], ["build/worker"], ["*.js", "*.txt"]]);
    for (const name of names) expect(name).toMatch(/\.(?:js|txt|js\.map)$/);
    for (const name of ["index.js", "objects.js", "core.js"]) {
      expect(names).toContain(`${name}.map`);
      expect(readFileSync(join(out, "worker", name), "utf8")).toMatch(`\n//# sourceMappingURL=${name}.map\n`);
    }
    expect(existsSync(join(out, "console", "shell.html"))).toBe(true);
    expect(await answer(readWorker(out))).toMatchObject({ status: 201 });
  });

  it("is not touched for a table with faults", async () => {
    const out = await prepared();
    const before = readdirSync(join(out, "worker"));
    const faulty = join(folder, "faulty.json");
    writeFileSync(faulty, JSON.stringify({ ...JSON.parse(text), default: "mars" }));
    const refused = await prepareFolder({ tableFile: faulty, folder: out });
    expect(refused).toMatchObject({ ok: false, error: expect.stringContaining("mars") });
    expect(readdirSync(join(out, "worker"))).toEqual(before);
  });
});

describe("a Worker of a project's own", () => {
  it("has the gateway in its hands", async () => {
    expect(await answer(readWorker(await prepared(projectWith("table"))))).toMatchObject({ status: 201, own: "1" });
  });

  it.each([
    ["the table as it was built, and vouched for", "table", 201],
    ["a copy of it", "structuredClone(table)", 201],
    ["its text", "JSON.stringify(table)", 201],
    ["a table that it changed, and for which nothing vouches", '{ ...table, default: "eu" }', 503],
    ["one that it changed in place", 'Object.assign(table, { default: "eu" })', 503],
    ["one that it changed within", "(table.regions.eu.origins[0].weight = 2, table)", 503],
  ])("may give %s", async (_, given, status) => {
    const out = await prepared(projectWith(given));
    const worker = readWorker(out);
    const first = join(folder, `${made++}`);
    await (await serve(worker, first)).stop();
    const copy = join(folder, `${made++}`);
    cpSync(first, copy, { recursive: true });
    expect((await answer(worker, first)).status).toBe(201);
    expect(
      (
        await answer(
          worker.filter(({ name }) => name !== COMPILER),
          copy,
        )
      ).status,
    ).toBe(status);
  });

  it("cannot have two tables", async () => {
    const out = await prepared(`${projectWith("table")}gateway({ ...table, default: "eu" });\n`);
    await expect(serve(readWorker(out))).rejects.toThrow("a Worker has one routing table");
  });
});
