import * as v from "valibot";
import { type AuditEntry, faultsSchema, type TableRevision } from "../../formats/table-api.ts";
import type { Result } from "../../ids/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { type OptionsOf, option } from "../command.ts";
import { countChanges, formatChanges } from "../lib/diff.ts";
import { wholeNumber } from "../lib/input.ts";
import { escapeControls, jsonText } from "../lib/output.ts";
import { faultLine, type NamedTable, placed, type TableFile } from "../lib/table-file.ts";
import { formatWarning, type PlanWarning, undoesMoves, warningsOf } from "../lib/warnings.ts";
import { both, EXIT, type ExitCode, fail, type NoAnswer, type Runtime, Stop } from "../runtime.ts";
import { type ChangeRequest, type GatewayClient, openGateway, type PublishedTable, readInForce } from "./client.ts";
import type { GatewayFailure, GatewayOptions } from "./http.ts";
import { formatFailure, GATEWAY_HELP, GATEWAY_OPTIONS, mayBeDone } from "./http.ts";
import { formatUploads, planUploads, sendUploads } from "./pack-upload.ts";
import {
  EFFECT,
  formatHere,
  formatNotHere,
  formatNotPropagated,
  formatPropagation,
  NOT_AWAITED,
  PROBES_DEFAULT,
  propagationOf,
  untilHere,
  waitFor,
  waitOption,
  waitUntilPropagated,
} from "./propagation.ts";

/** The options of every command that changes the published table. */
export const changeOptions = (expect: string, json: string) =>
  [
    option("--expect <revision>", expect, wholeNumber),
    option("--note <text>", "a note for the history"),
    option("--yes", "do not ask for confirmation"),
    waitOption(),
    option("--no-wait", "do not wait; by default it waits for 2 s, and for probes at a terminal"),
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

type Answer = Result<TableRevision, GatewayFailure>;

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
  readonly send: (request: ChangeRequest) => Promise<Answer>;
  /** The accepted change: stands between this word and the new revision. */
  readonly what?: string;
}

interface ChangeSpec<Read> {
  readonly kind: PendingChange["kind"];
  /** Reads before the gateway is asked. */
  readonly read?: () => Promise<Read>;
  readonly draft: (gateway: GatewayClient, inForce: PublishedTable<DeclaredTable>, read: Read) => Promise<Draft>;
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
  const waiting = { ...options, wait: waitFor(options, runtime) };
  const session = { gateway, options: waiting, sentAtMs: runtime.nowMs(), runtime };
  const made = await runtime.guard(async () => resolveOutcome(await send(request), change, session), UNDER_WAY);
  return reportSuccess(made, change, session);
};

const endWith = async <Value>(last: string, work: Promise<Value>): Promise<Value> => {
  try {
    return await work;
  } catch (error) {
    throw error instanceof Stop ? new Stop(error.message + last, error.code, error.data) : error;
  }
};

/** `--expect` names another revision. `state`: of the current one. */
export const staleError = (expected: number, current: number, state: "current" | "latest"): never => {
  const done = state === "current" ? "published" : "changed";
  const what = `the ${state} revision is ${current}, not ${expected}; nothing was ${done}`;
  return fail(`error: conflict: ${what}\n  ${conflictAdvice(expected, current)}`, EXIT.conflict);
};

/** The changes, with the same warnings as `waybill table plan`. `path` as for `countChanges`. `canary`: the revision of the canary that the change would end. */
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

export const confirm = async (question: string, yes: boolean, { prompt }: Pick<Runtime, "prompt">): Promise<void> => {
  if (yes) return;
  const answer = await prompt(`${question} [y/N] `);
  if (answer.ok && /^y(es)?$/i.test(answer.value.trim())) return;
  const why = answer.ok ? undefined : answer.error;
  // The keys that end a question leave the cursor behind it.
  const before = why === "no-terminal" ? "error: not a terminal; pass --yes to confirm\n" : "\n";
  fail(`${why === undefined ? "" : before}nothing was changed\n`, why === undefined ? EXIT.failed : UNANSWERED[why]);
};

/** Without a terminal the command lacks an option. */
const UNANSWERED: Readonly<Record<NoAnswer, ExitCode>> = {
  "no-terminal": EXIT.usage,
  ended: EXIT.failed,
  interrupted: EXIT.interrupted,
};

