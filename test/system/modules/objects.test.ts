import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningGateway, serveWorker } from "../../../src/host/workerd/gateway.ts";
import type { ModuleFile } from "../../../src/host/workerd/modules.ts";
import { workerWith } from "../../../src/host/workerd/table-modules.ts";
import { startOrders } from "../orders-origin.ts";

/** Every class of Durable Objects, whose implementation comes with its first call: what a call must not lose or give twice. */

const folder = mkdtempSync(join(tmpdir(), "waybill-objects-"));
/** With the table, and no other object than that of the control plane. */
const published = join(folder, "published");
let orders: Awaited<ReturnType<typeof startOrders>>;
let tableText = "";
let worker: readonly ModuleFile[] = [];
let states = 0;

function newState(): string {
  const state = join(folder, `${states++}`);
  cpSync(published, state, { recursive: true });
  return state;
}

const start = (stateFolder: string): Promise<RunningGateway> =>
  serveWorker(worker, { port: 0, tableText, stateFolder, openPages: true, vars: { REQUEST_LOG: "off" } });

beforeAll(async () => {
  orders = await startOrders();
  const origin = { origins: [{ url: orders.url }] };
  const create = { key: { country: { header: "x-country" } }, idempotency: { keepAnswer: {}, leaseSeconds: 1 } };
  tableText = JSON.stringify({
    regions: { eu: origin, us: origin },
    countries: { KZ: 5 },
    entities: {
      order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }], create },
      person: { path: "/person/:id", ids: [{ layout: "luuid", class: "com.example.Person" }] },
      shop: { path: "/shops/:id", directory: "slug" },
    },
    directory: { slug: { key: { text: "lower" } } },
    routes: [],
    default: "eu",
  });
  worker = await workerWith(tableText);
  await (await start(published)).stop();
});

afterAll(async () => {
  await orders?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const call = async (url: string, path: string, method = "GET", body?: object, headers: Record<string, string> = {}) => {
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  const response = await fetch(url + path, init);
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
};

/** A call that reaches an object of the class. `at`: of several calls in one life of the state. */
interface Subject {
  /** As the state folder names the class. */
  readonly key: string;
  readonly call: (url: string, at: number) => Promise<unknown>;
  /** Holds all answers, in the order of calls, to what was promised. */
  readonly check: (answers: readonly unknown[], url: string) => Promise<void> | void;
}

const numbered = (answers: readonly unknown[]) => answers as readonly (readonly [status: number, value: string])[];

const SUBJECTS: Readonly<Record<string, Subject>> = {
  SequenceBlocks: {
    key: "waybill-sequence-blocks",
    call: async (url) => {
      const { json } = await call(url, "/mint", "POST", { entity: "person", count: 3 });
      return json["ids"];
    },
    check(answers) {
      const ids = answers.flat() as string[];
      expect(ids).toHaveLength(answers.length * 3);
      // The last bits of an LUUID are random: its primary key must differ.
      expect(new Set(ids.map((id) => id.slice(0, 13))).size).toBe(ids.length);
    },
  },
  TableTruth: {
    key: "waybill-table-truth",
    call: async (url, at) => {
      const body = { ...JSON.parse(tableText), countries: { KZ: 5, BR: 10 + at } };
      const { status, json } = await call(url, "/-/table", "PUT", body, { "if-match": '"1"' });
      return [status, String(json["revision"] ?? json["type"])];
    },
    async check(answers, url) {
      const made = numbered(answers).filter(([status]) => status === 201);
      expect(made.length).toBeLessThanOrEqual(1);
      for (const [status] of numbered(answers)) expect([201, 412]).toContain(status);
      const { json } = await call(url, "/-/table/revisions");
      const revisions = (json["revisions"] as readonly { readonly revision: number }[]).map(({ revision }) => revision);
      expect(revisions).toEqual([2, 1]);
    },
  },
  TrafficReports: {
    key: "waybill-traffic-reports",
    call: async (url) => {
      const response = await fetch(`${url}/-/metrics`);
      return [response.status, await response.text()];
    },
    check(answers) {
      for (const [status, text] of numbered(answers)) {
        expect(status).toBe(200);
        expect(text).toMatch(/^waybill_\w+/m);
      }
    },
  },
  IdempotencyKeys: {
    key: "waybill-idempotency-keys",
    call: async (url) => {
      const headers = { "idempotency-key": '"of-this-test"', "content-type": "application/json", "x-country": "KZ" };
      const { status, json } = await call(url, "/orders", "POST", { item: "tea" }, headers);
      return [status, String(json["id"] ?? json["type"])];
    },
    async check(answers) {
      const made = numbered(answers).filter(([status]) => status === 201);
      for (const [status] of numbered(answers)) expect([201, 409]).toContain(status);
      expect(made.length).toBeGreaterThan(0);
      expect(new Set(made.map(([, id]) => id)).size).toBe(1);
    },
  },
  DirectoryKeys: {
    key: "waybill-directory-keys",
    call: async (url, at) => {
      const claim = { owner: `owner-${at}`, operation: `operation-${at}`, region: "eu" };
      const { status, json } = await call(url, "/-/directory/slug/corner", "PUT", claim);
      return [status, status < 300 ? claim.owner : String(json["type"])];
    },
    async check(answers, url) {
      const won = numbered(answers).filter(([status]) => status < 300);
      expect(new Set(won.map(([, owner]) => owner)).size).toBeLessThanOrEqual(1);
      for (const [status] of numbered(answers)) expect([200, 201, 409]).toContain(status);
      const { json } = await call(url, "/-/directory/slug/corner");
      expect(json["owner"]).toMatch(/^owner-\d$/);
      for (const [, owner] of won) expect(json).toMatchObject({ owner });
    },
  },
};

/** Objects of a class that are in memory: workerd closes the database of one that it evicts. */
const openIn = (state: string, { key }: Subject): readonly string[] => {
  const databases = join(state, "durable-objects", key);
  return existsSync(databases) ? readdirSync(databases).filter((name) => /^[0-9a-f]{64}\.sqlite-wal$/.test(name)) : [];
};

describe.each(Object.entries(SUBJECTS))("%s, whose implementation comes with its first call", (_name, subject) => {
  it("answers ten first calls at once", async () => {
    const gateway = await start(newState());
    try {
      const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => subject.call(gateway.url, at)));
      await subject.check(answers, gateway.url);
    } finally {
      await gateway.stop();
    }
  });

  it("keeps what it answered over SIGKILL in the middle of the first call", { timeout: 120_000 }, async () => {
    const state = newState();
    const answers: unknown[] = [];
    const known = (answer: unknown) => void answers.push(answer);
    for (let round = 0; round < 4; round++) {
      const gateway = await start(state);
      const first = subject.call(gateway.url, round).then(known, () => undefined);
      await delay(round * 8);
      process.kill(gateway.pid, "SIGKILL");
      await Promise.all([first, gateway.exited]);
    }
    const gateway = await start(state);
    try {
      // An attempt that died holds its lease: a later one is told to wait, or goes on.
      await expect
        .poll(async () => (await subject.call(gateway.url, 9)) as unknown, { timeout: 60_000, interval: 250 })
        .toSatisfy((answer) => {
          const isBusy = JSON.stringify(answer).includes("in-progress");
          if (!isBusy) known(answer);
          return !isBusy;
        });
      await subject.check(answers, gateway.url);
    } finally {
      await gateway.stop();
    }
  });
});

