import type { ImportStatus, ImportStep, TableLine } from "../../formats/state-export.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { MoveAnswers, MoveCall, MovedRows, RowCursor, RowsDigest, RowsPage } from "../../ports/moving.ts";
import { parseJson } from "../../routing/schema/json-scanner.ts";
import type { Env } from "../env.ts";
import { systemClock } from "../platform.ts";
import {
  cursorFault,
  digestOf,
  hasRows,
  hasTable,
  IMPORT_TABLE,
  insertRows,
  readPage,
  type Sql,
  tablesOf,
  wipe,
} from "./rows.ts";

/** An import of one object, and its export. */

interface MovingObject {
  readonly context: DurableObjectState;
  readonly env: Env;
  readonly rows: MovedRows;
  /** Has the implementation, if it serves. */
  readonly holder: { object: object | undefined };
  /** Makes an implementation, and with it the tables of this version. */
  readonly make: () => Promise<object>;
}

/** Optional members of an implementation. */
interface Moved {
  /** Its beginning has ended. */
  readonly ready?: Promise<void>;
  /** Its rows are whole; it serves from now on. */
  imported?(): Promise<void>;
}

async function made({ make }: MovingObject): Promise<Moved> {
  const object: Moved = await make();
  await object.ready;
  return object;
}

/** It serves from now on, unless a state is only moved. */
function serve({ env, holder }: MovingObject, implementation: object): void {
  if (env.STATE_MOVES === undefined) holder.object = implementation;
}

type Refused = Result<never, string>;
type Claim = { readonly import: string; readonly step: "claimed" | "whole" | "done"; readonly part: number };

const SCHEMA = `CREATE TABLE IF NOT EXISTS ${IMPORT_TABLE} (
  id INTEGER PRIMARY KEY CHECK (id = 0), import TEXT NOT NULL, step TEXT NOT NULL, part INTEGER NOT NULL, alarm INTEGER)`;

/** Alarms in the past run at once. */
const ALARM_MS = 1_000;

/** Whether an import has begun in an object, and has not ended. */
export const isClaimed = ({ storage }: DurableObjectState): boolean =>
  (claimOf(storage.sql)?.step ?? "done") !== "done";

const HELD_MS = 5_000;

/** A call of an object without its implementation. Its alarm comes later. */
export function held({ storage }: DurableObjectState, method: string): Promise<void> {
  if (method === "alarm") return storage.setAlarm(systemClock.nowMs() + HELD_MS);
  throw new Error("a state is being imported into this object: waybill state import has not ended");
}

const claimOf = (sql: Sql): Claim | undefined =>
  hasTable(sql, IMPORT_TABLE)
    ? sql.exec<Claim>(`SELECT import, step, part FROM ${IMPORT_TABLE}`).toArray()[0]
    : undefined;

/**
 * | step    | `claim`                    | `write`   | `verify`  | `release` | `discard` |
 * |---------|----------------------------|-----------|-----------|-----------|-----------|
 * | empty   | → claimed                  | refused   | refused   | refused   | empty     |
 * | used    | refused                    | refused   | refused   | refused   | used      |
 * | claimed | → claimed, without rows    | more rows | → whole   | refused   | → empty   |
 * | whole   | whole                      | refused   | whole     | → done    | → empty   |
 * | done    | done; of another: refused  | refused   | refused   | done      | done      |
 *
 * Another import than the one that has the object is refused in each. A done object with other rows since is still done: it serves.
 */
export async function moveObject<Call extends MoveCall>(
  object: MovingObject,
  call: Call,
): Promise<Result<MoveAnswers[Call["do"]], string>> {
  const handle = HANDLERS[call.do] as (of: MovingObject, order: Call) => unknown;
  return (await handle(object, call)) as Result<MoveAnswers[Call["do"]], string>;
}

type Handlers = {
  readonly [Do in MoveCall["do"]]: (
    object: MovingObject,
    call: Extract<MoveCall, { readonly do: Do }>,
  ) => Result<MoveAnswers[Do], string> | Promise<Result<MoveAnswers[Do], string>>;
};