export interface PendingChange {
  readonly kind: "publish" | "rollback" | "canary" | "promote" | "abort";
  readonly request: ChangeRequest;
  /** SHA-256 of the text that it puts into force, if known here. */
  readonly digest?: string | undefined;
}

/**
 * The outcome by the history of a change without a response. `revision`: the one that it made, or that is in force after an abort.
 * If superseded: the revision of another change, after which this one can no longer be applied.
 */
type ChangeOutcome =
  | { readonly outcome: "applied" | "superseded"; readonly revision: TableRevision }
  | { readonly outcome: "unknown" };

/** The Durable Object may finish the change after the gateway has stopped waiting for it. */
const ATTEMPTS_MAX = 15;
const POLL_INTERVAL_MS = 1_000;

/** More than can appear between two polls. */
const ENTRIES = 20;

/** Polls the history for the outcome of a change, for some seconds at most. */
export const findOutcome = async (gateway: GatewayClient, change: PendingChange, runtime: Runtime) => {
  for (let attempt = 1; ; attempt++) {
    const found = await findOnce(gateway, change);
    if (found.outcome !== "unknown" || attempt === ATTEMPTS_MAX) return found;
    await runtime.pause(POLL_INTERVAL_MS);
  }
};

/**
 * The next revision is that of this change, or of another one: every change names the revision that it follows. An abort makes no
 * revision; the audit log shows which canary was ended.
 */
const findOnce = async (gateway: GatewayClient, { kind, digest, request }: PendingChange): Promise<ChangeOutcome> => {
  const { expectedRevision, note } = request;
  const audit = kind === "abort" ? await gateway.audit({ limit: ENTRIES }) : undefined;
  const listed = await gateway.revisions({ limit: ENTRIES });
  if (!listed.ok || audit?.ok === false) return { outcome: "unknown" };
  const isEnd = ({ action, revision, outcome }: AuditEntry) =>
    action === "abort" && revision === expectedRevision && outcome === "done";
  const isOurs = (made: TableRevision) =>
    made.kind === kind && made.note === note && (digest === undefined || made.digest === digest);
  const later = listed.value.filter(({ revision }) => revision > expectedRevision);
  const inForce = listed.value.find(({ kind }) => kind !== "canary");
  const ours = audit === undefined ? later.findLast(isOurs) : audit.value.some(isEnd) ? inForce : undefined;
  if (ours !== undefined) return { outcome: "applied", revision: ours };
  const [last] = later;
  if (last === undefined || (audit !== undefined && inForce === undefined)) return { outcome: "unknown" };
  return { outcome: "superseded", revision: last };
};

/** A change that was sent, with the table in whose text faults have their positions. */
interface ChangeReport extends PendingChange {
  readonly table?: SentTable | undefined;
  readonly message: (revision: TableRevision) => string;
  readonly warnings?: readonly PlanWarning[] | undefined;
}

interface Session {
  readonly gateway: GatewayClient;
  readonly options: { readonly json?: boolean; readonly wait: ReturnType<typeof waitFor> };
  /** When the change was sent; absent if there was none to make. */
  readonly sentAtMs?: number;
  readonly runtime: Runtime;
}

const UNDER_WAY =
  "\nthe change was in progress and may still be made. Check with `waybill table history` and `waybill table audit`\n";

const resolveOutcome = async (answer: Answer, change: ChangeReport, { gateway, runtime }: Session) => {
  if (answer.ok) return answer.value;
  const { error } = answer;
  runtime.report(formatFailure(gateway.url, error));
  if (error.reason === "problem" && error.problem.slug === "stale-revision") {
    const { members } = error.problem;
    return conflict(change, members["canary"] ?? members["current"]);
  }
  const { table } = change;
  if (table) runtime.report(formatFaultsAtGateway(error, table));
  if (!mayBeDone(error)) fail("nothing was changed\n");
  runtime.report("  outcome unknown: checking the history\n");
  const found = await findOutcome(gateway, change, runtime);
  if (found.outcome === "unknown") return fail(UNKNOWN, EXIT.unknown);
  if (found.outcome === "superseded") return conflict(change, found.revision.revision);
  runtime.report(`the change was made: ${formatRevision(found.revision)}\n`);
  return found.revision;
};

