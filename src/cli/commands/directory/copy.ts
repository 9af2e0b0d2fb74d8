import * as v from "valibot";
import { CopyBuilder, type EncodedCopy } from "../../../features/directory/table/copy-builder.ts";
import * as format from "../../../features/directory/table/copy-format.ts";
import { type DirectoryRow, readRow } from "../../../features/directory/table/row.ts";
import { GATEWAY_HELP, GATEWAY_OPTIONS, type GatewayRequest, readObject } from "../../client/http.ts";
import { IN_FORCE_BY } from "../../client/propagation.ts";
import { command, option } from "../../command.ts";
import { linesOf, openInput, time } from "../../lib/input.ts";
import {
  counted,
  countOf,
  escapeControls,
  formatCount,
  formatSize,
  jsonText,
  linesText,
  startProgress,
} from "../../lib/output.ts";
import { sha256 } from "../../lib/packs.ts";
import { EXIT, fail, misuse, type Runtime } from "../../runtime.ts";
import { type DirectoryClient, openDirectory } from "./client.ts";
import { exportParts } from "./export.ts";

const UPLOADS_AT_ONCE = 6;

/** Two keys share a hash once in 370,000 copies of ten million keys; another hash key parts them. */
const ATTEMPTS_MAX = 3;

const STATUS = v.object({
  directory: v.string(),
  copy: v.nullable(
    v.object({
      sha256: v.string(),
      keys: v.number(),
      pages: v.number(),
      bytes: v.number(),
      builtAt: v.string(),
      regions: v.array(v.string()),
    }),
  ),
});

const readStatus = async (client: DirectoryClient): Promise<v.InferOutput<typeof STATUS>> => {
  const answer = await client.insist({ method: "GET", path: "/-/copy" });
  const status = v.safeParse(STATUS, readObject(answer.bytes));
  return status.success ? status.output : fail(`error: ${escapeControls(client.url)} gives no status of a copy\n`);
};

export const directoryCopy = command({
  name: "copy",
  description: "publish a copy of a directory in pages: look-ups at the edge then need no object",
  args: [["<directory>", "as the table names it"]],
  options: [
    option("--from <file>", "make it of an export instead of the gateway's rows; - reads stdin; with --at"),
    option("--at <time>", "when the export in --from was begun, such as 2026-06-01T00:00:00Z", time),
    option("--remove", "take the copy out of force, and publish none"),
    option("--dry-run", "make the copy, and publish nothing"),
    option("--json", "the copy as one line of JSON; no progress"),
    ...GATEWAY_OPTIONS,
  ],
  help: `
Examples:
  $ waybill directory copy slug
  $ waybill directory copy slug --from slugs.ndjson --at 2026-06-01T00:00:00Z
  $ waybill directory copy slug --remove

A copy takes 8 bytes a key: 80 MB and 2,050 writes to KV for ten million keys. It is in force
${IN_FORCE_BY}. Keys that change
later are asked of their objects. The table says how old a copy may be (copySeconds).
${GATEWAY_HELP}
Exit code: 0.`,
  run: async (runtime, [directory = ""], options) => {
    const client = openDirectory(directory, options, runtime);
    if (options.remove) {
      if (options.from !== undefined || options.dryRun) misuse("error: --remove stands alone\n");
      await client.insist({ method: "DELETE", path: "/-/copy" });
      runtime.report(`${escapeControls(directory)}: no copy is in force, ${IN_FORCE_BY}\n`);
      return EXIT.ok;
    }
    const { from, at } = options;
    if ((from === undefined) !== (at === undefined)) misuse("error: --from and --at require each other\n");
    const isQuiet = options.json === true;
    const farewell = "interrupted: the copy in force is the one before\n";
    return runtime.guard(async () => {
      const rows = () => (from === undefined ? rowsAt(client, isQuiet, runtime) : rowsIn(from, isQuiet, runtime));
      const copy = await buildCopy(directory, { rows, isRepeatable: from !== "-", beganAtMs: at }, runtime);
      if (!options.dryRun) await publish(client, copy, isQuiet, runtime);
      const { keys, pages, bytes, regions, sha256: name } = copy;
      const shown = { directory, sha256: name, keys, pages: pages.length, bytes, regions };
      if (options.json) await runtime.print(jsonText({ ...shown, published: options.dryRun !== true }));
      const end = options.dryRun ? "nothing was published" : `in force ${IN_FORCE_BY}`;
      const size = `${countOf(keys, "key")} in ${countOf(pages.length, "page")}, ${formatSize(bytes)}`;
      if (!isQuiet) runtime.report(`${escapeControls(directory)}: ${size}; ${end}\n`);
      return EXIT.ok;
    }, farewell);
  },
});

