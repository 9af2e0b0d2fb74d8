import { err, ok, type Result } from "../ids/index.ts";
import { checkTable, type Fault } from "../routing/index.ts";
import type { DeclaredTable } from "../routing/schema.ts";
import type { Revision } from "./gateway-answers.ts";
import type { GatewayClient } from "./gateway-client.ts";
import { formatFailure } from "./gateway-failure.ts";
import { checkText, formatTableError, type TableFile } from "./table-file.ts";

/** A table that a gateway has published. */
export interface PublishedTable<Table> extends TableFile<Table> {
  readonly revision: number;
}

/** Gets a revision, or the one in force, and checks it as a file is checked. The error is for stderr. */
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
  const why = `  ${gateway.url} serves it, so this command is older than the gateway or newer: use one of the gateway's version\n`;
  return err(formatTableError({ reason: "faulty", name, faults: table.error }) + why);
};

export const readInForce = (gateway: GatewayClient): Promise<Result<PublishedTable<DeclaredTable>, string>> =>
  readRevision(gateway, undefined, checkTable);

/** What the history knows of a revision that the gateway has. The error is for stderr. */
export const readRecord = async (gateway: GatewayClient, revision: number): Promise<Result<Revision, string>> => {
  const listed = await gateway.revisions({ before: revision + 1, limit: 1 });
  if (!listed.ok) return err(formatFailure(gateway.url, listed.error));
  const [record] = listed.value;
  return record?.revision === revision ? ok(record) : err(`error: the history does not list revision ${revision}\n`);
};