/** Sending it again is safe: a change that names an older revision is rejected. */
const UNKNOWN =
  "outcome unknown: the history does not show the change yet. Check again with `waybill table history`;\n" +
  "repeating the command with the same --expect makes the change at most once\n";

const reportSuccess = async (revision: TableRevision, { message, warnings }: ChangeReport, session: Session) => {
  const { options, runtime } = session;
  if (!options.json) await runtime.print(`${escapeControls(message(revision))}\n`);
  if (!options.json && options.wait === false) runtime.report(NOT_AWAITED);
  const farewell = `\nthe change was made; no longer waiting for it: ${escapeControls(formatRevision(revision))}\n`;
  const { code, ...seen } = await runtime.guard(() => awaitChange(session), farewell);
  if (options.json) await runtime.print(jsonText({ ...revision, changed: true, warnings, ...seen }));
  return code;
};

/** Ends a command whose text is in force already. `--wait` still waits for its propagation. */
export const endUnchanged = async (
  why: string,
  { revision, digest }: Pick<TableRevision, "revision" | "digest">,
  { gateway, options: { json = false, wait = false }, runtime }: Unchanged,
): Promise<never> => {
  runtime.report(why);
  const { code, propagation } = await awaitChange({ gateway, options: { json, wait }, runtime });
  if (json) await runtime.print(jsonText({ revision, digest, changed: false, propagation }));
  return fail("", code);
};

interface Unchanged extends Pick<Session, "gateway" | "runtime"> {
  readonly options: Pick<ChangeOptions, "json" | "wait">;
}

interface Seen {
  readonly code: ExitCode;
  readonly inForceHereMs?: number | undefined;
  readonly propagation?: ReturnType<typeof propagationOf>;
}

const awaitChange = async ({ gateway, options: { json, wait }, sentAtMs, runtime }: Session): Promise<Seen> => {
  if (wait === false) return { code: EXIT.ok };
  if (wait === "here") {
    const here = await untilHere(gateway, sentAtMs ?? runtime.nowMs(), runtime);
    const { afterMs, status } = here;
    if (afterMs === undefined) runtime.report(formatNotHere(here));
    else if (!json) await runtime.print(formatHere(afterMs, status));
    return { code: EXIT.ok, inForceHereMs: afterMs };
  }
  const options = { seconds: wait, probes: PROBES_DEFAULT, ...(sentAtMs === undefined ? {} : { sinceMs: sentAtMs }) };
  const propagation = await waitUntilPropagated(gateway, options, runtime);
  if (!json) await runtime.print(formatPropagation(propagation, options));
  if (!propagation.isSeen) runtime.report(formatNotPropagated(gateway.url, propagation, options));
  const code = propagation.isSeen ? EXIT.ok : EXIT.notPropagated;
  return { code, inForceHereMs: propagation.firstSeenMs, propagation: propagationOf(propagation) };
};

type SentTable = Pick<TableFile<unknown>, "name" | "bytes">;

export const faultsAtGateway = (failure: GatewayFailure, { bytes }: SentTable) => {
  const read = v.safeParse(faultsSchema, failure.reason === "problem" ? failure.problem.members : {});
  return read.success ? placed(read.output.faults, bytes) : [];
};

export const formatFaultsAtGateway = (failure: GatewayFailure, table: SentTable): string =>
  faultsAtGateway(failure, table)
    .map((fault) => faultLine(table.name, fault))
    .join("");

/** Another change came first. `current`: the revision that a change must name now, if the gateway names it. */
const conflict = ({ request }: PendingChange, current: unknown): never => {
  const unnamed = "`waybill table history` shows who changed it; review that change and start again\n";
  const advice = typeof current === "number" ? conflictAdvice(request.expectedRevision, current) : unnamed;
  return fail(`  nothing was changed. ${advice}`, EXIT.conflict);
};

const conflictAdvice = (expected: number, current: number): string =>
  `\`waybill table history\` shows who published revision ${current}, \`waybill table diff ${expected} ${current}\` what it changes,\n` +
  `  \`waybill table show ${current}\` its text; merge its changes and start again with --expect ${current}\n`;

/** `revision 42 (publish, by ann): sha256 …`. */
export const formatRevision = ({ revision, kind, author, digest }: TableRevision): string =>
  `revision ${revision} (${kind}, by ${author}): sha256 ${digest}`;
