import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import type { EncodedPack } from "../../../../src/features/packs/table/format.ts";
import type { AskNode } from "../../../../src/host/machines/mirror/ask.ts";
import { type Mirror, startMirror } from "../../../../src/host/machines/mirror/mirror.ts";
import { runs } from "../../../setup/property-runs.ts";
import { CODE_VERSION, makePack, Published } from "./published.ts";
import { SimulatedDisk } from "./simulated-disk.ts";
import { quickClock } from "./support.ts";
import { wholeCopy, wholeTable } from "./whole.ts";

/** Whatever happens, the folder has a whole table, and never goes back. */

const FOLDER = "/kv";
const NODES = ["a:1", "b:1"];

type NodeFault = (typeof NODE_FAULTS)[number];
const NODE_FAULTS = ["none", "refuses", "missing", "wrong", "half", "older"] as const;

/** State nodes in this process, each with its faults at some of its values. */
class FakeNodes {
  readonly published = new Published();
  readonly faults = new Map<string, { readonly fault: NodeFault; readonly share: number }>();
  before: { readonly tag: string | undefined; readonly text: string } | undefined;
  #asked = 0;

  ask: AskNode = async (node, path, { fields = {}, signal }) => {
    const { fault = "none", share = 0 } = this.faults.get(node) ?? {};
    const isFaulty = this.#asked++ % 10 < share;
    if (fault === "refuses" && isFaulty) throw new Error("ECONNREFUSED");
    if (path.startsWith("/pointer")) return this.#pointer(fault === "older", fields["if-none-match"], signal);
    const value = this.published.values.get(decodeURIComponent(path.slice("/values/".length)));
    if (value === undefined || (fault === "missing" && isFaulty)) return { status: 404, etag: undefined, bytes: EMPTY };
    const bytes = new Uint8Array(value);
    if (fault === "wrong" && isFaulty && bytes.length > 40) bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
    const own = fault === "half" && isFaulty ? bytes.slice(0, bytes.length >> 1) : bytes;
    return { status: 200, etag: undefined, bytes: own };
  };

  async #pointer(isOlder: boolean, tag: string | undefined, signal: AbortSignal) {
    const late = delay(200, undefined, { signal }).catch(() => undefined);
    const shown = () => (isOlder && this.before !== undefined ? this.before : this.published);
    while (shown().tag === undefined || shown().tag === tag) {
      const isLate = await Promise.race([this.published.changed().then(() => false), late.then(() => true)]);
      if (signal.aborted) throw new Error("stopped");
      if (isLate) return { status: shown().tag === undefined ? 404 : 304, etag: tag, bytes: EMPTY };
    }
    return { status: 200, etag: shown().tag, bytes: new Uint8Array(Buffer.from(shown().text)) };
  }
}

const EMPTY = new Uint8Array();

type Step =
  | { readonly do: "publish"; readonly pack: number; readonly canary: number; readonly region: string }
  | { readonly do: "copy"; readonly rows: number }
  | { readonly do: "fault"; readonly node: string; readonly fault: NodeFault; readonly share: number }
  | { readonly do: "full"; readonly isFull: boolean }
  | { readonly do: "kill"; readonly after: number }
  | { readonly do: "power"; readonly after: number }
  | { readonly do: "restart" }
  | { readonly do: "wait"; readonly ms: number };

const region = fc.constantFrom("first", "second", "rest");
const pack = fc.integer({ min: -1, max: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("publish"), pack, canary: pack, region }) as fc.Arbitrary<Step> },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("copy"), rows: fc.integer({ min: 0, max: 4 }) }) as fc.Arbitrary<Step>,
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("fault"),
      node: fc.constantFrom(...NODES),
      fault: fc.constantFrom(...NODE_FAULTS),
      share: fc.integer({ min: 1, max: 10 }),
    }) as fc.Arbitrary<Step>,
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("full"), isFull: fc.boolean() }) as fc.Arbitrary<Step> },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("kill"), after: fc.integer({ min: 0, max: 60 }) }) as fc.Arbitrary<Step>,
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("power"), after: fc.integer({ min: 0, max: 60 }) }) as fc.Arbitrary<Step>,
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("restart") }) as fc.Arbitrary<Step> },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.integer({ min: 0, max: 25 }) }) as fc.Arbitrary<Step>,
  },
);

/** A folder, its mirror that may be killed, and what is published. */
class World {
  readonly disk = new SimulatedDisk();
  readonly nodes = new FakeNodes();
  readonly packs: readonly EncodedPack[];
  /** The folder as readers saw it, in order; each with whether power was lost before. */
  readonly seen: { readonly read: (key: string) => Uint8Array | undefined; readonly isNewLife: boolean }[] = [];
  mirror: Mirror | undefined;
  isNewLife = false;
  #seed: number;

  constructor(packs: readonly EncodedPack[], seed = 1) {
    this.packs = packs;
    this.#seed = seed;
    this.disk.watch = () => this.look();
  }

  look(): void {
    const names = new Map([...this.disk.names].map(([path, { bytes }]) => [path, bytes]));
    this.seen.push({ read: (key) => names.get(`${FOLDER}/${key}`), isNewLife: this.isNewLife });
    this.isNewLife = false;
  }