/** The rows of a copy. */
interface RowSource {
  /** Reads them from the first one on. */
  readonly rows: () => AsyncIterable<DirectoryRow>;
  /** A pipe is read once. */
  readonly isRepeatable: boolean;
  /** When an export was begun; `undefined` for rows that are read now. */
  readonly beganAtMs: number | undefined;
}

const buildCopy = async (
  directory: string,
  { rows, isRepeatable, beganAtMs }: RowSource,
  runtime: Runtime,
): Promise<EncodedCopy> => {
  for (let attempt = 1; ; attempt++) {
    const hashKey = new Uint8Array(format.COPY_HASH_KEY_BYTES);
    new Uint32Array(hashKey.buffer).forEach((_, at, words) => {
      words[at] = runtime.entropy.word();
    });
    const builder = new CopyBuilder(hashKey);
    const builtAtMs = beganAtMs ?? runtime.nowMs();
    for await (const { key, region } of rows()) builder.add(key, region);
    const built = await builder.build({ directory, builtAtMs, sha256 });
    if (built.ok) return built.value;
    if (built.error.reason === "same-hash") {
      if (attempt < ATTEMPTS_MAX && isRepeatable) continue;
      const { count } = built.error;
      fail(`error: ${countOf(count, "key")} of the rows came twice: a key must come once\n`);
    }
    fail(`error: the copy cannot be made: ${format.formatCopyFault(built.error)}\n`);
  }
};

async function* rowsAt(client: DirectoryClient, isQuiet: boolean, runtime: Runtime): AsyncGenerator<DirectoryRow> {
  const progress = startProgress({ label: "reading all keys", bytes: 0, isQuiet }, runtime);
  try {
    for await (const { rows } of exportParts(client, undefined, runtime)) {
      for (const row of rows) {
        progress.add(row.key.length, 1);
        yield row;
      }
    }
  } finally {
    progress.clear();
  }
}

async function* rowsIn(path: string, isQuiet: boolean, runtime: Runtime): AsyncGenerator<DirectoryRow> {
  const { name, bytes, chunks } = await openInput(path, runtime);
  const shown = escapeControls(name);
  const progress = startProgress({ label: shown, bytes, isQuiet }, runtime);
  let line = 0;
  try {
    for await (const text of linesOf(counted(chunks, progress))) {
      line++;
      if (!text.ok) return fail(`error: ${shown}: line ${line} is too long for a row\n`);
      if (text.value.trim() === "") continue;
      const row = readRow(text.value);
      yield row.ok ? row.value : fail(`error: ${shown}:${line}: ${row.error} No copy was made.\n`);
    }
  } finally {
    progress.clear();
  }
}

/** The pages, then the header, which puts the copy in force. */
const publish = async (client: DirectoryClient, copy: EncodedCopy, isQuiet: boolean, runtime: Runtime) => {
  const { sha256: name, pages, header, bytes } = copy;
  const progress = startProgress({ label: "publishing the copy", bytes, isQuiet }, runtime);
  const put = (path: string, body: Uint8Array<ArrayBuffer>): GatewayRequest => {
    return { method: "PUT", path, headers: { "content-type": "application/octet-stream" }, body };
  };
  const queue = pages.entries();
  const work = async (): Promise<void> => {
    for (const [page, body] of queue) {
      await client.insist(put(`/-/copies/${name}/${page}`, body));
      progress.add(body.length);
    }
  };
  try {
    await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, work));
    await client.insist(put(`/-/copies/${name}`, header));
  } finally {
    progress.clear();
  }
};

const BY_STATE = v.object({ confirmed: v.number(), reserved: v.number(), expired: v.number(), missing: v.number() });
const COUNTED = { at: v.string(), shards: v.number(), answered: v.number() };
/** A count that lacks some of the objects is no total. */
const COUNTS = v.union([v.object({ ...COUNTED, total: BY_STATE }), v.object({ ...COUNTED, atLeast: BY_STATE })]);

export const directoryStat = command({
  name: "stat",
  description: "count the keys by state, and show the copy in force: its age, keys, pages and regions",
  args: [["<directory>", "as the table names it"]],
  options: [option("--json", "one JSON object"), ...GATEWAY_OPTIONS],
  help: `
Examples:
  $ waybill directory stat slug

${GATEWAY_HELP}
Exit code: 0, or 1 if not all objects answered: the counts are then too low.`,
  run: async (runtime, [directory = ""], options) => {
    const client = openDirectory(directory, options, runtime);
    const status = await readStatus(client);
    const answer = await client.insist({ method: "GET", path: "/-/counts" });
    const read = v.safeParse(COUNTS, readObject(answer.bytes));
    const counts = read.success ? read.output : fail(`error: ${escapeControls(client.url)} gives no counts\n`);
    const lines = [...countLines(counts), ...copyLines(status, runtime.nowMs())];
    await runtime.print(options.json ? jsonText({ ...status, counts }) : linesText(lines));
    return "total" in counts ? EXIT.ok : EXIT.failed;
  },
});

