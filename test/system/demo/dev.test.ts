import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePorts, readDemoTable } from "./demo.ts";

/** `npm run dev`: what becomes of a table that is saved while the gateway runs. */

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "waybill-dev-"));
const tableFile = join(folder, "table.json");
/** A person's short key: the demo's table sends persons to eu. */
const PERSON = "/person/23122e";

let output = "";
let url = "";
let isOver = false;
let stop: () => Promise<void>;

const save = (change: object) => {
  // Results of GraphQL would show the internal IDs of a public entity.
  const { graphql: _, ...table } = readDemoTable();
  const ticket = { path: "/tickets/:id", ids: [{ layout: "iuid", service: 200 }], public: true };
  const entities = { ...table.entities, ticket };
  writeFileSync(tableFile, JSON.stringify({ ...table, entities, ...change }, null, 2));
};

/** A quote in the name of a key must not end the text that it stands in. */
const PUBLIC_ID_KEYS = JSON.stringify({ sealed: [{ id: "it's", key: Buffer.alloc(32, 7).toString("base64") }] });

async function untilPrinted(pattern: RegExp): Promise<void> {
  const deadline = Date.now() + 50_000;
  while (!pattern.test(output)) {
    if (isOver || Date.now() > deadline) throw new Error(`not printed: ${pattern}\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** By the host's name; `fetch` would not let it be set. */
const statusBy = (host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get(`${url}/-/table`, { headers: { host } }, (answer) => resolve(answer.resume().statusCode)).on("error", reject);
  });

async function regionOfPerson(): Promise<string | null> {
  const response = await fetch(url + PERSON);
  await response.arrayBuffer();
  return response.headers.get("waybill-region");
}

beforeAll(async () => {
  save({});
  const args = ["src/host/run.mjs", "src/demo/start.ts", "--reload", tableFile];
  const env = {
    ...process.env,
    DEMO_TRAFFIC: "off",
    PORT: String(await findFreePorts()),
    WAYBILL_STATE: join(folder, "state"),
    PUBLIC_ID_KEYS,
  };
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit").then(() => {
    isOver = true;
  });
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  stop = async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true });
  };
  await untilPrinted(/^ready http/m);
  url = /^ready (\S+)$/m.exec(output)?.[1] ?? "";
}, 90_000);
afterAll(() => stop?.(), 30_000);

it("has the keys of public IDs that the environment has", async () => {
  const response = await fetch(`${url}/tickets/${"0".repeat(44)}`);
  expect(await response.json()).toMatchObject({ status: 404, type: "/-/problems/unknown-id" });
  expect(output).not.toContain("note:");
});

it("shows its pages by this machine's own names alone", async () => {
  const { port } = new URL(url);
  expect(await statusBy(`localhost:${port}`)).toBe(200);
  expect(await statusBy(`evil.example:${port}`)).toBe(403);
});

describe("a table that is saved while npm run dev runs", () => {
  it("is not published with a fault: the faults are printed, and the one before stays", async () => {
    const { routes } = readDemoTable();
    expect(await regionOfPerson()).toBe("eu");
    output = "";
    save({ routes: [...routes.slice(0, -1), { when: { entity: "persons" }, region: "us" }] });
    await untilPrinted(/table\.json:\d+:\d+: \/routes\/10\/when\/entity: .*persons.*\n/);
    await untilPrinted(/is not published; the previous one stays/);
    expect(await regionOfPerson()).toBe("eu");
    output = "";
    writeFileSync(tableFile, "{");
    await untilPrinted(/table\.json:1:\d+: /);
    await untilPrinted(/is not published; the previous one stays/);
    expect(await regionOfPerson()).toBe("eu");
  });

  it("is not published with a region that the demo does not have: a sentence says so", async () => {
    output = "";
    save({ regions: { ...readDemoTable().regions, mars: { origins: [{ url: "https://mars.example.com" }] } } });
    // A check that meets the file half written says so, and is made again.
    await untilPrinted(/table\.json names a region or an origin that the demo does not have: it has eu, us, ap/);
    await untilPrinted(/is not published; the previous one stays/);
    expect(output).not.toContain("RangeError");
    expect(await regionOfPerson()).toBe("eu");
  });

  it("is published when it is good", async () => {
    output = "";
    const { routes } = readDemoTable();
    save({ routes: [...routes.slice(0, -1), { when: { entity: "person" }, region: "us" }] });
    await untilPrinted(/the table is published: revision 2, in force after 0\.\d\d s\n/);
    expect(await regionOfPerson()).toBe("us");
    await untilPrinted(/person.*eu → us/);
    expect(output).not.toContain("/-/ready");
  });
});
