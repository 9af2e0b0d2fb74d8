import { createHash } from "node:crypto";
import { InvalidArgumentError } from "commander";
import { type ExportHeader, ROWS_BYTES_MAX } from "../../../formats/state-export.ts";
import { formatFailure, GATEWAY_HELP, type GatewayFailure, readObject } from "../../client/http.ts";
import { command, option } from "../../command.ts";
import { openInput } from "../../lib/input.ts";
import { counted, countOf, escapeControls, formatCount, startProgress } from "../../lib/output.ts";
import { EXIT, fail, misuse, type Runtime } from "../../runtime.ts";
import { nameOf, pathOf, STATE_OPTIONS, type StateClient, type StateObject, takeStep, withState } from "./client.ts";
import { type Entry, readExport } from "./file.ts";

/** Rows of one request: with another row still below the limit. */
const SENT_BYTES = ROWS_BYTES_MAX / 4;

const STEPS_AT_ONCE = 4;

/** Numbers that a sequence of a running gateway may have given since its export, unless --sequence-gap says more. */
const GAP_DEFAULT = 1_000_000;
const GAP_MAX = 2 ** 47;

const wholeGap = (text: string): number => {
  if (/^\d{1,15}$/.test(text) && Number(text) <= GAP_MAX) return Number(text);
  throw new InvalidArgumentError(`A whole number, at most ${GAP_MAX}.`);
};

export const stateImport = command({
  name: "import",
  description: "write an export into a gateway that is empty; an import that was interrupted goes on",
  args: [["<file>", "as `waybill state export --out FILE` writes it"]],
  options: [
    option("--sequence-gap <count>", "numbers that each counted sequence leaves out", wholeGap),
    option("--discard", "give an interrupted import of this file up: what it wrote is removed"),
    ...STATE_OPTIONS,
  ],
  help: `
Examples:
  $ waybill state import waybill.state --state /var/lib/waybill
  $ waybill state import waybill.state --gateway https://s1:8787

The whole file is checked before anything is written. Nothing of it is served before all of it is written, read back and
compared. An object with contents of its own is never written into; a table that the start of an empty gateway published, and
its figures, make way.
An export of a running gateway leaves out ${formatCount(GAP_DEFAULT)} numbers of each counted sequence, because the gateway went on minting: with
--sequence-gap 0 no request came behind the export. After an export of a stopped gateway the next number follows directly.
${GATEWAY_HELP}
Exit code: 0.`,
  run: async (runtime, [path = ""], { sequenceGap, discard, ...options }) => {
    if (path === "-") misuse("error: the file is read twice, so it cannot come from stdin\n");
    const file = await checkFile(path, runtime);
    const gap = sequenceGap ?? (file.header.from === "running" ? GAP_DEFAULT : 0);
    // With another gap it is another import: half of each would be in no file.
    const id = createHash("sha256").update(`${file.sha256} ${gap}`).digest("hex");
    return withState(options, true, runtime, async (client) => {
      const run: Import = { client, runtime, file, gap, id, path };
      const farewell = "interrupted: run the same command again to go on, or with --discard to give it up\n";
      await runtime.guard(() => (discard ? discardAll(run) : importAll(run)), farewell);
      return EXIT.ok;
    });
  },
});

interface CheckedFile {
  readonly header: ExportHeader;
  readonly objects: readonly StateObject[];
  readonly rows: number;
  readonly values: number;
  readonly sha256: string;
}

/** Reads the whole file, and ends the command if it is not whole. */
export async function checkFile(path: string, runtime: Runtime): Promise<CheckedFile> {
  const objects: StateObject[] = [];
  let header: ExportHeader | undefined;
  let end: Extract<Entry, { readonly kind: "end" }>["end"] | undefined;
  for await (const entry of entriesOf(path, `checking ${path}`, runtime)) {
    if (entry.kind === "header") header = entry.header;
    if (entry.kind === "object") objects.push(entry.object);
    if (entry.kind === "end") end = entry.end;
  }
  if (header === undefined || end === undefined) throw new Error("an export was read without its end");
  const { rows, values, sha256 } = end;
  return { header, objects, rows, values, sha256 };
}

