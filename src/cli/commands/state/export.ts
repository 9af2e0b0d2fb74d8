import { createHash } from "node:crypto";
import * as v from "valibot";
import {
  type ExportEnd,
  type ExportHeader,
  type ObjectEnd,
  type ObjectLine,
  STATE_FORMAT,
  type ValueLine,
} from "../../../formats/state-export.ts";
import { parseJson } from "../../../routing/schema/json-scanner.ts";
import { GATEWAY_HELP, readObject } from "../../client/http.ts";
import { command, required } from "../../command.ts";
import { countOf, escapeControls, startProgress } from "../../lib/output.ts";
import { EXIT, fail, type NewFile, type Runtime } from "../../runtime.ts";
import { nameOf, pathOf, STATE_OPTIONS, type StateClient, type StateObject, strange, withState } from "./client.ts";

const PAGE = v.object({
  rows: v.number(),
  next: v.optional(v.string()),
  changes: v.number(),
  alarm: v.nullable(v.number()),
});
const KEYS = v.object({ keys: v.array(v.string()) });

/** Its tables name each other: their rows must be of one moment. */
const TABLES_PART = "tables";

/** How often its rows are read again, where a table is published meanwhile. */
const TRIES_MAX = 3;

export const stateExport = command({
  name: "export",
  description:
    "write all that a gateway knows into one file: history, audit, sequences, idempotency keys, directories, figures",
  options: [required("--out <file>", "where to write it, for its owner alone; - for stdout"), ...STATE_OPTIONS],
  help: `
Examples:
  $ waybill state export --state /var/lib/waybill --out waybill.state
  $ waybill state export --gateway https://gw.example.com --out waybill.state

Of a stopped gateway (--state) the export is exact. Of a running one each object is of a moment of its own, in an order in which
nothing is given twice; docs/operate/moving.md says what a restored one lacks. It needs an operator's token.
The file has keys of clients and answers that they got: keep it as you keep the state.
${GATEWAY_HELP}
Exit code: 0.`,
  run: async (runtime, _, { out, ...options }) =>
    withState(options, false, runtime, async (client) => {
      const file = await openOutput(out, runtime);
      const progress = startProgress({ label: "export", bytes: 0 }, runtime);
      try {
        const sums = await runtime.guard(
          () =>
            writeExport({
              client,
              runtime,
              file,
              progress,
              hash: createHash("sha256"),
              sums: { objects: 0, rows: 0, values: 0 },
            }),
          "interrupted: there is no export\n",
        );
        await file.finish();
        progress.clear();
        runtime.report(
          `${countOf(sums.objects, "object")}, ${countOf(sums.rows, "row")}, ${countOf(sums.values, "value")} of KV\n`,
        );
        return EXIT.ok;
      } catch (error) {
        progress.clear();
        await file.discard();
        throw error;
      }
    }),
});

async function openOutput(path: string, runtime: Runtime): Promise<NewFile> {
  const nothing = async () => undefined;
  if (path === "-") return { write: runtime.print, finish: nothing, discard: nothing };
  const file = await runtime.createFile(path);
  return file.ok ? file.value : fail(`error: ${escapeControls(path)} cannot be written: ${file.error}\n`);
}

interface Export {
  readonly client: StateClient;
  readonly runtime: Runtime;
  readonly file: NewFile;
  readonly progress: ReturnType<typeof startProgress>;
  readonly hash: ReturnType<typeof createHash>;
  readonly sums: { objects: number; rows: number; values: number };
}

async function writeExport(to: Export) {
  const { client, runtime, sums } = to;
  const { deployment, parts } = await client.inventory();
  const header: ExportHeader = {
    waybill: "state",
    format: STATE_FORMAT,
    version: runtime.version,
    at: new Date(runtime.nowMs()).toISOString(),
    deployment,
    from: client.from,
    parts: parts.map(({ part }) => part),
  };
  await add(to, `${JSON.stringify(header)}\n`);
  for (const { part, objects } of parts) {
    for (const object of objects) await writeObject(to, { part, ...object });
    // Behind the history that names them: a pack that comes later belongs to a later table.
    if (part === TABLES_PART && objects.length > 0) await writeValues(to);
  }
  const end: ExportEnd = { end: "export", ...sums, sha256: to.hash.digest("hex") };
  await to.file.write(`${JSON.stringify(end)}\n`);
  return sums;
}

async function add({ file, hash, progress }: Export, text: string, rows = 0): Promise<void> {
  hash.update(text);
  progress.add(text.length, rows);
  await file.write(text);
}

interface Page extends v.InferOutput<typeof PAGE> {
  readonly text: string;
}

async function readPage(client: StateClient, object: StateObject, from: string | undefined): Promise<Page> {
  const query: Readonly<Record<string, string>> = from === undefined ? {} : { from };
  const answer = await client.insist({ method: "GET", path: pathOf(object, "", query) });
  const page = v.safeParse(PAGE, parseJson(answer.header("waybill-page") ?? ""));
  return page.success ? { ...page.output, text: new TextDecoder().decode(answer.bytes) } : strange(client, answer);
}

/** An object without rows is left out. */
async function writeObject(to: Export, object: StateObject): Promise<void> {
  const first =
    object.part === TABLES_PART ? await firstOfStill(to, object) : await readPage(to.client, object, undefined);
  if (first.rows === 0 && first.next === undefined) return;
  const { id, part, name } = object;
  const line: ObjectLine = { object: id, part, name };
  await add(to, `${JSON.stringify(line)}\n`);
  const hash = createHash("sha256");
  let rows = 0;
  let page = first;
  for (;;) {
    hash.update(page.text);
    rows += page.rows;
    await add(to, page.text, page.rows);
    if (page.next === undefined) break;
    page = await readPage(to.client, object, page.next);
  }
  const isChanged = page.changes !== first.changes;
  if (isChanged && part === TABLES_PART)
    fail(`error: ${nameOf(object)} was changed while it was read; run the command again\n`);
  const end: ObjectEnd = {
    end: "object",
    rows,
    sha256: hash.digest("hex"),
    alarm: first.alarm,
    ...(isChanged && { changed: true }),
  };
  await add(to, `${JSON.stringify(end)}\n`);
  to.sums.objects += 1;
  to.sums.rows += rows;
}

/** Reads all pages once before, until nothing changes meanwhile: what is written cannot be taken back. */
async function firstOfStill({ client, runtime }: Export, object: StateObject): Promise<Page> {
  for (let tries = 1; ; tries++) {
    const first = await readPage(client, object, undefined);
    let page = first;
    while (page.next !== undefined) page = await readPage(client, object, page.next);
    if (page.changes === first.changes || tries === TRIES_MAX) return first;
    await runtime.pause(1_000);
  }
}

async function writeValues(to: Export): Promise<void> {
  const { client, sums } = to;
  const answer = await client.insist({ method: "GET", path: "/-/state/values" });
  const listed = v.safeParse(KEYS, readObject(answer.bytes));
  if (!listed.success) return strange(client, answer);
  for (const value of listed.output.keys) {
    const read = await client.ask({ method: "GET", path: `/-/state/values/${encodeURIComponent(value)}` });
    // A page of a pack that KV lacks: its table is not served with it here either.
    if (!read.ok && read.error.reason === "problem" && read.error.problem.status === 404) continue;
    const { bytes } = read.ok ? read.value : await client.insist({ method: "GET", path: `/-/state/values/${value}` });
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const line: ValueLine = { value, sha256, base64: Buffer.from(bytes).toString("base64") };
    await add(to, `${JSON.stringify(line)}\n`);
    sums.values += 1;
  }
}
