import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formSeal } from "../../../src/edge/table/form-seal.ts";
import { bodyKey, formKey, POINTER_KEY } from "../../../src/formats/kv.ts";
import { tableCodeVersion } from "../../../src/host/parts.ts";
import { type RunningGateway, serveWorker } from "../../../src/host/workerd/gateway.ts";
import type { ModuleFile } from "../../../src/host/workerd/modules.ts";
import { workerWith } from "../../../src/host/workerd/table-modules.ts";
import { type DeclaredTable, storeTable } from "../../../src/routing/index.ts";

/** Vouched tables on bare workerd: the object writes a form, and isolates of later starts use it or check for themselves. */

const INVOICE = "0192f0c1-7a30-8005-8240-8f3b2a1c9d78";
const folder = mkdtempSync(join(tmpdir(), "waybill-vouched-"));
const origin = createServer((request, response) => response.end(request.url));
const keysOf = (first: number): string =>
  JSON.stringify([{ id: "a", key: Buffer.alloc(32, first).toString("base64") }]);
const sealWith = (version: string, first: number) => {
  const made = formSeal(version, [{ id: "a", key: new Uint8Array(32).fill(first) }], crypto.subtle);
  if (made === undefined) throw new Error("no seal");
  return made;
};
const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

let worker: readonly ModuleFile[] = [];
let version = "";
let bundled = "";
let published = "";
/** The check refuses it, since its last route is never reached; the compiler does not mind. */
let faulty = "";
let states = 0;

const newState = (from?: string): string => {
  const state = join(folder, `state-${states++}`);
  if (from !== undefined) cpSync(from, state, { recursive: true });
  return state;
};

async function run<Value>(
  state: string,
  use: (gateway: RunningGateway, lines: readonly string[]) => Promise<Value>,
  vars: Record<string, string> = { ORIGIN_SIGNING_KEYS: keysOf(7) },
  code = worker,
): Promise<Value> {
  const lines: string[] = [];
  const gateway = await serveWorker(code, {
    port: 0,
    tableText: bundled,
    stateFolder: state,
    openPages: true,
    vars: { REQUEST_LOG: "off", ...vars },
    onLogLine: (line) => lines.push(line),
  });
  try {
    return await use(gateway, lines);
  } finally {
    await gateway.stop();
  }
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadlineMs = Date.now() + 20_000;
  while (!holds()) {
    if (Date.now() > deadlineMs) throw new Error(`not within 20 s: ${what}`);
    await pause(50);
  }
}

/** The region, the revision and the response of one request. */
async function answerOf({ url }: RunningGateway) {
  const answer = await fetch(`${url}/invoices/${INVOICE}`, { headers: { "waybill-debug": "1" } });
  const [revision, source] = (answer.headers.get("waybill-table") ?? "").split("; ");
  return {
    status: answer.status,
    region: answer.headers.get("waybill-region"),
    revision,
    source,
    text: await answer.text(),
  };
}

const PUBLISHED = {
  status: 200,
  region: "second",
  revision: "rev=2",
  source: "source=kv",
  text: `/invoices/${INVOICE}`,
};
const BUNDLED = { ...PUBLISHED, region: "first", revision: "rev=0", source: "source=bundled" };

const filesOf = (state: string): readonly string[] => readdirSync(join(state, "kv"));
const forms = (state: string): readonly string[] =>
  filesOf(state).filter((name) => /^table\.[0-9a-f]{64}\./.test(name));

/** A state in which the table was published over HTTP. */
async function publishedState(vars?: Record<string, string>): Promise<string> {
  const state = newState();
  await run(
    state,
    async ({ url }) => {
      const put = await fetch(`${url}/-/table`, { method: "PUT", body: published, headers: { "if-match": '"1"' } });
      expect(put.status).toBe(201);
      await until("the pointer", () => JSON.parse(readFileSync(join(state, "kv", POINTER_KEY), "utf8")).revision === 2);
    },
    vars,
  );
  return state;
}

let state = "";

