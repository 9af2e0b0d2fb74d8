import * as v from "valibot";
import { keyOf } from "../../../features/directory/table/compile.ts";
import { readRow } from "../../../features/directory/table/row.ts";
import { shardOf } from "../../../features/directory/table/shard.ts";
import { groupBy } from "../../../routing/layouts/plan.ts";
import { GATEWAY_HELP, GATEWAY_OPTIONS } from "../../client/http.ts";
import { command, option } from "../../command.ts";
import { linesOf, openInput } from "../../lib/input.ts";
import { findLayout, knownLayouts } from "../../lib/layouts.ts";
import { counted, countOf, escapeControls, formatCount, jsonText, startProgress } from "../../lib/output.ts";
import { EXIT, fail, type Runtime } from "../../runtime.ts";
import { type DirectoryClient, linesIn, openDirectory, openState } from "./client.ts";

/** Rows read before they are sent, by shards: a call of an object then has two thousand of them instead of a handful. */
const BLOCK_ROWS = 400_000;
const BLOCK_LENGTH = 128 * 1024 * 1024;

/** Rows of one request: a window of the gateway. */
const REQUEST_ROWS = 20_000;
const REQUEST_LENGTH = 3 * 1024 * 1024;

const REQUESTS_AT_ONCE = 3;

/** Faults that are listed. */
const FAULTS_SHOWN = 100;

/** How often a request may end without a row done. */
const IDLE_MAX = 5;
const IDLE_PAUSE_MS = 4_000;

const COUNTS = ["added", "unchanged", "replaced", "conflicts", "faults"] as const;
type Sums = Record<(typeof COUNTS)[number], number>;

const STATE = v.object({ command: v.literal("import"), place: v.string(), file: v.string(), lines: v.number() });

/** A later gateway may send more. */
const ANSWER_LINE = v.union([
  v.object({ fault: v.object({ line: v.number(), why: v.string() }) }),
  v.object({ conflict: v.object({ line: v.number(), key: v.string() }) }),
  v.object({
    lines: v.number(),
    added: v.number(),
    unchanged: v.number(),
    replaced: v.number(),
    conflicts: v.number(),
    faults: v.number(),
    done: v.optional(v.boolean()),
    why: v.optional(v.string()),
  }),
]);

type LastLine = Partial<Sums> & {
  readonly lines: number;
  readonly done?: boolean | undefined;
  readonly why?: string | undefined;
};

type Line = { readonly text: string; readonly line: number; readonly shard: number };

