import type { Result } from "../../ids/index.ts";
import type { TableRevision } from "../../published/table-api.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { type OptionsOf, option } from "../command.ts";
import { countChanges, formatChanges } from "../lib/diff-summary.ts";
import { wholeNumber } from "../lib/input.ts";
import type { NamedTable, TableFile } from "../lib/table-file.ts";
import { formatWarning, undoesMoves, warningsOf } from "../lib/warnings.ts";
import { both, EXIT, type ExitCode, fail, type NoAnswer, type Runtime, Stop } from "../runtime.ts";
import { type ChangeRequest, type GatewayClient, openGateway } from "./client.ts";
import { GATEWAY_HELP, GATEWAY_OPTIONS, type GatewayFailure, type GatewayOptions } from "./http.ts";
import { conflictAdvice, formatRevision, makeChange, type PendingChange } from "./outcome.ts";
import { formatUploads, planUploads, sendUploads } from "./pack-upload.ts";
import { EFFECT, secondsToWait, waitOption } from "./propagation.ts";
import { type PublishedTable, readInForce } from "./revision.ts";

/** The options of every command that changes the published table. */
export const changeOptions = (expect: string, json: string) =>
  [
    option("--expect <revision>", expect, wholeNumber),
    option("--note <text>", "a note for the history"),
    option("--yes", "do not ask for confirmation"),
    waitOption(),
    option("--no-wait", "do not wait; at a terminal, waiting is the default"),
    option("--json", json),
    ...GATEWAY_OPTIONS,
  ] as const;

export const OVER_MOVES = option("--over-moves", "allow undoing steps of moves whose epochs the regions already have");

/** The end of the help of every such command. `applied`: the state of the change after exit code 8. */
export const changeExits = (codes: string, applied: string): string => `${GATEWAY_HELP}
Exit code: ${codes};
9 outcome unknown: the history does not show the change yet;
8 if it was awaited, and ${applied} but was not seen everywhere in time.`;

type ChangeOptions = OptionsOf<ReturnType<typeof changeOptions>> & OptionsOf<readonly [typeof OVER_MOVES]>;

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
  readonly expected: () => Promise<number>;
  readonly send: (request: ChangeRequest) => Promise<Result<TableRevision, GatewayFailure>>;
  /** What is accepted: between this word and the new revision. */
  readonly what?: string;
}

export interface ChangeSpec<Read> {
  readonly kind: PendingChange["kind"];
  /** What is read before the gateway is asked. */
  readonly read?: () => Promise<Read>;
  readonly draft: (gateway: GatewayClient, inForce: PublishedTable<DeclaredTable>, read: Read) => Promise<Draft>;
  /** The last line after an error. */
  readonly nothing?: string;
}

/** One change of the published table: read, review, confirm, upload packs, send, report. */
export const changeTable = async <Read = undefined>(
  options: ChangeOptions & GatewayOptions,
  runtime: Runtime,
  { kind, read = async () => undefined as Read, draft: draftOf, nothing = "" }: ChangeSpec<Read>,
): Promise<ExitCode> => {
  const { report } = runtime;
  const open = async () => openGateway(options, runtime);
  const [before, gateway] = await both(endWith(nothing, read()), open());
  const inForce = await readInForce(gateway);
  const { after, path, title, question, expected, send, what = "" } = await draftOf(gateway, inForce, before);

  // The packs of a running canary are at the gateway already.
  const isSent = after !== undefined && kind !== "promote";
  const uploads = isSent ? await endWith(nothing, planUploads(gateway, after.table, path ?? "-", runtime)) : [];
  const endsCanary = kind === "publish" || kind === "rollback";
  const canary = endsCanary ? await runningCanary(gateway) : undefined;
  const review = after && (await endWith(nothing, reviewChange(inForce, after, path, canary, runtime)));
  report(title);
  if (review !== undefined) report(review.text);
  const expectedRevision = await expected();
  const warnings = review?.warnings;
  if (warnings !== undefined && undoesMoves(warnings) && options.overMoves !== true) fail(UNDOES_MOVES);
  report(formatUploads(uploads) + EFFECT);
  await confirm(question, options.yes === true, runtime);
  await endWith(nothing, sendUploads(gateway, uploads, options.json === true, runtime));

  const request = { expectedRevision, note: options.note ?? "" };
  const message = (made: TableRevision) => `accepted${what}: ${formatRevision(made)}`;
  const table = path === undefined ? undefined : after;
  const change = { kind, request, digest: after?.digest, table, message, warnings };
  return makeChange(() => send(request), change, {
    gateway,
    options: { ...options, wait: secondsToWait(options, runtime) },
    runtime,
  });
};

/** Adds a last line to an error. */
const endWith = async <Value>(last: string, work: Promise<Value>): Promise<Value> => {
  try {
    return await work;
  } catch (error) {
    throw error instanceof Stop ? new Stop(error.message + last, error.code, error.data) : error;
  }
};

/** `--expect` names another revision. `state`: of the current one. */
export const staleError = (
  expected: number,
  current: number,
  state: "current" | "latest",
  done: "published" | "changed",
): never =>
  fail(
    `error: conflict: the ${state} revision is ${current}, not ${expected}; nothing was ${done}\n` +
      `  ${conflictAdvice(expected, current)}`,
    EXIT.conflict,
  );

/** What changes, with the same warnings as `waybill table plan`. `path` as for `countChanges`. `canary`: the revision of the canary that the change would end. */
const reviewChange = async (
  before: NamedTable,
  after: NamedTable,
  path: string | undefined,
  canary: number | undefined,
  runtime: Runtime,
) => {
  const changes = await countChanges(before, after, path, runtime);
  const warnings = warningsOf(before.table, after.table, changes.counts, canary);
  const lines = warnings.map((warning) => `warning: ${formatWarning(warning)}\n`);
  return { warnings, text: formatChanges(changes) + lines.join("") };
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

/** Asks for consent, unless `yes`. Without it, the command ends. */
export const confirm = async (question: string, yes: boolean, { prompt }: Pick<Runtime, "prompt">): Promise<void> => {
  if (yes) return;
  const answer = await prompt(`${question} [y/N] `);
  if (answer.ok && /^y(es)?$/i.test(answer.value.trim())) return;
  const code = !answer.ok && answer.error === "interrupted" ? EXIT.interrupted : EXIT.failed;
  fail(`${answer.ok ? "" : BEFORE[answer.error]}nothing was changed\n`, code);
};

/** The keys that end a question leave the cursor behind it. */
const BEFORE: Readonly<Record<NoAnswer, string>> = {
  "no-terminal": "error: not a terminal; pass --yes to confirm\n",
  ended: "\n",
  interrupted: "\n",
};