beforeAll(async () => {
  await once(origin.listen(0, "127.0.0.1"), "listening");
  const address = origin.address();
  const origins = [{ url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}` }];
  const table = {
    regions: { first: { origins }, second: { origins } },
    entities: { invoice: { path: "/invoices/:id", ids: [{ layout: "iuid", service: 9 }] } },
    routes: [] as object[],
    default: "first",
  };
  bundled = JSON.stringify(table);
  published = JSON.stringify({ ...table, default: "second" });
  const routes = [
    { when: {}, region: "second" },
    { when: { layout: "iuid" }, region: "first" },
  ];
  faulty = JSON.stringify({ ...table, routes });
  worker = await workerWith(bundled);
  version = await tableCodeVersion();
  state = await publishedState();
});

afterAll(() => {
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});

it("a table that is published has its form in KV, and an isolate does not read its text", {
  timeout: 60_000,
}, async () => {
  const digest = digestOf(published);
  expect(forms(state)).toContain(formKey(digest, version));
  const copy = newState(state);
  writeFileSync(join(copy, "kv", bodyKey(digest)), "damaged");
  await run(copy, async (gateway, lines) => {
    expect(await answerOf(gateway)).toEqual(PUBLISHED);
    expect(lines).toEqual([]);
  });
});

it("without a signing key there are no forms, and none is used", async () => {
  expect(forms(await publishedState({}))).toEqual([]);
  const copy = newState(state);
  writeFileSync(join(copy, "kv", bodyKey(digestOf(published))), "damaged");
  await run(copy, async (gateway) => expect(await answerOf(gateway)).toEqual(BUNDLED), {});
});

type Damage = (path: string, digest: string, declared: DeclaredTable) => Promise<void> | void;

const WORTHLESS: readonly (readonly [name: string, isReported: boolean, damage: Damage])[] = [
  ["none", false, (path) => rmSync(path, { force: true })],
  [
    "one of another version alone",
    false,
    async (path, digest, declared) => {
      const other = "0".repeat(16);
      rmSync(path, { force: true });
      const value = await sealWith(other, 7).seal(digest, storeTable(declared));
      writeFileSync(path.replace(version, other), new Uint8Array(value));
    },
  ],
  [
    "one of another version under this one's key",
    true,
    async (path, digest, declared) => {
      const value = await sealWith("0".repeat(16), 7).seal(digest, storeTable(declared));
      writeFileSync(path, new Uint8Array(value));
    },
  ],
  [
    "a damaged one",
    true,
    async (path, digest, declared) => {
      const value = new Uint8Array(await sealWith(version, 7).seal(digest, storeTable(declared)));
      value[value.length - 1] = (value.at(-1) as number) ^ 1;
      writeFileSync(path, value);
    },
  ],
  ["a short one", true, (path) => writeFileSync(path, "{}")],
  [
    "an unsigned one",
    true,
    async (path, digest, declared) => {
      const value = new Uint8Array(await sealWith(version, 7).seal(digest, storeTable(declared)));
      writeFileSync(path, value.fill(0, 0, 32));
    },
  ],
  [
    "one with another key's signature",
    true,
    async (path, digest, declared) => {
      const value = await sealWith(version, 8).seal(digest, storeTable(declared));
      writeFileSync(path, new Uint8Array(value));
    },
  ],
];

/** Names a table in KV that the object has not checked. */
function nameFaulty(copy: string): string {
  const digest = digestOf(faulty);
  writeFileSync(join(copy, "kv", bodyKey(digest)), faulty);
  writeFileSync(join(copy, "kv", POINTER_KEY), JSON.stringify({ revision: 9, digest }));
  return digest;
}

describe.each(WORTHLESS)("with %s", (_, isReported, damage) => {
  it("a table is checked and answers the same, and its form is written anew", async () => {
    const copy = newState(state);
    const digest = digestOf(published);
    const path = join(copy, "kv", formKey(digest, version));
    await damage(path, digest, JSON.parse(published));
    const seal = sealWith(version, 7);
    await run(copy, async (gateway, lines) => {
      expect(await answerOf(gateway)).toEqual(PUBLISHED);
      expect(lines.some((line) => line.includes('"form-refused"'))).toBe(isReported);
      let isRenewed = false;
      const deadlineMs = Date.now() + 20_000;
      while (!isRenewed && Date.now() < deadlineMs) {
        await pause(50);
        const value = forms(copy).includes(formKey(digest, version)) ? Uint8Array.from(readFileSync(path)) : undefined;
        isRenewed = value !== undefined && (await seal.open(digest, value.buffer)) !== undefined;
      }
      expect(isRenewed).toBe(true);
    });
  });

  it("a table with faults is refused", async () => {
    const copy = newState(state);
    const digest = nameFaulty(copy);
    await damage(join(copy, "kv", formKey(digest, version)), digest, JSON.parse(faulty));
    await run(copy, async (gateway, lines) => {
      expect(await answerOf(gateway)).toEqual(BUNDLED);
      expect(lines.some((line) => line.includes('"table-invalid"'))).toBe(true);
    });
  });
});

it("a voucher is what spares the check: with a good one a table with faults is served", {
  timeout: 60_000,
}, async () => {
  const copy = newState(state);
  const digest = nameFaulty(copy);
  const value = await sealWith(version, 7).seal(digest, storeTable(JSON.parse(faulty)));
  writeFileSync(join(copy, "kv", formKey(digest, version)), new Uint8Array(value));
  await run(copy, async (gateway) => expect(await answerOf(gateway)).toEqual({ ...PUBLISHED, revision: "rev=9" }));
});

it("two versions in turn on one state ignore each other's forms", { timeout: 90_000 }, async () => {
  const copy = newState(state);
  const digest = digestOf(published);
  const other = "f".repeat(16);
  // Only the constant of the build says which version it is.
  const code = worker.map((each) => ({ ...each, code: each.code.replaceAll(version, other) }));
  expect(code).not.toEqual(worker);
  await run(
    copy,
    async (gateway) => {
      expect(await answerOf(gateway)).toEqual(PUBLISHED);
      await until("the other version's form", () => forms(copy).includes(formKey(digest, other)));
    },
    undefined,
    code,
  );
  // Rolled back: the first version's form is still there, and its own.
  renameSync(join(copy, "kv", bodyKey(digest)), join(copy, "kv", "moved"));
  await run(copy, async (gateway, lines) => {
    expect(await answerOf(gateway)).toEqual(PUBLISHED);
    expect(lines).toEqual([]);
  });
});
