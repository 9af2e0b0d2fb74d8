import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ControlPlane } from "../../../src/control-plane/object.ts";
import type { Env } from "../../../src/edge/env.ts";
import { IsolateTable } from "../../../src/edge/table/isolate-table.ts";
import { sha256 } from "../../../src/edge/table/kv.ts";
import { bodyKey, POINTER_KEY, type Pointer } from "../../../src/formats/kv.ts";
import type { Tables } from "../../../src/ports/admin.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { runs } from "../../setup/property-runs.ts";

/**
 * Whoever publishes, in whatever order, whatever KV refuses meanwhile, and whatever a stranger writes into it: at rest KV and every
 * isolate have the table of the history, and nothing that was published is missing there.
 */

const { TABLE_TRUTH } = env as Env;

const REFRESH_MS = 30_000;

type Fault = "get throws" | "put throws" | "put throws late" | "pointer is lost" | "none";

type Event =
  | { readonly do: "publish" | "canary" | "abort" | "restart" | "refresh" }
  /** A pointer of somebody else, under the number that KV shows and so many more. */
  | { readonly do: "stray"; readonly more: number }
  | { readonly do: "fault"; readonly fault: Fault };

type Step = Event | { readonly do: "pass"; readonly ms: number; readonly during: readonly Event[] };

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("publish" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("stray" as const), more: fc.constantFrom(-1, 0, 1, 1, 40) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("refresh" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("canary" as const, "abort" as const, "restart" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("fault" as const),
      fault: fc.constantFrom<Fault>("get throws", "put throws", "put throws late", "pointer is lost", "none", "none"),
    }),
  },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: event },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("pass" as const),
      ms: fc.constantFrom(0, 500, 1_100, 5_000, 90_000),
      during: fc.array(event, { maxLength: 3 }),
    }),
  },
);

/** A KV in memory, with what happens beside each of its calls. Nothing comes between a read of the pointer and its put. */
class BusyKv {
  readonly texts = new Map<string, string>();
  fault: Fault = "none";
  during: Event[] = [];
  happen: (event: Event) => Promise<void> = () => Promise.resolve();
  #isBusy = false;

  readonly kv = {
    get: async (key: string, { type }: { type: "text" | "arrayBuffer" }) => {
      await this.#meanwhile(() => true);
      if (this.fault === "get throws") throw new Error("KV GET failed: 500");
      const text = this.texts.get(key) ?? null;
      return type === "text" || text === null ? text : new TextEncoder().encode(text).buffer;
    },
    put: async (key: string, value: string | Uint8Array) => {
      await this.#meanwhile((next) => key !== POINTER_KEY || next.do === "publish");
      if (this.fault === "put throws") throw new Error("KV PUT failed: 429");
      if (this.fault === "pointer is lost" && key === POINTER_KEY) return;
      this.texts.set(key, typeof value === "string" ? value : new TextDecoder().decode(value));
      if (this.fault === "put throws late") throw new Error("KV PUT failed: 504");
    },
  } as unknown as KVNamespace;

  pointer(): Partial<Pointer> {
    return JSON.parse(this.texts.get(POINTER_KEY) ?? "{}");
  }

  async #meanwhile(mayHappen: (event: Event) => boolean): Promise<void> {
    const [next] = this.during;
    if (this.#isBusy || next === undefined || !mayHappen(next)) return;
    this.#isBusy = true;
    this.during.shift();
    await this.happen(next);
    this.#isBusy = false;
  }
}

/** One deployment: the object, its isolates, and those who publish beside it. */
class Deployment {
  readonly #store = new BusyKv();
  readonly #isolates: readonly Tables[];
  readonly #background: Promise<unknown>[] = [];
  readonly #newKeeper: () => Promise<ControlPlane>;
  /** Digests of what was answered with 201. */
  readonly #published = new Set<string>();
  readonly #strays = new Set<string>();
  #keeper!: ControlPlane;
  #nowMs = Date.UTC(2026, 10, 21);
  #alarmMs: number | undefined;
  #texts = 0;