const countLines = (counts: v.InferOutput<typeof COUNTS>): string[] => {
  const isTotal = "total" in counts;
  const { confirmed, reserved, expired, missing } = isTotal ? counts.total : counts.atLeast;
  const orphans = `${formatCount(expired)} after their lease, ${formatCount(missing)} missing at their origins`;
  const from = isTotal ? "" : `, of the ${counts.answered} of ${counts.shards} objects that answered`;
  return [
    `${isTotal ? "" : "at least "}${countOf(confirmed, "key")}, ${formatCount(reserved)} reserved`,
    `${countOf(expired + missing, "orphan")}: ${orphans}`,
    `as of ${escapeControls(counts.at)}${from}`,
  ];
};

const copyLines = ({ copy }: v.InferOutput<typeof STATUS>, nowMs: number): string[] => {
  if (copy === null) return ["no copy is in force"];
  const hours = Math.max(0, (nowMs - Date.parse(copy.builtAt)) / 3_600_000);
  return [
    `copy ${escapeControls(copy.sha256)}`,
    `${countOf(copy.keys, "key")} in ${countOf(copy.pages, "page")}, ${formatSize(copy.bytes)}`,
    `as of ${escapeControls(copy.builtAt)}, ${hours.toFixed(1)} hours ago`,
    `regions: ${escapeControls(copy.regions.join(", "))}`,
  ];
};

const SHOWN_MAX = 20;

export const directoryVerify = command({
  name: "verify",
  description: "compare the copy in force with all keys at the objects",
  args: [["<directory>", "as the table names it"]],
  options: [option("--json", "the differing keys and the sums as lines of JSON; no progress"), ...GATEWAY_OPTIONS],
  help: `
Examples:
  $ waybill directory verify slug

Reads the whole copy and all keys. Keys that were added since the copy was made are looked up at their objects and are no fault;
for keys that moved or were removed since, the gateway asks the objects too.
${GATEWAY_HELP}
Exit code: 0; 2 if a key of the copy moved or was removed.`,
  run: async (runtime, [directory = ""], options) => {
    const client = openDirectory(directory, options, runtime);
    const isQuiet = options.json === true;
    const copy = await runtime.guard(() => readCopy(client, isQuiet, runtime), "interrupted\n");
    const sums = { keys: 0, same: 0, moved: 0, added: 0, removed: 0 };
    const compare = async (): Promise<void> => {
      for await (const { key, region } of rowsAt(client, isQuiet, runtime)) {
        sums.keys++;
        const found = copy.header.regions[copy.find(key)];
        const state = found === undefined ? "added" : found === region ? "same" : "moved";
        sums[state]++;
        if (state !== "moved" || sums.moved > SHOWN_MAX) continue;
        const text = escapeControls(`${key}: ${region}, and ${found} in the copy`);
        await runtime.print(options.json ? jsonText({ key, region, copy: found }) : `${text}\n`);
      }
    };
    await runtime.guard(compare, "interrupted\n");
    sums.removed = Math.max(0, copy.header.keys - sums.same - sums.moved);
    const { keys, ...others } = sums;
    const parts = Object.entries(others).map(([name, count]) => `${formatCount(count)} ${name}`);
    if (options.json) await runtime.print(jsonText({ directory, builtAt: copy.header.builtAt, ...sums }));
    else runtime.report(`${countOf(keys, "key")}: ${parts.join(", ")} since ${copy.header.builtAt}\n`);
    return sums.moved + sums.removed > 0 ? EXIT.differs : EXIT.ok;
  },
});

/** The copy in force with all its pages, verified. */
const readCopy = async (client: DirectoryClient, isQuiet: boolean, runtime: Runtime): Promise<format.LoadedCopy> => {
  const { copy } = await readStatus(client);
  if (copy === null) return fail("error: no copy is in force; `waybill directory copy NAME` publishes one\n");
  const progress = startProgress({ label: "reading the copy", bytes: copy.bytes, isQuiet }, runtime);
  const get = async (path: string) =>
    (await client.insist({ method: "GET", path: `/-/copies/${copy.sha256}${path}` })).bytes;
  const header = await format.readCopyHeader(await get(""), sha256, copy.sha256);
  if (!header.ok) return fail(`error: the copy cannot be read: ${format.formatCopyFault(header.error)}\n`);
  const loaded = new format.LoadedCopy(header.value);
  const queue = loaded.pages.keys();
  const work = async (): Promise<void> => {
    for (const number of queue) {
      const bytes = await get(`/${number}`);
      const page = await format.readCopyPage(header.value, number, bytes, sha256);
      if (!page.ok) return fail(`error: the copy cannot be read: ${format.formatCopyFault(page.error)}\n`);
      loaded.pages[number] = page.value;
      progress.add(bytes.length);
    }
  };
  await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, work)).finally(progress.clear);
  return loaded;
};