describe("objects that workerd has evicted", () => {
  it("are made again by the next call, with all that they had", { timeout: 120_000 }, async () => {
    const state = newState();
    const gateway = await start(state);
    const subjects = Object.values(SUBJECTS);
    try {
      const before = await Promise.all(subjects.map((each) => each.call(gateway.url, 0)));
      for (const each of subjects) expect([each.key, openIn(state, each).length]).not.toEqual([each.key, 0]);
      // workerd evicts an object that was idle for ten seconds.
      const isGone = () => subjects.every((each) => openIn(state, each).length === 0);
      await expect.poll(isGone, { timeout: 60_000, interval: 500 }).toBe(true);
      const after = await Promise.all(subjects.map((each) => each.call(gateway.url, 1)));
      for (const [at, each] of subjects.entries()) await each.check([before[at], after[at]], gateway.url);
    } finally {
      await gateway.stop();
    }
  });
});

describe("an alarm that is the first call of its object", () => {
  it("brings KV to the revision that was accepted before SIGKILL", async () => {
    const state = newState();
    const { call: publish } = SUBJECTS["TableTruth"] as Subject;
    const pointer = join(state, "kv", "table.current");
    const revisionInKv = () => JSON.parse(readFileSync(pointer, "utf8")).revision as number;
    const before = await start(state);
    expect(await publish(before.url, 1)).toEqual([201, "2"]);
    await expect.poll(revisionInKv, { timeout: 20_000 }).toBe(2);
    // A folder in its place: the pointer can neither be read nor written.
    const aside = join(state, "aside");
    renameSync(pointer, aside);
    mkdirSync(pointer);
    const body = JSON.parse(tableText);
    expect(await call(before.url, "/-/table", "PUT", body, { "if-match": '"2"' })).toMatchObject({ status: 201 });
    process.kill(before.pid, "SIGKILL");
    await before.exited;
    rmdirSync(pointer);
    renameSync(aside, pointer);
    expect(revisionInKv()).toBe(2);
    const after = await start(state);
    try {
      await expect.poll(revisionInKv, { timeout: 30_000 }).toBe(3);
    } finally {
      await after.stop();
    }
  });
});
