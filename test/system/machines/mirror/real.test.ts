import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { EncodedPack } from "../../../../src/features/packs/table/format.ts";
import { makeCertificates } from "../../../../src/host/machines/certificates.ts";
import { startEdge } from "../../../../src/host/machines/edge.ts";
import { checkFiles } from "../../../../src/host/machines/files.ts";
import type { Machine } from "../../../../src/host/machines/machine.ts";
import { httpsAsk } from "../../../../src/host/machines/mirror/ask.ts";
import type { EdgeOptions, StateOptions } from "../../../../src/host/machines/options.ts";
import { startStateNode } from "../../../../src/host/machines/state.ts";
import { workerWith } from "../../../../src/host/workerd/table-modules.ts";
import { makePack, Published, tableText } from "./published.ts";
import { until } from "./support.ts";
import { wholeCopy, wholeTable } from "./whole.ts";

/** The mirror between a real state node and the workerd of a real edge, under load. */

const RANGES = 150_000;
const PUBLICATIONS = 8;
const GETS_AT_ONCE = 4;
const PAUSE_MS = 10;
const STOP_MS = 2_000;

const folder = mkdtempSync(join(tmpdir(), "waybill-mirror-real-"));
const origin = createServer((request, response) => response.end(request.url?.split("/")[1]));
let node: Awaited<ReturnType<typeof startStateNode>>;
let edge: Awaited<ReturnType<typeof startEdge>>;
let state = "";

/** The parcel in the middle of a pack, which publications move, and one that stays. */
const parcelOf = (range: number): string => {
  const key = Buffer.alloc(4);
  key.writeUInt32LE(range * 50);
  return `/parcels/6347eb00-bbaa-01cc-0201-0203${key.toString("hex")}`;
};
const MOVED = parcelOf(RANGES >> 1);
const FIXED = parcelOf(3);

const origins = (): Record<string, string> => {
  const address = origin.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  return { first: `${url}/first`, second: `${url}/second`, rest: `${url}/rest` };
};

const optionsOf = (name: "state" | "edge") => ({
  stateFolder: join(folder, name),
  tlsFolder: join(folder, "tls", name),
  stopMs: STOP_MS,
  listen: { host: "127.0.0.1", port: 0 },
});

async function machineOf(options: EdgeOptions | StateOptions, text: string): Promise<Machine> {
  const { tls, faults } = checkFiles(options, Date.now());
  if (tls === undefined) throw new Error(faults.join("\n"));
  const key = [{ id: "a", key: KEY }];
  return {
    worker: await workerWith(text),
    vars: { REQUEST_LOG: "off", ORIGIN_SIGNING_KEYS: JSON.stringify(key) },
    tableText: text,
    packsFolder: folder,
    consoleFolder: undefined,
    openPages: true,
    tls: () => tls,
    clock: { nowMs: () => performance.now(), sleep: (ms) => delay(ms) },
    onLogLine: () => undefined,
    onEvent: () => undefined,
    report: () => undefined,
  };
}

/** Forms of tables are signed by it. */
const KEY = randomBytes(32).toString("base64");

beforeAll(async () => {
  await once(origin.listen(0, "127.0.0.1"), "listening");
  const made = makeCertificates(join(folder, "tls"), 2);
  if (!made.ok) throw new Error(made.error);
  const text = tableText({ origins: origins(), directories: ["slug"] });
  const stateOptions: StateOptions = {
    ...optionsOf("state"),
    role: "state",
    stateListen: { host: "127.0.0.1", port: 0 },
  };
  node = await startStateNode(stateOptions, await machineOf(stateOptions, text));
  const { url, ports } = await node.first;
  state = url;
  const edgeOptions: EdgeOptions = {
    ...optionsOf("edge"),
    role: "edge",
    name: "edge-1",
    processes: 1,
    stateNodes: [`127.0.0.1:${ports["state"]}`],
  };
  edge = await startEdge(edgeOptions, await machineOf(edgeOptions, text));
});

afterAll(async () => {
  await edge?.stop();
  await node?.stop();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});

const put = async (path: string, body: Uint8Array | string, fields: Readonly<Record<string, string>> = {}) => {
  const answer = await fetch(`${state}${path}`, { method: "PUT", body, headers: fields });
  if (!/^20[01]$/.test(String(answer.status))) throw new Error(`PUT ${path}: ${answer.status} ${await answer.text()}`);
  return answer;
};

