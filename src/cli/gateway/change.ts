import { err, ok, type Result } from "../../ids/index.ts";
import type { TableRevision } from "../../published/table-api.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { type OptionsOf, option } from "../command.ts";
import { countChanges, formatChanges } from "../lib/diff-summary.ts";
import { wholeNumber } from "../lib/input.ts";
import { readPublishable, reportTableError, type TableFile } from "../lib/table-file.ts";
import { formatWarning, type PlanWarning, undoesMoves, warningsOf } from "../lib/warnings.ts";
import { EXIT, type ExitCode, fail, type NoAnswer, type Runtime } from "../runtime.ts";
import { type ChangeRequest, type GatewayClient, openGateway } from "./client.ts";
import { GATEWAY_HELP, GATEWAY_OPTIONS, type GatewayFailure, type GatewayOptions } from "./http.ts";
import { conflictAdvice, formatRevision, makeChange, type PendingChange } from "./outcome.ts";
import { formatUploads, planUploads, sendUploads } from "./pack-upload.ts";
import { waitOption } from "./propagation.ts";
import { type PublishedTable, readInForce } from "./revision.ts";

/** The options of every command that changes the published table. */
export const changeOptions = (expect: string, json: string) =>
  [
    option("--expect <revision>", expect, wholeNumber),
    option("--note <text>", "a note for the history"),
    option("--yes", "do not ask for confirmation"),
    waitOption(),
    option("--json", json),
    ...GATEWAY_OPTIONS,
  ] as const;

export const OVER_MOVES = option("--over-moves", "allow undoing steps of moves whose epochs the regions already have");

/** The end of the help of every such command. `applied`: the state of the change after exit code 8. */
export const changeExits = (codes: string, applied: string): string => `${GATEWAY_HELP}
Exit code: ${codes};
9 outcome unknown: the history does not show the change yet;
8 with --wait, if ${applied} but was not seen everywhere in time.`;

type ChangeOptions = OptionsOf<ReturnType<typeof changeOptions>> & OptionsOf<readonly [typeof OVER_MOVES]>;

/** Why a change ends before it is sent: sentences for stderr, or an exit code after a report. */
export type Stop = string | ExitCode;

/** A change of the published table, as it is shown before it is sent. */
export interface Draft {
  /** The table that is to serve. Absent: no new table comes into force. */
  readonly after?: TableFile<DeclaredTable>;
  /** The file of that table, if it is sent from one. */
  readonly path?: string;
  /** Above the list of what changes. */
  readonly title: string;
  readonly question: string;
  /** The revision that the change follows. Called after the review is shown. */
  readonly expected: () => Promise<Result<number, Stop>>;
  readonly send: (request: ChangeRequest) => Promise<Result<TableRevision, GatewayFailure>>;
  /** `made`: the new revision. */
  readonly done: (made: string) => string;
}

export interface ChangeSpec<Read> {
  readonly kind: PendingChange["kind"];
  /** What is read before the gateway is asked. */
  readonly read: () => Promise<Result<Read, Stop>>;
  readonly draft: (
    gateway: GatewayClient,
    inForce: PublishedTable<DeclaredTable>,
    read: Read,
  ) => Promise<Result<Draft, Stop>>;
  /** The last line after an error. */
  readonly nothing?: string;
}

