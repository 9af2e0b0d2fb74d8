import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CopyBuilder, type EncodedCopy } from "../../src/features/directory/table/copy-builder.ts";
import {
  copyKey,
  copyPageKey,
  copyPointerKey,
  LoadedCopy,
  readCopyHeader,
  readCopyPage,
} from "../../src/features/directory/table/copy-format.ts";
import { KeyHash } from "../../src/features/directory/table/key-hash.ts";
import { DIRECTORY_SHARDS, shardOf } from "../../src/features/directory/table/shard.ts";
import type { Sha256 } from "../../src/routing/bytes.ts";
import { inNode } from "../lib/measure.ts";
import { residentBytes } from "../lib/process-usage.ts";
import { needed, seededWords } from "../lib/random.ts";
import type { Bench, BenchOptions, Cell, Section } from "../lib/report.ts";
import type { Candidate } from "../lib/sample.ts";
import { type RunningWorker, startWorker } from "../lib/workerd.ts";
import { DIRECTORY, keyAt, REGIONS, regionAt } from "./keys.ts";

const KEYS_DEFAULT = 10_000_000;

const MEGA = 1e6;

const HASH_KEY = Uint8Array.from({ length: 16 }, (_, at) => at * 7);

const sha256: Sha256 = (bytes) => Promise.resolve(createHash("sha256").update(bytes).digest());

/** A directory of ten million UUIDs: the copy in pages, the import into objects, and look-ups in each layer. */
export const directoryBench: Bench = {
  name: "directory",
  run: async (options) => {
    const keys = options.count ?? KEYS_DEFAULT;
    const made = await makeCopy(keys, options);
    const inMemory = await inNode("Look-ups in a copy", await candidates(made.copy, keys), options);
    const gateway = await startWorker({
      worker: new URL("directory.worker.ts", import.meta.url),
      tableText: JSON.stringify(TABLE),
      vars: { ADMIN_TOKENS: JSON.stringify([{ name: "bench", scope: "operator", sha256: hexOfToken() }]) },
    });
    try {
      writeCopy(gateway.kvFolder, made.copy);
      const { section, imported } = await importAll(gateway, keys, options);
      const layers = await lookUps(gateway, keys, imported, options);
      return [made.section, inMemory, section, ...layers];
    } finally {
      await gateway.stop();
    }
  },
};

const TOKEN = "the-token-of-this-benchmark-alone-0123456789";
const hexOfToken = (): string => createHash("sha256").update(TOKEN).digest("hex");

const TABLE = {
  regions: Object.fromEntries(REGIONS.map((region) => [region, { origins: [{ url: "http://origin.test" }] }])),
  directory: { [DIRECTORY]: { key: { layout: "uuid-v4" } } },
  entities: { thing: { path: "/things/:id", ids: [{ layout: "uuid-v4" }] } },
  routes: [{ when: { layout: "uuid-v4" }, directory: DIRECTORY }],
};

async function makeCopy(keys: number, { progress }: BenchOptions) {
  const before = process.memoryUsage().rss;
  const startedMs = performance.now();
  const builder = new CopyBuilder(HASH_KEY);
  for (let at = 0; at < keys; at++) builder.add(keyAt(at), regionAt(at));
  const addedMs = performance.now();
  const copy = needed(await builder.build({ directory: DIRECTORY, builtAtMs: Date.now(), sha256 }));
  const builtMs = performance.now();
  const grown = process.memoryUsage().rss - before;
  progress("Directory: the copy is made");
  const sizes = copy.pages.map(({ length }) => length / 1024);
  const section: Section = {
    title: "A copy of a directory",
    note: "Keys are UUIDs as texts, hashed with SipHash-2-4. Growth is that of the process, rows in and pages out.",
    columns: ["keys", "hash all, ms", "sort all, ms", "growth, MB", "pages", "KiB a page", "header, kB", "all, MB"],
    rows: [
      [
        String(keys),
        addedMs - startedMs,
        builtMs - addedMs,
        grown / MEGA,
        copy.pages.length,
        `${Math.min(...sizes).toFixed(1)}-${Math.max(...sizes).toFixed(1)}`,
        copy.header.length / 1000,
        copy.bytes / MEGA,
      ],
    ],
    ...(copy.bytes * 1e7 <= keys * 100e6 || keys < 1e5
      ? {}
      : { failure: "ten million keys would take more than 100 MB" }),
  };
  return { copy, section };
}