const tablesIn = ({ context, rows }: MovingObject) => tablesOf(context.storage.sql, rows.derived ?? []);

const HANDLERS: Handlers = {
  status: (object) => ok(statusOf(object)),
  read: (object, call) => read(object, call.from),
  digest: (object, call) => digestOf(object.context.storage.sql, tablesIn(object), call.tables),
  claim: (object, call) => claim(object, call.import),
  write: (object, call) => owned(object, call.import, ["claimed"]) ?? write(object, call.part, call.lines),
  verify: (object, call) => owned(object, call.import, ["claimed", "whole"]) ?? verify(object, call),
  release: (object, call) => owned(object, call.import, ["whole", "done"]) ?? release(object, call.import),
  discard: (object, call) => discard(object, call.import),
};

async function read(object: MovingObject, from: RowCursor | undefined): Promise<Result<RowsPage, string>> {
  const { storage } = object.context;
  if (isClaimed(object.context)) return err("the object is being imported: finish that import, or discard it");
  const tables = tablesIn(object);
  const fault = from && cursorFault(tables, from);
  if (fault !== undefined) return err(fault);
  const alarm = await storage.getAlarm();
  return ok({ ...readPage(storage.sql, tables, from), alarm });
}

function statusOf({ context: { storage }, rows }: MovingObject): ImportStatus {
  const { sql } = storage;
  const claimed = claimOf(sql);
  if (claimed !== undefined) return { step: claimed.step, import: claimed.import };
  const tables = tablesOf(sql, [...(rows.derived ?? []), ...(rows.aside ?? [])]);
  const isUsed = hasRows(sql, tables) && (rows.contents === undefined || sql.exec(rows.contents).toArray().length > 0);
  return { step: isUsed ? "used" : "empty" };
}

/** Why an import does not have the object; `undefined` if it does. */
function owned(object: MovingObject, id: string, steps: readonly ImportStep[]): Refused | undefined {
  const status = statusOf(object);
  if (status.import === id && steps.includes(status.step)) return undefined;
  return err(refusalOf(status, id));
}

function refusalOf({ step, import: other }: ImportStatus, id: string): string {
  if (step === "used" || (step === "done" && other !== id))
    return "the object has contents: a state is imported into an empty gateway alone";
  if (other !== undefined && other !== id)
    return "another file is being imported into the object: go on with that one, or discard it";
  if (step === "whole" || step === "done") return "the object is whole: it takes no more rows of this import";
  return step === "claimed" ? "the object's rows are not verified yet" : "no import has begun in the object";
}

/** A serving object ends: its next call finds the claim, and not the implementation with what that has in memory. */
async function claim(object: MovingObject, id: string): Promise<Result<ImportStatus, string>> {
  const { context, holder } = object;
  const { sql } = context.storage;
  const status = statusOf(object);
  if (status.import === id && status.step !== "claimed") return ok(status);
  if (status.step !== "empty" && status.import !== id) return err(refusalOf(status, id));
  context.storage.transactionSync(() => {
    sql.exec(SCHEMA);
    sql.exec(`INSERT OR REPLACE INTO ${IMPORT_TABLE} (id, import, step, part) VALUES (0, ?, 'claimed', 0)`, id);
  });
  if (holder.object !== undefined) return end(context);
  wipeRows(object);
  await made(object);
  // An implementation begins with rows of its own.
  wipeRows(object);
  return ok({ step: "claimed", import: id });
}

function wipeRows({ context: { storage } }: MovingObject): void {
  storage.transactionSync(() => wipe(storage.sql));
}

