import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { portFrom } from "../../../src/demo/table.ts";
import { documentPathOf } from "../../../src/host/project/documents.ts";
import { TICKET_LAYOUT } from "../../fixtures/ticket-layout.ts";
import { findFreePorts } from "./demo.ts";

type KvStatus = { readonly kv: { readonly revision: number } | null };

const START = fileURLToPath(new URL("../../../src/demo/start.ts", import.meta.url));

const stateFolder = mkdtempSync(join(tmpdir(), "waybill-start-"));
const started: Demo[] = [];
afterAll(async () => {
  // A test that failed has ended nothing.
  for (const { child, ended } of started) {
    child.kill("SIGTERM");
    await ended;
  }
  rmSync(stateFolder, { recursive: true });
});

interface Demo {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

function startDemo(port: string, ...args: string[]): Demo {
  return startWith({ PORT: port }, ...args);
}

function startWith(settings: Readonly<Record<string, string>>, ...args: string[]): Demo {
  const child = spawn(process.execPath, [START, ...args], {
    env: { ...process.env, DEMO_TRAFFIC: "off", WAYBILL_STATE: join(stateFolder, settings["PORT"] ?? ""), ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += chunk));
  const ended = once(child, "close").then(([code]) => (typeof code === "number" ? code : null));
  const demo = { child, output: () => output, ended };
  started.push(demo);
  return demo;
}

async function untilPrinted(demo: Demo, pattern: RegExp): Promise<void> {
  while (!pattern.test(demo.output())) {
    if (demo.child.exitCode !== null) throw new Error(`the demo ended:\n${demo.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("the demo", () => {
  it.each(["SIGINT", "SIGTERM"] as const)(
    "prints its screen and each request, and ends whole on %s",
    async (signal) => {
      const port = await findFreePorts();
      const demo = startDemo(String(port));
      await untilPrinted(demo, /^ready http:\/\/127\.0\.0\.1:\d+$/m);
      expect(demo.output()).toContain("pages are open to everyone who reaches it");
      const command = /curl -i (\S+\/any\/\S+)$/m.exec(demo.output())?.[1] ?? "";
      const response = await fetch(command);
      const region = response.headers.get("x-demo-region");
      expect([response.status, response.headers.get("waybill-region")]).toEqual([200, region]);
      await response.arrayBuffer();
      await untilPrinted(demo, new RegExp(`^GET +/any/\\S+ +hotguid +${region} +200 +\\d+ ms$`, "m"));
      demo.child.kill(signal);
      expect(await demo.ended).toBe(0);
      expect(demo.output()).not.toContain("The gateway exited");
      for (const offset of [0, 1, 2, 3]) await expect(fetch(`http://127.0.0.1:${port + offset}/`)).rejects.toThrow();
    },
  );

  it("fits one screen, with the console's address last", async () => {
    const demo = startDemo(String(await findFreePorts()));
    await untilPrinted(demo, /^Console http\S+ .*\n/m);
    const lines = demo.output().trimEnd().split("\n");
    const rows = lines.map((line) => Math.max(1, Math.ceil(line.length / 80)));
    // The state of the test has a path of any length.
    const state = lines.findIndex((line) => line.startsWith("  state "));
    rows[state] = 1;
    expect(rows.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(24);
    expect(Math.max(...rows)).toBe(1);
    expect(lines.at(-1)).toMatch(/^Console http:\/\/console\.localhost:\d+ \(browser\)/);
    for (const region of ["eu", "us", "ap"])
      expect(demo.output()).toMatch(new RegExp(`^ {2}${region} +(?!http)\\w+`, "m"));
    demo.child.kill("SIGTERM");
    expect(await demo.ended).toBe(0);
  });

  it("prints its samples beside the running one, and says that it runs already", async () => {
    const port = String(await findFreePorts());
    const demo = startDemo(port);
    await untilPrinted(demo, /^Console http\S+ .*\n/m);
    const beside = startDemo(port, "--samples");
    expect(await beside.ended).toBe(0);
    const [, id = ""] = /curl -i http\S+\/any\/(\S+)$/m.exec(demo.output()) ?? [];
    expect(beside.output()).toContain(id);
    expect(beside.output().split("\n").length).toBeGreaterThan(30);
    expect(beside.output()).toMatch(/curl -X POST http\S+\/down$/m);
    const again = startDemo(port);
    expect(await again.ended).toBe(1);
    expect(again.output()).toMatch(
      new RegExp(`^The demo runs already, on port ${port} \\(process \\d+\\)\\. npm start -- --samples prints its IDs`),
    );
    demo.child.kill("SIGTERM");
    expect(await demo.ended).toBe(0);
  });

  it("names PORT when a port is taken", async () => {
    const port = await findFreePorts();
    const taken = createServer().listen(port + 2, "127.0.0.1");
    await once(taken, "listening");
    const demo = startDemo(String(port));
    expect(await demo.ended).toBe(1);
    expect(demo.output()).toMatch(new RegExp(`^Port ${port + 2} is taken.*PORT=\\d+ npm start`));
    taken.close();
  });

  it.each(["0", "65533", "-1", "80a", "1e3", " 80"])("refuses PORT=%s", async (text) => {
    expect(() => portFrom(text)).toThrow(/^PORT is a number from 1 to 65532/);
  });

  it("has a port when none is named", () => {
    expect([portFrom(undefined), portFrom(""), portFrom("9000")]).toEqual([8787, 8787, 9000]);
  });
});

/** A table without the parts that it may leave out, with paths and entities that the project's own does not have. */
const INVOICES = {
  regions: { eu: { origins: [{ url: "http://localhost:8788" }] }, us: { origins: [{ url: "http://127.0.0.1:8789" }] } },
  countries: { KZ: 5, DE: 9, FR: 12 },
  entities: {
    invoice: { path: ["/v1/invoices/:id", "/tenants/*/invoices/:id"], ids: [{ layout: "iuid", service: 9 }] },
    pallet: { path: "/pallets/:id", ids: [{ layout: "hotguid" }] },
    stop: { path: "/stops/:id", ids: [{ layout: "snowflake" }] },
  },
  layouts: { hotguid: { slices: { bucket: [4, 8] } } },
  routes: [
    { when: { layout: ["iuid"], country: ["KZ", "DE"], mintedBefore: "2026-06-01T00:00:00Z" }, region: "us" },
    { when: { layout: "iuid", country: ["KZ", "DE"] }, region: "eu" },
    { when: { layout: "hotguid", slices: { bucket: ["0-9", 200] } }, region: "us" },
    { when: { layout: "hotguid", shardKey: 268435455 }, region: "eu" },
  ],
};

function tableFile(name: string, table: unknown): string {
  const path = join(stateFolder, name);
  writeFileSync(path, typeof table === "string" ? table : JSON.stringify(table, null, 2));
  return path;
}

const READY = /^ready (http:\/\/127\.0\.0\.1:\d+)\n/m;
const urlOf = (demo: Demo) => READY.exec(demo.output())?.[1] ?? "";

describe("a table of one's own on the demo's origins", () => {
  it("is the demo, with what it has; each sample is served by the region that the screen shows", async () => {
    const demo = startDemo(String(await findFreePorts()), tableFile("invoices.json", INVOICES), "--samples");
    await untilPrinted(demo, READY);
    const screen = demo.output();
    const sections = screen.slice(screen.indexOf("Sample IDs"), screen.indexOf("Try it")).split(/^ {2}(eu|us|ap)$/m);
    const samples = [1, 3, 5].flatMap((at) =>
      [...(sections[at + 1] ?? "").matchAll(/^ {4}(\w+) +(.+?) {2,}(\S+)$/gm)].map(([, entity, about, id]) => ({
        region: sections[at],
        entity,
        about,
        id,
      })),
    );
    expect(samples.map(({ region, entity, about }) => [region, entity, about])).toEqual([
      ["eu", "invoice", "KZ"],
      ["eu", "invoice", "DE"],
      ["eu", "pallet", "shard key 268435455"],
      ["us", "invoice", "KZ, older"],
      ["us", "invoice", "DE, older"],
      ["us", "pallet", "bucket 0"],
      ["us", "pallet", "bucket 9"],
      ["us", "pallet", "bucket 200"],
    ]);
    for (const { region, entity, id } of samples) {
      const response = await fetch(`${urlOf(demo)}/any/${id}`);
      const body = await response.json();
      expect([response.status, response.headers.get("x-demo-region")]).toEqual([200, region]);
      expect(body).toMatchObject({ entity: { id, kind: entity, region } });
    }
    const commands = screen.slice(screen.indexOf("Try it")).match(/^ {2}curl .*$/gm) ?? [];
    expect(commands.join("\n")).toContain(`/v1/invoices/`);
    expect(commands.join("\n")).toContain(`'{"entity":"invoice","country":"KZ","count":3}'`);
    demo.child.kill("SIGTERM");
    expect(await demo.ended).toBe(0);
  });

  it("has samples of layouts that are minted by their fields, one for each region", async () => {
    const table = {
      regions: { ...INVOICES.regions, ap: { origins: [{ url: "http://127.0.0.1:8790" }] } },
      countries: { KZ: 5 },
      entities: {
        ticket: { path: "/tickets/:id", ids: [{ layout: "acme", service: 3 }] },
        song: { path: "/songs/:id", ids: [{ layout: "ulid" }] },
      },
      layouts: {
        acme: TICKET_LAYOUT,
      },
      routes: [
        { when: { entity: "ticket", country: "KZ", fields: { machine: "40-49" } }, region: "ap" },
        { when: { entity: "ticket", country: "KZ", fields: { machine: 7 } }, region: "us" },
        { when: { entity: "song" }, region: "eu" },
      ],
    };
    const demo = startDemo(String(await findFreePorts()), tableFile("tickets.json", table), "--samples");
    await untilPrinted(demo, READY);
    const screen = demo.output();
    for (const [about, region] of [
      ["KZ, machine 40", "ap"],
      ["KZ, machine 7", "us"],
      ["ulid", "eu"],
    ] as const) {
      const id = new RegExp(`${about} +(\\S+)$`, "m").exec(screen)?.[1];
      const response = await fetch(`${urlOf(demo)}/any/${id}`);
      await response.arrayBuffer();
      expect([response.status, response.headers.get("x-demo-region")]).toEqual([200, region]);
    }
    const request = /\/mint .* -d '(.*)'$/m.exec(screen)?.[1] ?? "";
    const minted = await fetch(`${urlOf(demo)}/mint`, { method: "POST", body: request });
    expect([minted.status, (await minted.text()).length > 0]).toEqual([201, true]);
    demo.child.kill("SIGTERM");
    expect(await demo.ended).toBe(0);
  });

  it("serves what is published, whatever file and port the next start has, and says how to publish the file", async () => {
    const state = { WAYBILL_STATE: join(stateFolder, "named") };
    const before = startWith({ PORT: String(await findFreePorts()), ...state }, tableFile("before.json", INVOICES));
    await untilPrinted(before, READY);
    const second = startWith({ PORT: String(await findFreePorts()), ...state }, tableFile("before.json", INVOICES));
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(
      /named is the state of a running gateway \(process \d+\)\. Stop it, or use another --state/,
    );
    // The file names ports that are not those of this run's origins.
    const published = JSON.stringify({ ...INVOICES, routes: [], default: "eu" });
    const headers = { "if-match": '"1"', "waybill-note": "all%20to%20eu" };
    const put = await fetch(`${urlOf(before)}/-/table`, { method: "PUT", headers, body: published });
    expect(put.status).toBe(201);
    // The next start reads what is published from KV, which follows the control plane.
    const inKv = async () => ((await (await fetch(`${urlOf(before)}/-/table/status`)).json()) as KvStatus).kv?.revision;
    await expect.poll(inKv, { timeout: 10_000 }).toBe(2);
    before.child.kill("SIGTERM");
    expect(await before.ended).toBe(0);

    const after = startWith(
      { PORT: String(await findFreePorts()), ...state },
      tableFile("after.json", INVOICES),
      "--samples",
    );
    await untilPrinted(after, READY);
    expect(after.output()).toMatch(/^note: the published table is in force, and \S+after\.json differs from it\./m);
    expect(after.output()).toContain(`WAYBILL_GATEWAY=${urlOf(after)} npm run -s waybill -- table publish`);
    const sample = /^ {4}invoice +KZ +(\S+)$/m.exec(after.output())?.[1];
    const response = await fetch(`${urlOf(after)}/any/${sample}`);
    expect([response.status, response.headers.get("x-demo-region")]).toEqual([200, "eu"]);
    await response.arrayBuffer();
    const { revisions } = (await (await fetch(`${urlOf(after)}/-/table/revisions`)).json()) as { revisions: object[] };
    expect(revisions).toMatchObject([
      { revision: 2, note: "all to eu" },
      { revision: 1, kind: "publish", author: "start" },
    ]);
    after.child.kill("SIGTERM");
    expect(await after.ended).toBe(0);
  });

  it("has samples of public entities as clients get them", async () => {
    const table = {
      regions: INVOICES.regions,
      entities: { ticket: { path: "/tickets/:id", ids: [{ layout: "iuid", service: 3 }], public: true } },
      routes: [],
      default: "us",
    };
    const PUBLIC_ID_KEYS = JSON.stringify({ sealed: [{ id: "a", key: Buffer.alloc(32, 7).toString("base64") }] });
    const PORT = String(await findFreePorts());
    const demo = startWith({ PORT, PUBLIC_ID_KEYS }, tableFile("public-tickets.json", table), "--samples");
    await untilPrinted(demo, READY);
    const [, id] = /^ {4}ticket +\S.*, public +([0-9A-Za-z]{44})$/m.exec(demo.output()) ?? [];
    const response = await fetch(`${urlOf(demo)}/tickets/${id}`);
    expect([response.status, response.headers.get("x-demo-region")]).toEqual([200, "us"]);
    await response.arrayBuffer();
    demo.child.kill("SIGTERM");
    expect(await demo.ended).toBe(0);
  });

  it("keeps any kind of document, and one LUUID under one name", () => {
    expect(documentPathOf("/v1/invoices/0192F0C1-7A30-8005-8040-8F3B2A1C9D78/Notes")).toBe(
      "/v1/invoices/0192f0c1-7a30-8005-8040-8f3b2a1c9d78/Notes",
    );
    expect(documentPathOf("/staff/00000023-122E-6f47-a000-000000000000")).toBe("/staff/23122e");
    expect([documentPathOf("/"), documentPathOf("/orders/"), documentPathOf("")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("a table of other origins", () => {
  it("is served by the gateway alone; its state is what a self-hosted one takes", async () => {
    const origin = createHttpServer((request, response) => response.end(`own origin ${request.url}`));
    await once(origin.listen(0, "127.0.0.1"), "listening");
    const address = origin.address();
    const url = typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : "";
    const table = { ...INVOICES, regions: { mars: { origins: [{ url }] } }, routes: [], default: "mars" };
    const port = String(await findFreePorts());
    const gateway = startDemo(port, tableFile("mars.json", table));
    await untilPrinted(gateway, READY);
    expect(gateway.output()).toMatch(new RegExp(`^ {2}mars +${url}$`, "m"));
    expect(gateway.output()).toMatch(/^ {2}invoice +\/v1\/invoices\/:id, \/tenants\/\*\/invoices\/:id$/m);
    const path = "/v1/invoices/0192f0c1-7a30-8005-8240-8f3b2a1c9d78";
    const response = await fetch(urlOf(gateway) + path);
    expect([await response.text(), response.headers.get("waybill-region")]).toEqual([`own origin ${path}`, "mars"]);
    await untilPrinted(gateway, /^GET +\/v1\/invoices\/\S+ +iuid +mars +200 +\d+ ms$/m);
    await expect(fetch(`http://127.0.0.1:${Number(port) + 1}/`)).rejects.toThrow();
    const folder = join(stateFolder, port);
    expect(readFileSync(join(folder, "worker", "routing-table.txt"), "utf8")).toContain("mars");
    expect(existsSync(join(folder, "config.capnp"))).toBe(true);
    gateway.child.kill("SIGTERM");
    expect(await gateway.ended).toBe(0);
    expect(gateway.output()).not.toContain("The gateway exited");
    origin.close();
  });

  it("is not served while it has a fault: all are printed, each with its place", async () => {
    const routes = [{ when: { country: "XX" }, region: "venus" }];
    const path = tableFile("faulty.json", { ...INVOICES, routes });
    const gateway = startDemo(String(await findFreePorts()), path);
    expect(await gateway.ended).toBe(1);
    expect(gateway.output()).toMatch(/faulty\.json:\d+:\d+: \/routes\/0\/region: .*venus/);
    expect(gateway.output()).toMatch(/faulty\.json:\d+:\d+: \/routes\/0\/when\/country: .*XX/);
    expect(gateway.output()).toMatch(/faulty\.json: \d+ faults\n$/);
  });
});

describe("the keys of public IDs", () => {
  const file = join(stateFolder, "public.json");
  const order = { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }], public: true };
  const regions = { eu: { origins: [{ url: "http://eu.example.com" }] } };
  writeFileSync(file, JSON.stringify({ regions, entities: { order }, routes: [], default: "eu" }));

  it("are looked at before anything starts", async () => {
    const PUBLIC_ID_KEYS = JSON.stringify({ sealed: [{ id: "a", key: "hunter2" }] });
    const demo = startWith({ PORT: String(await findFreePorts()), PUBLIC_ID_KEYS }, file);
    expect(await demo.ended).toBe(1);
    expect(demo.output()).toBe("invalid settings: PUBLIC_ID_KEYS: sealed.0.key is not base64.\n");
  });

  it("are missed aloud where a table needs them, and the log is as it is written for who asks for JSON", async () => {
    const demo = startWith({ PORT: String(await findFreePorts()), REQUEST_LOG: "json", CHECK_SECONDS: "2" }, file);
    await untilPrinted(demo, READY);
    expect(demo.output()).toContain("note: PUBLIC_ID_KEYS has no keys for the public IDs of order (sealed)");
    await (await fetch(`${urlOf(demo)}/-/health`)).text();
    await untilPrinted(demo, /^\{"event":"request".*"path":"\/-\/health"/m);
    demo.child.kill("SIGTERM");
    expect(await demo.ended).toBe(0);
  });
});

it("notes origins at other ports where a table seems to mean the demo's origins", async () => {
  const file = join(stateFolder, "other-ports.json");
  const regions = { eu: { origins: [{ url: "http://127.0.0.1:9001" }] } };
  const entities = { order: { path: "/orders/:id", ids: [{ layout: "ulid" }] } };
  writeFileSync(file, JSON.stringify({ regions, entities, routes: [], default: "eu" }));
  const demo = startDemo(String(await findFreePorts()), file);
  await untilPrinted(demo, /^ready /m);
  expect(demo.output()).toContain("note: the table's origins are http://127.0.0.1:9001; npm start started none there");
  demo.child.kill("SIGTERM");
  expect(await demo.ended).toBe(0);
});