export async function* entriesOf(path: string, label: string, runtime: Runtime): AsyncGenerator<Entry> {
  const { name, bytes, chunks } = await openInput(path, runtime);
  const progress = startProgress({ label: escapeControls(label), bytes }, runtime);
  try {
    yield* readExport(name, counted(chunks, progress));
  } finally {
    progress.clear();
  }
}

interface Import {
  readonly client: StateClient;
  readonly runtime: Runtime;
  readonly file: CheckedFile;
  readonly gap: number;
  readonly id: string;
  readonly path: string;
}

/** Claims all objects, fills and verifies one after the other, and lets all of them serve at the end. */
async function importAll(run: Import): Promise<void> {
  const { client, runtime, file } = run;
  await checkParts(run);
  const steps = await claimAll(run);
  const values = await fill(run, steps);
  await eachObject(file.objects, async (object) => insistStep(client, object, "release", { import: run.id }));
  if (client.from === "running") await untilInForce(run);
  const before = [...steps.values()].filter((step) => step !== "claimed").length;
  const skipped = before === 0 ? "" : `, ${formatCount(before)} of them before`;
  const written = [
    `${countOf(file.objects.length, "object")}${skipped}`,
    countOf(file.rows, "row"),
    `${countOf(values, "value")} of KV`,
  ];
  runtime.report(`${written.join(", ")}: written, read back and equal\n`);
  if (run.gap > 0) runtime.report(`each counted sequence leaves out ${countOf(run.gap, "number")}\n`);
}

const IN_FORCE_PAUSE_MS = 500;
const IN_FORCE_TRIES = 120;

/** The control plane writes the imported table to KV by itself. */
async function untilInForce({ client, runtime }: Import): Promise<void> {
  for (let tries = 0; tries < IN_FORCE_TRIES; tries++) {
    const answer = await client.insist({ method: "GET", path: "/-/table/status" });
    if (readObject(answer.bytes)?.["pending"] === false) return;
    await runtime.pause(IN_FORCE_PAUSE_MS);
  }
  fail("error: all is imported, but KV does not have the table yet; `waybill table status --wait` says more\n");
}

async function checkParts({ client, file }: Import): Promise<void> {
  const known = new Set((await client.inventory()).parts.map(({ part }) => part));
  const unknown = file.header.parts.filter(
    (part) => !known.has(part) && file.objects.some((object) => object.part === part),
  );
  if (unknown.length === 0) return;
  const wrote = `version ${escapeControls(file.header.version)} wrote the file`;
  fail(
    `error: this gateway has no part ${unknown.map(escapeControls).join(", ")}: ${wrote}. Update the gateway first.\n`,
  );
}

async function eachObject(
  objects: readonly StateObject[],
  work: (object: StateObject) => Promise<unknown>,
): Promise<void> {
  const queue = objects.values();
  const next = async (): Promise<void> => {
    for (const object of queue) await work(object);
  };
  await Promise.all(Array.from({ length: STEPS_AT_ONCE }, next));
}

type Steps = ReadonlyMap<StateObject, string>;

/** From then on no object serves. Where one cannot be had, none is kept: nothing was written. */
async function claimAll(run: Import): Promise<Steps> {
  const { client, file, id } = run;
  const steps = new Map<StateObject, string>();
  let refused: { readonly object: StateObject; readonly failure: GatewayFailure } | undefined;
  await eachObject(file.objects, async (object) => {
    if (refused !== undefined) return;
    const step = await takeStep(client, object, "claim", { import: id });
    if (step.ok) steps.set(object, step.value);
    else refused ??= { object, failure: step.error };
  });
  if (refused === undefined) return steps;
  for (const object of steps.keys()) await takeStep(client, object, "discard", { import: id });
  return fail(`${formatFailure(client.url, refused.failure)}  at ${nameOf(refused.object)}; nothing was imported\n`);
}

async function insistStep(client: StateClient, object: StateObject, step: string, body: object): Promise<string> {
  const taken = await takeStep(client, object, step, body);
  if (taken.ok) return taken.value;
  return fail(`${formatFailure(client.url, taken.error)}  at ${nameOf(object)}\n`);
}

