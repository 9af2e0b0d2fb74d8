import type { Audience, AuditEntry, TableRevision } from "../../../formats/table-api.ts";
import { PAGE_ENTRIES_MAX } from "../../../formats/table-requests.ts";
import type { Result } from "../../../ids/index.ts";
import { formatRevision } from "../../client/change.ts";
import { type GatewayClient, openGateway, type PageQuery, readRecord } from "../../client/client.ts";
import { answerOf, GATEWAY_HELP, GATEWAY_OPTIONS, type GatewayFailure } from "../../client/http.ts";
import { command, option, withDefault } from "../../command.ts";
import { countingNumber, wholeNumber, writeOutput } from "../../lib/input.ts";
import { alignColumns, escapeControls, jsonText, linesText } from "../../lib/output.ts";
import { EXIT, fail, misuse } from "../../runtime.ts";
import { formatAudience } from "./status.ts";

interface List<Entry> {
  readonly name: string;
  readonly description: string;
  readonly what: string;
  readonly read: (gateway: GatewayClient, pageQuery: PageQuery) => Promise<Result<readonly Entry[], GatewayFailure>>;
  readonly numberOf: (entry: Entry) => number;
  readonly cells: (entry: Entry) => readonly string[];
}

const listCommand = <Entry>({ name, description, what, read, numberOf, cells }: List<Entry>) =>
  command({
    name,
    description,
    options: [
      withDefault("--limit <number>", "how many", 20, countingNumber),
      option("--before <number>", `only ${what} below this number`, countingNumber),
      option("--json", "one JSON object per line"),
      ...GATEWAY_OPTIONS,
    ],
    help: `
Examples:
  $ waybill table ${name} --limit 5
  $ waybill table ${name} --before 41 --json

${GATEWAY_HELP}
Exit code: 0, or 1 if the gateway does not respond.`,
    run: async (runtime, _, { json, ...options }) => {
      const gateway = openGateway(options, runtime);
      const entries: Entry[] = [];
      for (let isMore = true; isMore; ) {
        const last = entries.at(-1);
        const before = last === undefined ? options.before : numberOf(last);
        const limit = Math.min(PAGE_ENTRIES_MAX, options.limit - entries.length);
        const page = answerOf(gateway, await read(gateway, { limit, ...(before === undefined ? {} : { before }) }));
        entries.push(...page);
        isMore = page.length === limit && entries.length < options.limit;
      }
      if (entries.length === 0)
        runtime.report(`no ${what}${options.before === undefined ? " yet" : ` below ${options.before}`}\n`);
      await runtime.print(json ? jsonText(...entries) : linesText(alignColumns(entries.map(cells))));
      return EXIT.ok;
    },
  });

/** `42  2026-11-21T12:00:00.000Z  canary on 41 (KZ, UZ)  ann  e5f0658e036b  why`. */
const revisionCells = (entry: TableRevision): readonly string[] => {
  const { revision, time = "", kind, basedOn, audience, author, digest, note } = entry;
  const what = basedOn === undefined ? kind : `${kind} ${BASE_WORD[kind] ?? "on"} ${basedOn}`;
  return [String(revision), time, what + formatServed(audience), author, digest.slice(0, DIGEST_SHOWN), note];
};

/** Enough characters to distinguish the texts of one table. */
const DIGEST_SHOWN = 12;
const NAMES_SHOWN = 4;

/** The preposition before the base revision. */
const BASE_WORD: Readonly<Record<string, string>> = { rollback: "to", promote: "of" };

const formatServed = (audience: Audience | undefined): string => {
  if (audience === undefined) return "";
  const names = audience.countries ?? audience.entities ?? [];
  const more = names.length - NAMES_SHOWN;
  return more > 0 ? ` (${names.slice(0, NAMES_SHOWN).join(", ")} and ${more} more)` : ` (${formatAudience(audience)})`;
};

/** `7  2026-11-21T12:00:00.000Z  publish  grafana  forbidden × 37  why`. */
const auditCells = (entry: AuditEntry): readonly string[] => {
  const { id, time, author, action, revision, audience, pack, outcome, times = 1, note } = entry;
  const which = revision ?? pack?.slice(0, DIGEST_SHOWN);
  const what = which === undefined ? action : `${action} ${which}`;
  return [String(id), time, what + formatServed(audience), author, times > 1 ? `${outcome} × ${times}` : outcome, note];
};

export const tableHistory = listCommand({
  name: "history",
  description: "list the revisions of a gateway's table, newest first",
  what: "revisions",
  read: (gateway, pageQuery) => gateway.revisions(pageQuery),
  numberOf: ({ revision }: TableRevision) => revision,
  cells: revisionCells,
});

export const tableAudit = listCommand({
  name: "audit",
  description: "list all attempts to change a gateway's table and their outcome, newest first",
  what: "entries",
  read: (gateway, pageQuery) => gateway.audit(pageQuery),
  numberOf: ({ id }: AuditEntry) => id,
  cells: auditCells,
});

export const tableShow = command({
  name: "show",
  description: "print the exact text of a revision, or write it to a file",
  args: [["[revision]", "its number (default: the current revision)", wholeNumber]],
  options: [
    option("--out <file>", "write it to this file, which must not exist"),
    option("--force", "overwrite an existing file"),
    ...GATEWAY_OPTIONS,
  ],
  help: `
Examples:
  $ waybill table show > published.json
  $ waybill table show 41 --out routing-table.json --force

Its number, author and digest go to stderr.
${GATEWAY_HELP}
Exit code: 0, or 1 if there is no such revision or nothing was written.`,
  run: async (runtime, [revision], options) => {
    const { out, force = false } = options;
    if (force && out === undefined) misuse("error: --force requires --out\n");
    if (out !== undefined && !force && runtime.fileExists(out)) {
      fail(`error: ${escapeControls(out)} already exists; nothing was written. Overwrite with --force\n`);
    }
    const gateway = openGateway(options, runtime);
    const text = await gateway.text(revision === undefined ? undefined : Number(revision));
    const { bytes, revision: shown } = answerOf(gateway, text);
    runtime.report(`${escapeControls(formatRevision(await readRecord(gateway, shown)))}\n`);
    if (out === undefined) {
      // Lossless: a table is UTF-8, and its byte order mark is kept.
      await runtime.print(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    } else {
      writeOutput(out, bytes, runtime);
      runtime.report(`written to ${escapeControls(out)}\n`);
    }
    return EXIT.ok;
  },
});