export const directoryImport = command({
  name: "import",
  description: "import rows of NDJSON: each a key, its region and, if known, the entity that owns it",
  args: [
    ["<directory>", "as the table names it"],
    ["<file>", 'lines such as {"key":"ada","region":"eu","owner":"42"}; - reads them from stdin'],
  ],
  options: [
    option("--replace", "overwrite keys that are there with another region or owner"),
    option("--dry-run", "send and check all rows, count what they would do, and write none"),
    option("--resume <file>", "keep the progress in this file, and go on from it if it is there"),
    option("--json", "conflicts, faults and the sums as lines of JSON; no progress"),
    ...GATEWAY_OPTIONS,
  ],
  help: `
Examples:
  $ waybill directory import slug slugs.ndjson --dry-run
  $ waybill directory import slug slugs.ndjson --resume slugs.state
  $ psql -At -c "SELECT json_build_object('key', slug, 'region', region) FROM shops" | waybill directory import slug -

A row that is there already counts as unchanged: an import may be repeated. A key that is there with another region or owner
stays as it is and is reported, unless --replace. Rows of one key are written in the order of the file. A row with a fault is
left out; the first ${FAULTS_SHOWN} are listed. The table names the regions and normalises the keys.
${GATEWAY_HELP}
Exit code: 0; 1 if a row has a fault; 2 if a key conflicts and no row has a fault.`,
  run: async (runtime, [directory = "", path = ""], options) => {
    const client = openDirectory(directory, options, runtime);
    const first = { command: "import", place: client.place, file: path, lines: 0 } as const;
    const isSame = (other: typeof first | v.InferOutput<typeof STATE>) =>
      other.place === first.place && other.file === first.file;
    const { state, save } = openState(options.resume, STATE, first, isSame, runtime);
    const query = [options.replace && "replace=true", options.dryRun && "dry-run=true"].filter(Boolean).join("&");
    const { name, bytes, chunks } = await openInput(path, runtime);
    const file = escapeControls(name);
    const progress = startProgress({ label: file, bytes, isQuiet: options.json === true }, runtime);
    const sums: Sums = { added: 0, unchanged: 0, replaced: 0, conflicts: 0, faults: 0 };
    let reports: Report[] = [];
    let shown = 0;
    const tell = (report: Report): void => void reports.push(report);
    const showAll = async (): Promise<void> => {
      if (reports.length > 0) progress.clear();
      for (const { line, message, members } of reports.toSorted((a, b) => a.line - b.line)) {
        if ("fault" in members && ++shown > FAULTS_SHOWN) continue;
        const text = escapeControls(`${name}:${line}: ${message}`);
        await runtime.print(options.json ? jsonText({ line, ...members }) : `${text}\n`);
      }
      reports = [];
    };
    const endpoint = `/-/import${query === "" ? "" : `?${query}`}`;
    const sending = { client, path: endpoint, sums, tell, runtime };
    const shardOfKey = await sharder(client, directory);
    let lines = 0;
    const importAll = async (): Promise<void> => {
      let block: Line[] = [];
      let length = 0;
      const flush = async (): Promise<void> => {
        const jobs = shardOfKey === undefined ? [requestsOf(block)] : jobsOf(block);
        try {
          await sendJobs(sending, jobs);
        } finally {
          await showAll();
        }
        block = [];
        length = 0;
        // Unwritten rows are read again: the rows before them are unchanged then.
        if (options.dryRun !== true && sums.faults + sums.conflicts === 0) save({ ...first, lines });
      };
      for await (const text of linesOf(counted(chunks, progress))) {
        lines++;
        if (lines <= state.lines) continue;
        if (!text.ok) fail(`error: ${file}: line ${text.error} is too long for a row\n`);
        else if (text.value.trim() !== "") {
          const row = readRow(text.value);
          if (row.ok) {
            block.push({ text: text.value, line: lines, shard: shardOfKey?.(row.value.key) ?? 0 });
            length += text.value.length;
          } else {
            sums.faults++;
            tell({ line: lines, message: row.error, members: { fault: row.error } });
          }
        }
        if (block.length >= BLOCK_ROWS || length >= BLOCK_LENGTH) await flush();
      }
      await flush();
    };
    const farewell =
      options.resume === undefined
        ? "interrupted: what was written stays; run the same command again, rows that are there count as unchanged\n"
        : "interrupted: what was written stays; run the same command again to go on\n";
    await runtime.guard(() => importAll().finally(progress.clear), farewell);
    const others = sums.faults - Math.min(shown, FAULTS_SHOWN);
    if (!options.json && others > 0) {
      await runtime.print(`${escapeControls(name)}: and ${countOf(others, "more row", "more rows")} with faults\n`);
    }
    if (options.json) await runtime.print(jsonText({ lines, ...sums, dryRun: options.dryRun === true }));
    else runtime.report(`${file}: ${formatSums(lines, state.lines, sums, options.dryRun === true)}\n`);
    return sums.faults > 0 ? EXIT.failed : sums.conflicts > 0 ? EXIT.differs : EXIT.ok;
  },
});

const formatSums = (lines: number, skipped: number, sums: Sums, isDry: boolean): string => {
  const before = skipped === 0 ? "" : `, ${formatCount(skipped)} of them before`;
  // A gateway of a former version does not read the directory in a dry run.
  const isKnown = !isDry || COUNTS.some((name) => name !== "faults" && sums[name] > 0);
  const parts = (isKnown ? COUNTS : (["faults"] as const)).map((name) => {
    return sums[name] === 1 ? `1 ${name.replace(/s$/, "")}` : `${formatCount(sums[name])} ${name}`;
  });
  const end = `; nothing was written${isKnown ? "" : ", and additions and conflicts are not known"}`;
  return `${countOf(lines, "line")}${before}: ${parts.join(", ")}${isDry ? end : ""}`;
};

/** `members`: as JSON shows it. */
type Report = {
  readonly line: number;
  readonly message: string;
  readonly members: { readonly fault: string } | { readonly conflict: string };
};