/** The second reading. What is whole is passed over. Returns the number of values. */
async function fill(run: Import, steps: Steps): Promise<number> {
  const { client, file, path, runtime } = run;
  const byKey = new Map([...steps].map(([{ part, id }, step]) => [`${part} ${id}`, step]));
  let values = 0;
  let filling: Filling | undefined;
  for await (const entry of entriesOf(path, path, runtime)) {
    switch (entry.kind) {
      case "object":
        filling =
          byKey.get(`${entry.object.part} ${entry.object.id}`) === "claimed"
            ? startFilling(run, entry.object)
            : undefined;
        break;
      case "table":
        await filling?.table(entry);
        break;
      case "row":
        await filling?.row(entry);
        break;
      case "object-end":
        await filling?.end(entry);
        filling = undefined;
        break;
      case "value": {
        const request = {
          method: "PUT",
          path: `/-/state/values/${encodeURIComponent(entry.key)}`,
          body: entry.bytes,
        } as const;
        await client.insist(request);
        values += 1;
        break;
      }
      case "end":
        if (entry.end.sha256 !== file.sha256) fail(`error: ${escapeControls(path)} was changed while it was read\n`);
        break;
    }
  }
  return values;
}

type EntryOf<Kind> = Extract<Entry, { readonly kind: Kind }>;

interface Filling {
  table(entry: EntryOf<"table">): Promise<void>;
  row(entry: EntryOf<"row">): Promise<void>;
  end(entry: EntryOf<"object-end">): Promise<void>;
}

/** Sends the rows of one object in parts, and has them compared at its end. */
function startFilling({ client, id, gap }: Import, object: StateObject): Filling {
  const hash = createHash("sha256");
  const skip = gap > 0 && object.part === "sequences" ? sequenceSkipper(gap) : undefined;
  let part = 0;
  let head = "";
  let lines = "";
  let bytes = 0;
  let name = "";
  let columns: readonly string[] = [];
  const flush = async (): Promise<void> => {
    if (bytes === 0) return;
    const path = pathOf(object, `/rows/${part}`, { import: id });
    await client.insist({ method: "PUT", path, body: lines });
    part += 1;
    lines = head;
    bytes = 0;
  };
  return {
    async table({ table, line }) {
      hash.update(`${line}\n`);
      head = `${line}\n`;
      name = table.table;
      columns = table.columns;
      lines += head;
      bytes += Buffer.byteLength(head);
    },
    async row({ cells, line }) {
      const written = skip === undefined ? line : JSON.stringify(skip(name, columns, cells));
      hash.update(`${written}\n`);
      lines += `${written}\n`;
      bytes += Buffer.byteLength(written) + 1;
      if (bytes >= SENT_BYTES) await flush();
    },
    async end({ tables, end: { alarm } }) {
      await flush();
      const body = { import: id, tables: tables.map(({ table, columns: all }) => ({ table, columns: all })), alarm };
      await insistStep(client, object, "verify", { ...body, sha256: hash.digest("hex") });
    },
  };
}

/** The rows of a sequence with its next number so much later. One that follows the time is ahead of the export by itself. */
function sequenceSkipper(gap: number) {
  let step = 1;
  return (table: string, columns: readonly string[], cells: readonly unknown[]): readonly unknown[] => {
    const at = (name: string) => columns.indexOf(name);
    // Others give the numbers between. This table comes first.
    if (table === "interleaved") step = Number(cells[at("parts")]) || 1;
    if (table !== "sequence" || cells[at("is_timed")] === 1) return cells;
    return cells.map((cell, index) => (index === at("next") ? Number(cell) + gap * step : cell));
  };
}

async function discardAll({ client, runtime, file, id }: Import): Promise<void> {
  const kept: StateObject[] = [];
  let removed = 0;
  await eachObject(file.objects, async (object) => {
    const step = await insistStep(client, object, "discard", { import: id });
    if (step === "empty") removed += 1;
    else kept.push(object);
  });
  runtime.report(`${countOf(removed, "object")} empty\n`);
  const [first] = kept;
  if (first !== undefined)
    fail(
      `error: ${countOf(kept.length, "object")} stay, such as ${nameOf(first)}: they serve, or have contents of their own\n`,
    );
}