/** A power of two: the next key is one AND. */
const TEXTS = 65_536;

async function candidates(encoded: EncodedCopy, keys: number): Promise<readonly Candidate[]> {
  const header = needed(await readCopyHeader(encoded.header, sha256, encoded.sha256));
  const copy = new LoadedCopy(header);
  for (const [page, bytes] of encoded.pages.entries()) {
    copy.pages[page] = needed(await readCopyPage(header, page, bytes, sha256));
  }
  const { word } = seededWords(1);
  const known = Array.from({ length: TEXTS }, () => keyAt(word() % keys));
  const foreign = Array.from({ length: TEXTS }, () => `x${keyAt(word() % keys)}`);
  copy.find(known[0] as string);
  const { page } = copy;
  const ofOnePage: string[] = [];
  for (let at = 0; ofOnePage.length < 1024 && at < keys; at++) {
    copy.find(keyAt(at));
    if (copy.page === page) ofOnePage.push(keyAt(at));
  }
  const hash = new KeyHash(HASH_KEY);
  const first = encoded.pages[0] as Uint8Array<ArrayBuffer>;
  return [
    {
      name: "hash of a UUID's text",
      run(times) {
        let sum = 0;
        for (let at = 0; at < times; at++) {
          hash.of(known[at & (TEXTS - 1)] as string);
          sum += hash.low & 1;
        }
        return sum;
      },
    },
    { name: "a known key of one page, with its hash", run: find(copy, ofOnePage) },
    { name: "a known key of any page, with its hash", run: find(copy, known) },
    { name: "a foreign key, with its hash", run: find(copy, foreign) },
    {
      name: "verify and index one page",
      async run(times) {
        let sum = 0;
        for (let at = 0; at < times; at++) sum += needed(await readCopyPage(header, 0, first, sha256)).keys;
        return sum;
      },
    },
  ];
}

const find = (copy: LoadedCopy, texts: readonly string[]) => (times: number) => {
  let sum = 0;
  for (let at = 0; at < times; at++) sum += copy.find(texts[at % texts.length] as string);
  return sum;
};

function writeCopy(kvFolder: string, { sha256: name, header, pages }: EncodedCopy): void {
  for (const [page, bytes] of pages.entries()) writeFileSync(join(kvFolder, copyPageKey(name, page)), bytes);
  writeFileSync(join(kvFolder, copyKey(name)), header);
  writeFileSync(join(kvFolder, copyPointerKey(DIRECTORY)), name);
}

/** As `waybill directory import` sends rows: sorted by shard, a few requests at once. */
const BLOCK_ROWS = 400_000;
const REQUEST_ROWS = 20_000;
const REQUESTS_AT_ONCE = 3;

/** Most of the run, unless `--count` says how many: on a busy machine not all keys are imported then. */
const IMPORT_MS_MAX = 150_000;