async function publish(revision: number, pack: EncodedPack): Promise<void> {
  const path = `/-/table/packs/${pack.sha256}`;
  await put(path, pack.header);
  for (const [number, page] of pack.pages.entries()) await put(`${path}/${number}`, page);
  const text = tableText({ origins: origins(), directories: ["slug"], pack });
  await put("/-/table", text, { "if-match": `"${revision - 1}"`, "content-type": "application/json" });
}

const readIn = (name: "state" | "edge") => (key: string) => {
  const path = join(folder, name, "kv", key);
  return existsSync(path) ? readFileSync(path) : undefined;
};

it("edges answer every request by one whole table, which never goes back, while packs are published", async () => {
  const url = `http://127.0.0.1:${edge.ports[0]}`;
  await until(() => edge.mirror.status().revision === 1, "the first table");
  /** The region of the moved parcel, by revision. */
  const regions = new Map([[1, "rest"]]);
  const faults: string[] = [];
  let answers = 0;
  let isOver = false;
  const ask = async (path: string): Promise<void> => {
    let last = 0;
    while (!isOver) {
      const answer = await fetch(`${url}${path}`, { headers: { "waybill-debug": "1" } });
      const text = await answer.text();
      const revision = Number(/\brev=(\d+)/.exec(answer.headers.get("waybill-table") ?? "")?.[1]);
      const expected = path === MOVED || revision === 1 ? regions.get(revision) : "second";
      if (answer.status !== 200 || text !== expected || revision < last) {
        faults.push(`${path}: ${answer.status} ${text} by revision ${revision} after ${last}`);
      }
      last = revision;
      answers++;
      await delay(PAUSE_MS);
    }
  };
  const load = Array.from({ length: GETS_AT_ONCE }, (_, at) => ask(at % 2 === 0 ? MOVED : FIXED));
  for (let revision = 2; revision < 2 + PUBLICATIONS; revision++) {
    const region = revision % 2 === 0 ? "first" : "second";
    regions.set(revision, region);
    await publish(revision, await makePack({ ranges: RANGES + revision, region, flipped: RANGES >> 1 }));
    await until(() => edge.mirror.status().revision === revision, `revision ${revision}`);
  }
  const isServed = async () => {
    const answer = await fetch(`${url}${MOVED}`, { headers: { "waybill-debug": "1" } });
    return answer.headers.get("waybill-table")?.includes(`rev=${PUBLICATIONS + 1};`) === true;
  };
  while (!(await isServed())) await delay(PAUSE_MS);
  isOver = true;
  await Promise.all(load);
  expect(faults).toEqual([]);
  expect(answers).toBeGreaterThan(PUBLICATIONS * GETS_AT_ONCE);
  expect(await wholeTable(readIn("edge"))).toEqual(await wholeTable(readIn("state")));
  const { digest } = JSON.parse(String(readIn("edge")("table.current")));
  const [form] = readdirSync(join(folder, "edge", "kv")).filter((key) => key.startsWith(`table.${digest}.`));
  expect(readIn("edge")(form ?? "")).toEqual(readIn("state")(form ?? "?"));
});

it("a directory's copy at a state node comes to the edge", async () => {
  const published = new Published();
  const { digest } = await published.putCopy("slug", { a: "first", b: "second" });
  for (const [key, bytes] of published.values) writeFileSync(join(folder, "state", "kv", key), bytes);
  await until(() => readIn("edge")("directory.slug.current")?.toString() === digest, "the copy");
  expect(await wholeCopy(readIn("edge"), "slug")).toBe(digest);
});

it("the state node shows the edge", async () => {
  const { ports } = await node.first;
  const { ask, close } = httpsAsk(join(folder, "tls", "edge"));
  const bounds = { bytesMax: 10_000, silenceMs: 10_000, deadlineMs: 10_000, signal: new AbortController().signal };
  const answer = await ask(`127.0.0.1:${ports["state"]}`, "/machines", bounds);
  close();
  const { edges } = JSON.parse(Buffer.from(answer.bytes).toString());
  expect(edges).toMatchObject([{ name: "edge-1", revision: PUBLICATIONS + 1, processes: 1 }]);
  expect(edge.mirror.status()).toMatchObject({ revision: PUBLICATIONS + 1, lastError: undefined });
});