/** One change of the published table: read, review, confirm, upload packs, send, report. */
export const changeTable = async <Read>(
  { kind, read, draft: draftOf, nothing = "" }: ChangeSpec<Read>,
  options: ChangeOptions & GatewayOptions,
  runtime: Runtime,
): Promise<ExitCode> => {
  const { report } = runtime;
  const stop = (why: Stop): ExitCode => (typeof why === "string" ? fail(why + nothing, runtime) : why);
  const opened = openGateway(options, runtime);
  const before = await read();
  if (!before.ok) stop(before.error);
  if (!opened.ok) report(opened.error);
  if (!opened.ok || !before.ok) return EXIT.failed;
  const gateway = opened.value;
  const inForce = await readInForce(gateway);
  if (!inForce.ok) return fail(inForce.error, runtime);
  const drafted = await draftOf(gateway, inForce.value, before.value);
  if (!drafted.ok) return stop(drafted.error);
  const { after, path, title, question, expected, send, done } = drafted.value;

  // The packs of a running canary are at the gateway already.
  const isSent = after !== undefined && kind !== "promote";
  const uploads = isSent ? await planUploads(gateway, after.table, path ?? "-", runtime) : ok([]);
  if (!uploads.ok) return stop(uploads.error);
  const endsCanary = kind === "publish" || kind === "rollback";
  const canary = endsCanary ? await runningCanary(gateway) : undefined;
  const review = after && (await reviewChange(inForce.value, after, path, canary, runtime));
  if (review?.ok === false) return stop(review.error);
  report(title);
  if (review !== undefined) report(review.value.text);
  const expect = await expected();
  if (!expect.ok) return stop(expect.error);
  const warnings = review?.value.warnings;
  if (warnings !== undefined && undoesMoves(warnings) && options.overMoves !== true) return fail(UNDOES_MOVES, runtime);
  report(formatUploads(uploads.value));
  const confirmed = await confirm(question, options.yes === true, runtime);
  if (!confirmed.ok) return confirmed.error;
  const sent = await sendUploads(gateway, uploads.value, options.json === true, runtime);
  if (!sent.ok) return stop(sent.error);

  const request = { expectedRevision: expect.value, note: options.note ?? "" };
  const message = (made: TableRevision) => done(formatRevision(made));
  const table = path === undefined ? undefined : after;
  const change = { kind, request, digest: after?.digest, table, message, warnings };
  return makeChange(() => send(request), change, { gateway, options, runtime });
};

/** Reads the table that a change sends. Its faults are reported. */
export const readSent = async (
  path: string,
  { json = false }: { readonly json?: boolean },
  runtime: Runtime,
): Promise<Result<TableFile<DeclaredTable>, Stop>> => {
  const file = await readPublishable(path, runtime);
  if (file.ok) return file;
  await reportTableError(file.error, json, runtime);
  return err("");
};

/** `--expect` names another revision. `state`: of the current one. */
export const staleError = (
  expected: number,
  current: number,
  state: "current" | "latest",
  done: "published" | "changed",
  runtime: Runtime,
): Result<never, ExitCode> => {
  runtime.report(`error: conflict: the ${state} revision is ${current}, not ${expected}; nothing was ${done}\n`);
  runtime.report(`  ${conflictAdvice(expected, current)}`);
  return err(EXIT.conflict);
};

/** What a change of the table in force would do. */
interface Review {
  /** The same as `waybill table plan` has. */
  readonly warnings: readonly PlanWarning[];
  /** What changes, then the warnings, for stderr. */
  readonly text: string;
}

type Named = Pick<TableFile<DeclaredTable>, "name" | "table">;

/** `path` as for `countChanges`. `canary`: the revision of the canary that the change would end. */
const reviewChange = async (
  before: Named,
  after: Named,
  path: string | undefined,
  canary: number | undefined,
  runtime: Runtime,
): Promise<Result<Review, string>> => {
  const changes = await countChanges(before, after, path, runtime);
  if (!changes.ok) return changes;
  const warnings = warningsOf(before.table, after.table, changes.value.counts, canary);
  const lines = warnings.map((warning) => `warning: ${formatWarning(warning)}\n`);
  return ok({ warnings, text: formatChanges(changes.value) + lines.join("") });
};

/** Without a status there is no warning; the gateway still rejects the change. */
const runningCanary = async (gateway: GatewayClient): Promise<number | undefined> => {
  const status = await gateway.status();
  return status.ok ? status.value.canary?.revision : undefined;
};

const UNDOES_MOVES =
  "error: the change undoes steps of moves; regions would reject valid requests or accept invalid ones\n" +
  "  keep the entries of the current table and undo a move by a new move; to override, pass --over-moves\n" +
  "nothing was changed\n";

/** Asks for consent, unless `yes`. The exit code if there is none. */
export const confirm = async (
  question: string,
  yes: boolean,
  runtime: Runtime,
): Promise<Result<undefined, ExitCode>> => {
  if (yes) return ok(undefined);
  const answer = await runtime.prompt(`${question} [y/N] `);
  if (answer.ok && /^y(es)?$/i.test(answer.value.trim())) return ok(undefined);
  runtime.report(`${answer.ok ? "" : BEFORE[answer.error]}nothing was changed\n`);
  return err(!answer.ok && answer.error === "interrupted" ? EXIT.interrupted : EXIT.failed);
};

/** The keys that end a question leave the cursor behind it. */
const BEFORE: Readonly<Record<NoAnswer, string>> = {
  "no-terminal": "error: not a terminal; pass --yes to confirm\n",
  ended: "\n",
  interrupted: "\n",
};