  async start(): Promise<void> {
    let mirror: Mirror | undefined;
    void startMirror({
      nodes: NODES,
      tls: "",
      kvFolder: FOLDER,
      edge: { name: "edge", version: "1.0.0", processes: 1 },
      codeVersion: CODE_VERSION,
      report: () => undefined,
      clock: quickClock(),
      disk: this.disk.process(),
      ask: this.nodes.ask,
      lock: async () => async () => undefined,
    }).then((started) => {
      mirror = started;
    });
    while (mirror === undefined && !this.disk.isKilled) await delay(1);
    this.mirror = mirror;
  }

  losePower(): void {
    this.disk.losePower(() => {
      this.#seed = (this.#seed * 48_271) % 2_147_483_647;
      return this.#seed / 2_147_483_647;
    });
    this.isNewLife = true;
    this.look();
  }

  async run(step: Step): Promise<void> {
    const { nodes, disk, packs } = this;
    if (step.do === "publish") {
      const { tag, text } = nodes.published;
      if (tag !== undefined) nodes.before = { tag, text };
      const canary = packs[step.canary];
      nodes.published.publish({
        pack: packs[step.pack],
        region: step.region,
        directories: ["slug"],
        ...(canary && { canary: { pack: canary, region: step.region } }),
      });
    } else if (step.do === "copy") {
      const rows = Object.fromEntries(Array.from({ length: step.rows }, (_, at) => [`key-${at}`, "first"]));
      if (step.rows === 0) nodes.published.removeCopy("slug");
      else await nodes.published.putCopy("slug", rows);
    } else if (step.do === "fault") nodes.faults.set(step.node, step);
    else if (step.do === "full") disk.isFull = step.isFull;
    else if (step.do === "kill") disk.killAfter = step.after;
    else if (step.do === "power") {
      disk.killAfter = step.after;
      await delay(step.after / 3);
      this.losePower();
      await this.start();
    } else if (step.do === "restart") await this.start();
    else await delay(step.ms);
  }

  /** Everything answers again. */
  async settle(): Promise<void> {
    this.nodes.faults.clear();
    this.disk.isFull = false;
    await this.start();
    const endMs = Date.now() + 20_000;
    const isSame = () => {
      const [pointer, own] = [this.nodes.published.text, this.disk.file(FOLDER, "table.current")];
      const copy = this.nodes.published.values.get("directory.slug.current");
      const ownCopy = this.disk.file(FOLDER, "directory.slug.current");
      const isCopySame = Buffer.from(copy ?? "").equals(Buffer.from(ownCopy ?? ""));
      return pointer === "" || (pointer === Buffer.from(own ?? "").toString() && isCopySame);
    };
    while (!isSame()) {
      if (Date.now() > endMs) throw new Error(`not settled: ${JSON.stringify(this.mirror?.status())}`);
      await delay(5);
    }
    await this.mirror?.stop();
  }
}

const packsToTry = async () =>
  Promise.all(
    ["first", "second", "rest", "first"].map((name, at) =>
      makePack({ ranges: 200 + at, rangesPerPage: 50 + 10 * (at % 2), region: name }),
    ),
  );

describe("any history of publications, faults, kills and losses of power", () => {
  it("leaves a whole table at any moment, which never goes back, and ends with the last one", async () => {
    const packs = await packsToTry();
    const seed = inject("propertySeed");
    let tables = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const world = new World(packs);
        await world.start();
        for (const each of steps) await world.run(each);
        await world.settle();
        let last: readonly [number, number] = [0, 0];
        for (const { read, isNewLife } of world.seen) {
          const numbers = await wholeTable(read);
          await wholeCopy(read, "slug");
          if (isNewLife) last = numbers ?? [0, 0];
          const [revision, change] = numbers ?? [0, 0];
          expect(revision > last[0] || (revision === last[0] && change >= last[1])).toBe(true);
          last = [revision, change];
        }
        tables += last[0];
      }),
      { numRuns: runs(25), ...(seed !== null && { seed }) },
    );
    expect(tables).toBeGreaterThan(25);
  });
});

describe("a publication that ends after any of its file operations", () => {
  const publication = { pack: 1, canary: 2, region: "second" } as const;

  it.each([1, 2])("by a loss of power leaves a whole table (%i)", async (seed) => {
    const packs = await packsToTry();
    let revisions = "";
    for (let after = 0, isWhole = false; !isWhole; after++) {
      const world = new World(packs, seed * 1000 + after);
      await world.run({ do: "publish", pack: 0, canary: -1, region: "first" });
      await world.start();
      while (world.mirror?.status().revision !== 1) await delay(1);
      world.disk.killAfter = after;
      await world.run({ do: "publish", ...publication });
      while (!world.disk.isKilled && world.mirror?.status().revision !== 2) await delay(1);
      isWhole = !world.disk.isKilled;
      world.losePower();
      const [revision = 0] = (await wholeTable((key) => world.disk.file(FOLDER, key))) ?? [];
      expect(revision).toBeGreaterThan(isWhole ? 1 : 0);
      revisions += revision;
      await world.settle();
    }
    // Each came to this or that table.
    expect(revisions).toMatch(/^1{20,}[12]+2$/);
  });
});