  constructor(context: DurableObjectState) {
    const clock = { nowMs: () => this.#nowMs };
    const { kv } = this.#store;
    const wakeAt = async (atMs: number) => {
      this.#alarmMs = atMs;
    };
    this.#newKeeper = async () => {
      const deps = { bundled: DECLARED_TABLE, clock, wakeAt };
      const keeper = new ControlPlane(context, { ...(env as Env), TABLE_KV: kv }, deps);
      await keeper.ready;
      return keeper;
    };
    this.#store.happen = (event) => this.make(event);
    this.#isolates = ["one", "two"].map(
      (namespace) =>
        new IsolateTable({
          kv,
          cache: undefined,
          namespace,
          bundled: DECLARED_TABLE,
          clock,
          refreshMs: REFRESH_MS,
          entropy: { word: () => 2 ** 31 },
          report: () => undefined,
          waitUntil: (work) => this.#background.push(work),
        }),
    );
  }

  async start(): Promise<void> {
    this.#keeper = await this.#newKeeper();
  }

  async make(step: Step): Promise<void> {
    switch (step.do) {
      case "pass":
        this.#store.during = [...step.during];
        await this.#pass(step.ms);
        this.#store.during = [];
        return;
      case "fault":
        this.#store.fault = step.fault;
        return;
      case "restart":
        this.#keeper = await this.#newKeeper();
        return;
      case "refresh":
        // One of the two looks when nobody else does.
        await this.#refresh(this.#isolates.slice(0, 1));
        return;
      case "stray":
        return this.#stray(step.more);
      default:
        return this.#change(step.do);
    }
  }

  /** Everything is well again, and everybody has had time; at last somebody asks the object. */
  async settle(): Promise<void> {
    this.#store.fault = "none";
    for (let round = 0; round < 3; round++) {
      await this.#pass(300_000);
      await this.#keeper.status();
    }
    await this.#refresh(this.#isolates);
  }

  async check(): Promise<void> {
    const status = await this.#keeper.status();
    if (!status.ok) throw new Error(status.error.why);
    const { truth, isPending, kv } = status.value;
    expect({ isPending, alarmMs: this.#alarmMs }).toEqual({ isPending: false, alarmMs: undefined });
    expect(kv).toMatchObject({ revision: truth.revision, digest: truth.digest });
    const history = await this.#keeper.revisions({ before: undefined, limit: 100 });
    const known = history.ok ? history.value : [];
    expect(known.map(({ digest }) => digest)).toEqual(expect.arrayContaining([...this.#published]));
    expect(known.filter(({ digest }) => this.#strays.has(digest))).toEqual([]);
    const statuses = this.#isolates.map((isolate) => isolate.peek(() => undefined));
    for (const status of statuses)
      expect(status).toMatchObject({ digest: truth.digest, table: { revision: truth.revision } });
  }

  async #change(how: "publish" | "canary" | "abort"): Promise<void> {
    const status = await this.#keeper.status();
    if (!status.ok) return;
    const request = {
      expectedRevision: status.value.canary?.revision ?? status.value.truth.revision,
      author: "ann",
      note: "",
    };
    const bytes = new TextEncoder().encode(this.#nextText());
    const made = await (how === "publish"
      ? this.#keeper.publish(request, bytes)
      : how === "canary"
        ? this.#keeper.startCanary(request, bytes, { share: 5 })
        : this.#keeper.abort(request));
    if (made.ok) this.#published.add(made.value.digest);
  }

  async #stray(more: number): Promise<void> {
    const { texts } = this.#store;
    const { revision = 1, change = 0 } = this.#store.pointer();
    const text = this.#nextText();
    const digest = await sha256(new TextEncoder().encode(text));
    texts.set(bodyKey(digest), text);
    texts.set(POINTER_KEY, JSON.stringify({ revision: Math.max(1, revision + more), digest, change: change + 1 }));
    this.#strays.add(digest);
  }

  async #pass(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    while (this.#alarmMs !== undefined && this.#alarmMs <= endMs) {
      this.#nowMs = Math.max(this.#nowMs, this.#alarmMs);
      this.#alarmMs = undefined;
      await this.#keeper.alarm();
    }
    this.#nowMs = endMs;
  }

  async #refresh(isolates: readonly Tables[]): Promise<void> {
    this.#nowMs += REFRESH_MS;
    for (const isolate of isolates) {
      await isolate.load();
      isolate.peek((work) => this.#background.push(work));
    }
    await Promise.all(this.#background.splice(0));
  }

  #nextText(): string {
    this.#texts++;
    return JSON.stringify({ ...DECLARED_TABLE, countries: { ...DECLARED_TABLE.countries, FR: 100 + this.#texts } });
  }
}

async function play(steps: readonly Step[]): Promise<void> {
  const stub = TABLE_TRUTH.get(TABLE_TRUTH.idFromName(crypto.randomUUID()));
  await runInDurableObject(stub, async (_, context) => {
    const deployment = new Deployment(context);
    await deployment.start();
    await deployment.make({ do: "publish" });
    await deployment.make({ do: "pass", ms: 0, during: [] });
    for (const step of steps) await deployment.make(step);
    await deployment.settle();
    await deployment.check();
  });
}

const pass = (ms: number, during: readonly Event[] = []): Step => ({ do: "pass", ms, during });

it.each<readonly [string, readonly Step[]]>([
  [
    "while KV refuses the object's pointer",
    [{ do: "publish" }, { do: "fault", fault: "put throws" }, pass(5_000), { do: "stray", more: 1 }, { do: "refresh" }],
  ],
  [
    "far above the revision that waits",
    [
      { do: "publish" },
      { do: "fault", fault: "put throws" },
      pass(5_000),
      { do: "stray", more: 40 },
      { do: "refresh" },
    ],
  ],
  ["under the number in force, with a later change", [{ do: "stray", more: 0 }, { do: "refresh" }]],
  [
    "while two pointers wait for their second",
    [{ do: "publish" }, pass(100), { do: "publish" }, { do: "stray", more: 6 }, { do: "refresh" }],
  ],
  [
    "while the object ends and begins anew",
    [{ do: "publish" }, { do: "stray", more: 1 }, { do: "restart" }, { do: "refresh" }],
  ],
  ["under the number of a canary", [{ do: "canary" }, pass(2_000), { do: "stray", more: 1 }, { do: "refresh" }]],
  ["beside a body on its way", [{ do: "publish" }, pass(2_000, [{ do: "stray", more: 1 }])]],
])("a pointer that a stranger writes %s is in force nowhere at rest", (_, steps) => play(steps));

it("a table that is published while the pointer before it is about to be put is in force at rest", () =>
  // The first event comes with the put of the body, the second with the read before the pointer.
  play([{ do: "publish" }, pass(2_000, [{ do: "refresh" }, { do: "publish" }])]));

it("whoever publishes in whatever order: at rest all agree, and the history has everything", { timeout: 120_000 }, () =>
  fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 16 }), play), { numRuns: runs(20) }),
);