/** Rows come in parts of a file, each once: a repeated part is there already. */
function write(object: MovingObject, part: number, lines: string): Result<ImportStatus, string> {
  const { storage } = object.context;
  const { sql } = storage;
  const { part: next, import: id } = claimOf(sql) as Claim;
  const status = { step: "claimed", import: id } as const;
  if (part < next) return ok(status);
  if (part > next) return err(`part ${next} of the rows was not sent`);
  const fault = undone(storage, () => {
    const why = writeLines(sql, tablesIn(object), lines);
    if (why === undefined) sql.exec(`UPDATE ${IMPORT_TABLE} SET part = part + 1`);
    return why;
  });
  return fault === undefined ? ok(status) : err(fault);
}

/** A transaction that is taken back if it gives a fault. */
function undone(storage: DurableObjectStorage, work: () => string | undefined): string | undefined {
  let fault: string | undefined;
  try {
    storage.transactionSync(() => {
      fault = work();
      if (fault !== undefined) throw new Error(fault);
    });
  } catch (error) {
    if (fault === undefined) throw error;
  }
  return fault;
}

/** The first line names a table; a later one may name the next. */
function writeLines(sql: Sql, own: ReturnType<typeof tablesOf>, lines: string): string | undefined {
  let table: TableLine | undefined;
  let rows: unknown[] = [];
  const flush = () => (table === undefined || rows.length === 0 ? undefined : insertRows(sql, own, table, rows));
  for (const line of lines.split("\n")) {
    if (line === "") continue;
    const json = parseJson(line);
    if (Array.isArray(json)) {
      if (table === undefined) return "rows came before the name of their table";
      rows.push(json);
      continue;
    }
    const named = readTableLine(json);
    if (named === undefined) return "a line is neither a table nor a row";
    const fault = flush();
    if (fault !== undefined) return fault;
    table = named;
    rows = [];
  }
  return flush();
}

/** `undefined` for another line. */
function readTableLine(json: unknown): TableLine | undefined {
  const { table, columns } = Object(json) as { readonly table?: unknown; readonly columns?: unknown };
  const isList = Array.isArray(columns) && columns.every((column) => typeof column === "string");
  return typeof table === "string" && isList ? { table, columns } : undefined;
}

async function verify(
  object: MovingObject,
  { tables, sha256, alarm, import: id }: Extract<MoveCall, { readonly do: "verify" }>,
): Promise<Result<ImportStatus, string>> {
  const { sql } = object.context.storage;
  const found: Result<RowsDigest, string> = await digestOf(sql, tablesIn(object), tables);
  if (!found.ok) return found;
  if (found.value.sha256 !== sha256) return err("the rows that were written differ from those of the file");
  sql.exec(`UPDATE ${IMPORT_TABLE} SET step = 'whole', alarm = ?`, alarm);
  return ok({ step: "whole", import: id });
}

async function release(object: MovingObject, id: string): Promise<Result<ImportStatus, string>> {
  const { context } = object;
  const { storage } = context;
  const status = { step: "done", import: id } as const;
  if (claimOf(storage.sql)?.step === "done") return ok(status);
  const implementation = await made(object);
  await implementation.imported?.();
  const { alarm } = storage.sql.exec<{ alarm: number | null }>(`SELECT alarm FROM ${IMPORT_TABLE}`).one();
  if (alarm !== null) await storage.setAlarm(Math.max(alarm, systemClock.nowMs() + ALARM_MS));
  storage.sql.exec(`UPDATE ${IMPORT_TABLE} SET step = 'done'`);
  serve(object, implementation);
  return ok(status);
}

async function discard(object: MovingObject, id: string): Promise<Result<ImportStatus, string>> {
  const { context } = object;
  const status = statusOf(object);
  if (status.import !== id || status.step === "done") return ok(status);
  wipeRows(object);
  await context.storage.deleteAlarm();
  context.storage.sql.exec(`DROP TABLE ${IMPORT_TABLE}`);
  serve(object, await made(object));
  return ok({ step: "empty" });
}

/** Ends the object once all is on disk. The next one finds the claim. */
async function end(context: DurableObjectState): Promise<never> {
  await context.storage.sync();
  context.abort(ENDED);
  throw new Error(ENDED);
}

export const ENDED = "the object begins anew";
