import { err, ok, type Result } from "../../ids/index.ts";
import type { TableRevision } from "../../published/table-api.ts";
import { checkTable, type Fault } from "../../routing/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { escapeControls } from "../lib/output.ts";
import {
  checkText,
  formatTableError,
  readTableFile,
  reportTableError,
  type TableFile,
  type TableFileError,
} from "../lib/table-file.ts";
import type { Runtime } from "../runtime.ts";
import { type GatewayClient, openGateway } from "./client.ts";
import { formatFailure, type GatewayOptions } from "./http.ts";

/** A published table. */
export interface PublishedTable<Table> extends TableFile<Table> {
  readonly revision: number;
}

/** Reads and validates a revision; without a number, the current one. The error is for stderr. */
export const readRevision = async <Table>(
  gateway: GatewayClient,
  revision: number | undefined,
  check: (json: unknown) => Result<Table, readonly Fault[]>,
): Promise<Result<PublishedTable<Table>, string>> => {
  const text = await gateway.text(revision);
  if (!text.ok) return err(formatFailure(gateway.url, text.error));
  const { bytes, digest } = text.value;
  const name = `revision ${text.value.revision}`;
  const table = checkText(bytes, check);
  if (table.ok) return ok({ name, revision: text.value.revision, digest, bytes, table: table.value });
  const why = `  ${gateway.url} serves it, so the versions of this command and the gateway differ: use the gateway's version\n`;
  return err(formatTableError({ reason: "faulty", name, faults: table.error }) + why);
};

export const readInForce = (gateway: GatewayClient): Promise<Result<PublishedTable<DeclaredTable>, string>> =>
  readRevision(gateway, undefined, checkTable);

/** The history entry of a revision. The error is for stderr. */
export const readRecord = async (gateway: GatewayClient, revision: number): Promise<Result<TableRevision, string>> => {
  const listed = await gateway.revisions({ before: revision + 1, limit: 1 });
  if (!listed.ok) return err(formatFailure(gateway.url, listed.error));
  const [record] = listed.value;
  return record?.revision === revision ? ok(record) : err(`error: the history has no revision ${revision}\n`);
};

/** A table to be compared. */
export interface TableSource<Table> extends TableFile<Table> {
  /** Absent for a file. */
  readonly revision?: number;
}

export const SOURCE_HELP = "A number is a revision at the gateway; write ./41 for a file of that name.";

/** Digits alone are always a revision number, even if such a file exists. */
export const isRevision = (word: string): boolean => /^\d{1,15}$/.test(word);

/** Reads a file or a revision. The error is one of a file, or sentences for stderr. */
export const readTableSource = async <Table>(
  word: string,
  options: GatewayOptions,
  runtime: Runtime,
  check: (json: unknown) => Result<Table, readonly Fault[]>,
): Promise<Result<TableSource<Table>, TableFileError | string>> => {
  if (!isRevision(word)) return readTableFile(word, runtime, check);
  const gateway = openGateway(options, runtime);
  if (gateway.ok) return readRevision(gateway.value, Number(word), check);
  return err(`${gateway.error}  ${escapeControls(word)} was read as a revision number; write ./${word} for a file\n`);
};

export const reportSourceError = async (
  error: TableFileError | string,
  json: boolean,
  runtime: Runtime,
): Promise<void> => {
  if (typeof error === "string") runtime.report(error);
  else await reportTableError(error, json, runtime);
};
