import type { Result } from "../../ids/index.ts";
import type { TableRevision } from "../../published/table-api.ts";
import { checkTable, type Fault } from "../../routing/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { escapeControls } from "../lib/output.ts";
import { checkText, readTableFile, type Shown, type TableFile, valid } from "../lib/table-file.ts";
import { fail, type Runtime } from "../runtime.ts";
import { type GatewayClient, openGateway } from "./client.ts";
import { answerOf, type GatewayOptions } from "./http.ts";

/** A published table. */
export interface PublishedTable<Table> extends TableFile<Table> {
  readonly revision: number;
}

/** Reads and validates a revision; without a number, the current one. */
export const readRevision = async <Table>(
  gateway: GatewayClient,
  revision: number | undefined,
  check: (json: unknown) => Result<Table, readonly Fault[]>,
): Promise<PublishedTable<Table>> => {
  const text = answerOf(gateway, await gateway.text(revision));
  const name = `revision ${text.revision}`;
  const why = `  ${gateway.url} serves it, so the versions of this command and the gateway differ: use the gateway's version\n`;
  return { name, ...text, table: valid(name, checkText(text.bytes, check), "stderr", why) };
};

export const readInForce = (gateway: GatewayClient): Promise<PublishedTable<DeclaredTable>> =>
  readRevision(gateway, undefined, checkTable);

/** The history entry of a revision. */
export const readRecord = async (gateway: GatewayClient, revision: number): Promise<TableRevision> => {
  const [record] = answerOf(gateway, await gateway.revisions({ before: revision + 1, limit: 1 }));
  return record?.revision === revision ? record : fail(`error: the history has no revision ${revision}\n`);
};

/** A table to be compared. */
export interface TableSource<Table> extends TableFile<Table> {
  /** Absent for a file. */
  readonly revision?: number;
}

export const SOURCE_HELP = "A number is a revision at the gateway; write ./41 for a file of that name.";

/** Digits alone are always a revision number, even if such a file exists. */
const isRevision = (word: string): boolean => /^\d{1,15}$/.test(word);

/** The file of a source; `undefined`: a revision has none. */
export const fileOf = (word: string): string | undefined => (isRevision(word) ? undefined : word);

/** Reads a file or a revision. */
export const readTableSource = async <Table>(
  word: string,
  options: GatewayOptions,
  runtime: Runtime,
  check: (json: unknown) => Result<Table, readonly Fault[]>,
  shown?: Shown,
): Promise<TableSource<Table>> => {
  if (!isRevision(word)) return readTableFile(word, runtime, check, shown);
  const hint = `  ${escapeControls(word)} was read as a revision number; write ./${word} for a file\n`;
  return readRevision(openGateway(options, runtime, hint), Number(word), check);
};