/** One import: where its rows are sent, and who gets the answers. */
interface Sending {
  readonly client: DirectoryClient;
  readonly path: string;
  readonly sums: Sums;
  readonly tell: (report: Report) => void;
  readonly runtime: Runtime;
}

/** The shard of a text's key. `undefined`: this command cannot tell which texts are one key. */
const sharder = async (client: DirectoryClient, directory: string): Promise<((text: string) => number) | undefined> => {
  const form = await client.keyForm();
  if (form === undefined) return undefined;
  const layout = "layout" in form ? findLayout(form.layout, knownLayouts(undefined)) : undefined;
  if (layout?.ok === false) return undefined;
  const plan = { form: "text" in form ? form.text : undefined, layout: layout?.value };
  return (text) => {
    const key = keyOf(plan, text);
    return shardOf({ directory, key: key.ok ? key.value : text });
  };
};

type Job = readonly (readonly Line[])[];

/** Sends jobs, a few at once; the requests of a job one after the other. */
const sendJobs = async (sending: Sending, jobs: readonly Job[]): Promise<void> => {
  const queue = jobs.values();
  const work = async (): Promise<void> => {
    for (const job of queue) {
      for (const rows of job) await sendRows(sending, rows);
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
};

/** Rows in their order, as many in a request as it may have. */
const requestsOf = (rows: readonly Line[]): Job => {
  const requests: Line[][] = [];
  let length = 0;
  for (const line of rows) {
    const last = requests.at(-1);
    length += line.text.length + 1;
    if (last !== undefined && last.length < REQUEST_ROWS && length <= REQUEST_LENGTH) last.push(line);
    else {
      requests.push([line]);
      length = line.text.length + 1;
    }
  }
  return requests;
};

/** A job has all rows of its shards in their order, and one request unless a shard has more: rows of one key never pass each other. */
const jobsOf = (block: readonly Line[]): readonly Job[] => {
  const shards = groupBy(block, ({ shard }) => shard);
  const jobs: Line[][] = [];
  let length = 0;
  for (const rows of shards.values()) {
    const last = jobs.at(-1);
    const more = rows.reduce((sum, { text }) => sum + text.length + 1, 0);
    if (last !== undefined && last.length + rows.length <= REQUEST_ROWS && length + more <= REQUEST_LENGTH) {
      for (const line of rows) last.push(line);
      length += more;
    } else {
      jobs.push([...rows]);
      length = more;
    }
  }
  return jobs.map((rows) => requestsOf(rows.toSorted((a, b) => a.line - b.line)));
};

/** Sends rows until the gateway has done all of them: a request that ends early says how many it did. */
const sendRows = async ({ client, path, sums, tell, runtime }: Sending, all: readonly Line[]): Promise<void> => {
  let rows = all;
  for (let idle = 0; rows.length > 0; ) {
    const body = rows.map(({ text }) => `${text}\n`).join("");
    const headers = { "content-type": "application/x-ndjson" };
    const answer = await client.insist({ method: "POST", path, headers, body });
    const at = (line: number): number => rows[line - 1]?.line ?? 0;
    let last: LastLine = { lines: 0 };
    for (const said of linesIn(client, answer, ANSWER_LINE)) {
      if ("fault" in said) {
        tell({ line: at(said.fault.line), message: said.fault.why, members: { fault: said.fault.why } });
      } else if ("conflict" in said) {
        const { line, key } = said.conflict;
        const row = readRow(rows[line - 1]?.text ?? "");
        const region = row.ok ? ` than ${row.value.region}` : "";
        const message = `key ${key} is there with another region${region}, or owner, or reserved; --replace overwrites it`;
        tell({ line: at(line), message, members: { conflict: key } });
      } else last = said;
    }
    for (const name of COUNTS) sums[name] += last[name] ?? 0;
    if (last.done === true) return;
    idle = last.lines > 0 ? 0 : idle + 1;
    if (idle > IDLE_MAX || /full/.test(last.why ?? "")) {
      fail(
        `error: ${escapeControls(client.url)} ended the import: ${escapeControls(last.why ?? "its answer broke off")}\n`,
      );
    }
    rows = rows.slice(last.lines);
    if (last.lines === 0) await runtime.pause(IDLE_PAUSE_MS * idle);
  }
};
