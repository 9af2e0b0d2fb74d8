import { type ChildProcess, spawn } from "node:child_process";
import { on } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { REGION_HEADER } from "../../../src/demo/origin.ts";
import { exitOf } from "../../../src/host/child.ts";
import { runningOn } from "../../../src/host/workerd/workerd.ts";
import { formatShortKey, luuid } from "../../../src/ids/index.ts";
import { type DemoTable, findFreePorts, rangesOf, readDemoTable, shardKeysOf, sliceOf } from "./demo.ts";

/** The main job as a newcomer starts it: `npm start`, IDs minted and looked up over HTTP, Ctrl-C. */

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const READY_DEADLINE_MS = 180_000;
const STOP_DEADLINE_MS = 15_000;
const POLL_MS = 50;

const print = (line: string) => process.stdout.write(`${line}\n`);

const printed: string[] = [];

let passed = 0;
let failed = 0;

function check(name: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) {
    passed += 1;
    return;
  }
  failed += 1;
  print(`FAILED ${name}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}

async function main(): Promise<void> {
  const port = await findFreePorts();
  const stateFolder = mkdtempSync(join(tmpdir(), "waybill-smoke-"));
  print(`Starting npm start with PORT=${port}`);
  // A process group of its own, as in a terminal, to find processes that are left over.
  const child = spawn("npm", ["start"], {
    cwd: ROOT,
    env: { ...process.env, DEMO_TRAFFIC: "off", PORT: String(port), WAYBILL_STATE: stateFolder },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const lines = createInterface({ input: child.stdout }).on("line", (line) => printed.push(line));
  try {
    const url = await readyUrl(lines);
    await checkMintedIds(url, readDemoTable());
    await checkErrorsAndPages(url);
    const requestLines = printed.filter((line) => /^(?:GET|PUT|POST) .* \d{3} +\d+ ms$/.test(line));
    check("each request prints a line", requestLines.length > 0, true);
  } finally {
    await checkEnd(child);
    check("a gateway is left after SIGINT", runningOn(stateFolder), undefined);
    rmSync(stateFolder, { recursive: true });
  }
}

/** The URL in the line `ready <url>`. */
async function readyUrl(lines: Interface): Promise<string> {
  const signal = AbortSignal.timeout(READY_DEADLINE_MS);
  for await (const [line] of on(lines, "line", { signal, close: ["close"] })) {
    const url = /^ready (http:\S+)$/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error("npm start ended before it was ready");
}

async function checkEnd(child: ChildProcess): Promise<void> {
  const group = -(child.pid ?? 0);
  const ended = exitOf(child);
  child.kill("SIGINT");
  const deadline = Date.now() + STOP_DEADLINE_MS;
  while (isAlive(group) && Date.now() < deadline) await delay(POLL_MS);
  const isLeft = isAlive(group);
  check("a process is left after SIGINT", isLeft, false);
  if (isLeft) process.kill(group, "SIGKILL");
  check("exit code after SIGINT", await ended, 0);
}

function isAlive(group: number): boolean {
  try {
    process.kill(group, 0);
    return true;
  } catch {
    return false;
  }
}

/** Keys of a new ID. */
interface Keys {
  readonly country?: string;
  readonly shardKey?: number;
}

type MintCase = ReturnType<typeof mintCases>[number];

/** Two of each detect a minter that repeats itself. */
const IDS_PER_CASE = 2;

/** Mints IDs for every key of the table, and uses each with both of its URLs. */
async function checkMintedIds(url: string, table: DemoTable): Promise<void> {
  const seen = new Set<string>();
  for (const mintCase of mintCases(table)) {
    for (const id of await mint(url, mintCase)) {
      check(`${mintCase.about}: ${id} is new`, seen.has(id), false);
      seen.add(id);
      await checkId(url, mintCase, id);
    }
  }
}

const mintCases = (table: DemoTable) =>
  Object.entries(table.entities).flatMap(([entity, { path: pattern, ids = [] }]) =>
    ids.flatMap(({ layout }) => {
      const mintCase = (about: string, keys: Keys) => ({
        about: `${entity} ${about}`,
        entity,
        keys,
        pattern,
        region: expectedRegion(table, entity, layout, keys),
      });
      if (layout === "iuid")
        return Object.keys(table.countries).map((country) => mintCase(`of ${country}`, { country }));
      if (layout === "luuid") return [mintCase("of its group", {})];
      return shardKeysOf(table).map(({ shardKey, about }) => mintCase(`of ${about}`, { shardKey }));
    }),
  );

/** The region for an ID minted now, read line by line from the declared table: slow, obvious, without the gateway's code. */
function expectedRegion(table: DemoTable, entity: string, layout: string, { country, shardKey = Number.NaN }: Keys) {
  const isNamed = (condition: string | readonly string[] | undefined, value = ""): boolean =>
    condition === undefined || [condition].flat().includes(value);
  const isIn = (value: number, numbers: Parameters<typeof rangesOf>[0]): boolean =>
    rangesOf(numbers).some(([from, to]) => value >= from && value <= to);
  return table.routes.find(
    ({ when }) =>
      isNamed(when.entity, entity) &&
      isNamed(when.layout, layout) &&
      isNamed(when.country, country) &&
      (when.mintedBefore === undefined || Date.now() < Date.parse(when.mintedBefore)) &&
      (when.shardKey === undefined || isIn(shardKey, when.shardKey)) &&
      Object.entries(when.slices ?? {}).every(([name, numbers]) => {
        const { bits, unit } = sliceOf(table, name);
        return isIn(Math.floor(shardKey / unit) % 2 ** bits, numbers);
      }),
  )?.region;
}

async function mint(url: string, { about, entity, keys, region }: MintCase): Promise<readonly string[]> {
  const response = await fetch(`${url}/mint`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ entity, ...keys, count: IDS_PER_CASE }),
  });
  const minted = (await response.json()) as { readonly ids?: readonly string[]; readonly region?: string };
  const { ids = [] } = minted;
  const got = { status: response.status, region: minted.region, count: ids.length };
  check(`mint ${about}`, got, { status: 201, region, count: IDS_PER_CASE });
  return ids;
}

async function checkId(url: string, { about, pattern, region }: MintCase, id: string): Promise<void> {
  const path = pattern.replace(":id", id);
  const words = luuid.parse(id);
  const primaryKey = words.ok && luuid.field("primaryKey")?.read(words.value);
  const shortPath = typeof primaryKey === "number" ? pattern.replace(":id", formatShortKey(primaryKey)) : path;
  const calls: readonly (readonly [method: string, path: string, status: number])[] = [
    ["GET", path, 404],
    ["PUT", `/any/${id}`, 201],
    ["GET", `/any/${id}`, 200],
    ["GET", path, 200],
    ["GET", shortPath, 200],
    ["PATCH", path, 200],
    ["DELETE", `/any/${id}`, 200],
  ];
  for (const [method, target, status] of calls) {
    const body = method === "PUT" || method === "PATCH" ? { body: JSON.stringify({ id }) } : {};
    const got = await call(url + target, { method, ...body });
    check(`${method} ${target} (${about})`, got, { status, region, origin: region });
  }
}

/** Errors, and the gateway's own pages: no origin is asked. */
async function checkErrorsAndPages(url: string): Promise<void> {
  const ride = "019a0000-0000-8005-8080-000000000001";
  const calls: readonly (readonly [path: string, status: number])[] = [
    ["/-/health", 200],
    ["/-/ready", 200],
    [`/-/ids/${ride}`, 200],
    ["/any/not-an-id", 400],
    ["/orders/not-an-id", 400],
    [`/orders/${ride}`, 422],
    ["/nowhere/1", 404],
  ];
  for (const [path, status] of calls) {
    const { status: found, origin } = await call(url + path);
    check(`GET ${path}`, { status: found, origin }, { status, origin: null });
  }
}

async function call(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init);
  await response.arrayBuffer();
  const { status, headers } = response;
  return { status, region: headers.get("waybill-region"), origin: headers.get(REGION_HEADER) };
}

try {
  await main();
} catch (error) {
  check("the main job", error instanceof Error ? error.message : error, undefined);
}
if (failed > 0) for (const line of printed) print(`  | ${line}`);
print(`main job: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