async function importAll(gateway: RunningWorker, keys: number, { count, progress }: BenchOptions) {
  const rows: Cell[][] = [];
  const startedMs = performance.now();
  let before = startedMs;
  let imported = 0;
  const quarter = Math.max(1, Math.ceil(keys / BLOCK_ROWS / 4)) * BLOCK_ROWS;
  for (let from = 0; from < keys; from += BLOCK_ROWS) {
    const to = Math.min(keys, from + BLOCK_ROWS);
    await importBlock(gateway, from, to);
    const nowMs = performance.now();
    const isLast = to === keys || (count === undefined && nowMs - startedMs > IMPORT_MS_MAX);
    if (isLast) imported = to;
    if (to % quarter !== 0 && !isLast) continue;
    rows.push([
      String(to),
      (to - (rows.length === 0 ? 0 : Number(rows.at(-1)?.[0]))) / ((nowMs - before) / 1000),
      megabytes(gateway),
    ]);
    before = nowMs;
    progress(`Directory, import: ${to} of ${keys} keys`);
    if (isLast) break;
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const section: Section = {
    title: "Importing a directory into its objects",
    note: `NDJSON over HTTP into ${DIRECTORY_SHARDS} objects of SQLite on this machine's disk: ${seconds.toFixed(0)} s in all. Memory is that of the whole workerd, with all its objects.`,
    columns: ["keys so far", "keys a second", "memory, MB"],
    rows,
  };
  return { section, imported };
}

async function importBlock({ url }: RunningWorker, from: number, to: number): Promise<void> {
  const shards: string[][] = Array.from({ length: DIRECTORY_SHARDS }, () => []);
  for (let at = from; at < to; at++) {
    const key = keyAt(at);
    shards[shardOf({ directory: DIRECTORY, key })]?.push(`{"key":"${key}","region":"${regionAt(at)}"}\n`);
  }
  const lines = shards.flat();
  const starts = Array.from({ length: Math.ceil(lines.length / REQUEST_ROWS) }, (_, at) => at * REQUEST_ROWS).values();
  const work = async (): Promise<void> => {
    for (const start of starts) {
      const response = await fetch(`${url}/-/directory/${DIRECTORY}/-/import`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}` },
        body: lines.slice(start, start + REQUEST_ROWS).join(""),
      });
      const last = (await response.text()).trim().split("\n").at(-1) ?? "";
      if (!/"done":true/.test(last)) throw new Error(`the import ended with ${response.status}: ${last}`);
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
}

/** Look-ups of one turn by layer: enough for a second or so. */
const TURNS = { warm: 20_000, cold: 1_000, object: 1_000 } as const;
const ROUNDS_MAX = 3;

/** Random keys, with pages of 16 MB in memory: most displace another page. */
const FLAT_LOOKUPS = 10_000;
const FLAT_TURNS = 4;
const GROWTH_BYTES_MAX = 32 * 2 ** 20;

async function lookUps(
  gateway: RunningWorker,
  keys: number,
  imported: number,
  options: BenchOptions,
): Promise<readonly Section[]> {
  const rounds = Math.min(ROUNDS_MAX, options.rounds);
  let seed = 1;
  const look = async (layer: string, of: number, times: number): Promise<number> => {
    const startedMs = performance.now();
    const query = `layer=${layer}&keys=${of}&times=${times}&seed=${seed++}`;
    const right = await (await fetch(`${gateway.url}/look?${query}`)).text();
    if (right.trim() !== String(times)) throw new Error(`${layer}: ${right} of ${times} look-ups were right`);
    return ((performance.now() - startedMs) * 1000) / times;
  };
  const rows: Cell[][] = [];
  for (const [layer, what, of] of [
    ["warm", "page in memory", Math.min(keys, 200)],
    ["cold", "page out of KV", keys],
    ["object", "object", imported],
  ] as const) {
    await look(layer, of, TURNS[layer]);
    const figures: number[] = [];
    for (let round = 0; round < rounds; round++) figures.push(await look(layer, of, TURNS[layer]));
    const sorted = figures.toSorted((a, b) => a - b);
    rows.push([what, { median: sorted[sorted.length >> 1] ?? 0, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 }]);
    options.progress(`Directory, look-ups: ${what}`);
  }
  const memory: Cell[][] = [];
  const held: number[] = [];
  for (let turn = 1; turn <= FLAT_TURNS; turn++) {
    const each = await look("warm", keys, FLAT_LOOKUPS);
    memory.push([String(turn * FLAT_LOOKUPS), each, megabytes(gateway)]);
    held.push(residentBytes(gateway.pid) ?? 0);
  }
  return [
    {
      title: "Look-ups inside workerd, one after the other",
      note: "Each answer is checked. KV and objects are files on this machine: on Cloudflare's network each read of them travels.",
      columns: ["layer", "µs"],
      rows,
    },
    {
      title: "Random keys, with 16 MB of pages in memory",
      note: `A look-up needs a page that is not in memory more often than not. Memory is that of the whole workerd after ${imported} imported keys.`,
      columns: ["look-ups so far", "µs", "memory, MB"],
      rows: memory,
      ...(Math.max(...held) - (held[0] ?? 0) <= GROWTH_BYTES_MAX
        ? {}
        : { failure: "memory grew with the number of look-ups" }),
    },
  ];
}

const megabytes = ({ pid }: RunningWorker): Cell => {
  const bytes = residentBytes(pid);
  return bytes === undefined ? null : bytes / MEGA;
};
