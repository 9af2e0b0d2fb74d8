import * as v from "valibot";
import { err, ok, type Result } from "../../ids/index.ts";
import { readJsonText } from "../lib/json-text.ts";
import { escapeControls } from "../lib/output.ts";
import { faultLine, type PlacedFault } from "../lib/table-file.ts";
import type { PlanWarning } from "../lib/warnings.ts";
import { EXIT, type ExitCode, fail, type NoAnswer, type Runtime } from "../runtime.ts";
import { type ChangeRequest, faultsSchema, type GatewayClient, type Revision } from "./client.ts";
import { formatFailure, type GatewayFailure, mayBeDone } from "./http.ts";
import {
  formatNotPropagated,
  formatPropagation,
  PROBES_DEFAULT,
  type Propagation,
  propagationOf,
  waitUntilPropagated,
} from "./propagation.ts";

/** A change that was sent. */
export interface PendingChange {
  readonly kind: "publish" | "rollback" | "canary" | "promote" | "abort";
  readonly request: ChangeRequest;
  /** SHA-256 of the text that it is to put into force, where that is known here. */
  readonly digest?: string | undefined;
}

/**
 * What the history says of a change whose answer did not come. `revision`: what it made, or what is in force after an abort; or
 * the one that came instead of it, after which it cannot be made any more.
 */
export type ChangeOutcome =
  | { readonly outcome: "made" | "outrun"; readonly revision: Revision }
  | { readonly outcome: "open" };

/** The object may still be at work when the gateway no longer waits for it. */
const ATTEMPTS_MAX = 15;
const POLL_INTERVAL_MS = 1_000;

/** More than can come between two looks. */
const ENTRIES = 20;

/** Asks the history what became of a change, until it says so or some seconds are over. */
export const findOutcome = async (
  gateway: GatewayClient,
  change: PendingChange,
  runtime: Runtime,
): Promise<ChangeOutcome> => {
  for (let attempt = 1; ; attempt++) {
    const found = await (change.kind === "abort" ? findEnd(gateway, change) : findRevision(gateway, change));
    if (found.outcome !== "open" || attempt === ATTEMPTS_MAX) return found;
    await runtime.pause(POLL_INTERVAL_MS);
  }
};

const OPEN: ChangeOutcome = { outcome: "open" };

/** The next revision is this change's, or another's: nobody's change is made on top of one that he has not named. */
const findRevision = async (gateway: GatewayClient, change: PendingChange): Promise<ChangeOutcome> => {
  const { kind, digest, request } = change;
  const listed = await gateway.revisions({ limit: ENTRIES });
  const later = listed.ok ? listed.value.filter(({ revision }) => revision > request.expectedRevision) : [];
  const isOurs = (made: Revision) =>
    made.kind === kind && made.note === request.note && (digest === undefined || made.digest === digest);
  const ours = later.findLast(isOurs);
  if (ours !== undefined) return { outcome: "made", revision: ours };
  const [last] = later;
  return last === undefined ? OPEN : { outcome: "outrun", revision: last };
};

/** An abort makes no revision; who ended which canary is in the audit. */
const findEnd = async (gateway: GatewayClient, { request }: PendingChange): Promise<ChangeOutcome> => {
  const [audit, listed] = [await gateway.audit({ limit: ENTRIES }), await gateway.revisions({ limit: ENTRIES })];
  const inForce = listed.ok ? listed.value.find(({ kind }) => kind !== "canary") : undefined;
  if (!audit.ok || inForce === undefined) return OPEN;
  const ended = audit.value.find(
    ({ action, revision, outcome }) =>
      action === "abort" && revision === request.expectedRevision && outcome === "done",
  );
  if (ended !== undefined) return { outcome: "made", revision: inForce };
  const later = listed.ok ? listed.value.find(({ revision }) => revision > request.expectedRevision) : undefined;
  return later === undefined ? OPEN : { outcome: "outrun", revision: later };
};

/** What every command has in common that changes the published table. */

/** How the outcome is told, and whether to wait until it has arrived. */
export interface ReportOptions {
  readonly json?: boolean;
  /** Seconds. */
  readonly wait?: number;
}

/** A change that was sent, with the name and the bytes of its table for the places of faults. */
export interface ChangeReport extends PendingChange {
  readonly table?: SentTable;
  readonly message: (revision: Revision) => string;
  /** What looked odd before it was made. */
  readonly warnings?: readonly PlanWarning[];
}

/** Makes a change, and tells what became of it. */
export const makeChange = async (
  send: () => Promise<Result<Revision, GatewayFailure>>,
  gateway: GatewayClient,
  change: ChangeReport,
  options: ReportOptions,
  runtime: Runtime,
): Promise<ExitCode> => {
  const made = await runtime.guard(async () => resolveOutcome(await send(), gateway, change, runtime), UNDER_WAY);
  return made.ok ? reportSuccess(made.value, gateway, change, options, runtime) : made.error;
};

const UNDER_WAY =
  "\nthe change was in progress and may still be made. Check with `waybill table history` and `waybill table audit`\n";

/** The revision that was made, as far as anybody knows; otherwise it says why not, and which exit code that is. */
const resolveOutcome = async (
  answer: Result<Revision, GatewayFailure>,
  gateway: GatewayClient,
  change: ChangeReport,
  runtime: Runtime,
): Promise<Result<Revision, ExitCode>> => {
  if (answer.ok) return answer;
  const { error } = answer;
  runtime.report(formatFailure(gateway.url, error));
  if (error.reason === "problem" && error.problem.slug === "stale-revision") {
    const { members } = error.problem;
    return err(conflict(change.request.expectedRevision, members["canary"] ?? members["current"], runtime));
  }
  if (change.table !== undefined) runtime.report(formatFaults(error, change.table));
  if (!mayBeDone(error)) return err(fail("nothing was changed\n", runtime));
  runtime.report("  outcome unknown: checking the history\n");
  const found = await findOutcome(gateway, change, runtime);
  if (found.outcome === "open") {
    runtime.report(UNKNOWN);
    return err(EXIT.unknown);
  }
  if (found.outcome === "outrun")
    return err(conflict(change.request.expectedRevision, found.revision.revision, runtime));
  runtime.report(`the change was made: ${formatRevision(found.revision)}\n`);
  return ok(found.revision);
};

/** The same change can be sent again: whoever names a revision that is no longer the last one is refused. */
const UNKNOWN =
  "outcome unknown: the history does not show the change yet. Check again with `waybill table history`;\n" +
  "repeating the command with the same --expect makes the change at most once\n";

const reportSuccess = async (
  revision: Revision,
  gateway: GatewayClient,
  { message, warnings }: ChangeReport,
  options: ReportOptions,
  runtime: Runtime,
): Promise<ExitCode> => {
  if (!options.json) await runtime.print(`${escapeControls(message(revision))}\n`);
  const farewell = `\nthe change was made; no longer waiting for it: ${escapeControls(formatRevision(revision))}\n`;
  const { code, propagation } = await runtime.guard(() => awaitChange(gateway, options, runtime), farewell);
  if (options.json) await runtime.print(`${JSON.stringify({ ...revision, changed: true, warnings, propagation })}\n`);
  return code;
};

/** Where the text is in force already, there is nothing to change; what is in force is waited for all the same. */
export const reportUnchanged = async (
  { revision, digest }: Pick<Revision, "revision" | "digest">,
  gateway: GatewayClient,
  options: ReportOptions,
  runtime: Runtime,
): Promise<ExitCode> => {
  const { code, propagation } = await awaitChange(gateway, options, runtime);
  if (options.json) await runtime.print(`${JSON.stringify({ revision, digest, changed: false, propagation })}\n`);
  return code;
};

interface Awaited {
  readonly code: ExitCode;
  /** For programs: whether it was seen everywhere, and how long that took. */
  readonly propagation?: Propagation;
}

/** Where it is wished for, waits until the table in force has been seen. */
const awaitChange = async (
  gateway: GatewayClient,
  { json, wait }: ReportOptions,
  runtime: Runtime,
): Promise<Awaited> => {
  if (wait === undefined) return { code: EXIT.ok };
  const options = { seconds: wait, probes: PROBES_DEFAULT };
  const propagation = await waitUntilPropagated(gateway, options, runtime);
  if (!json) await runtime.print(formatPropagation(propagation, options));
  if (!propagation.isSeen) runtime.report(formatNotPropagated(gateway.url, propagation, options));
  return { code: propagation.isSeen ? EXIT.ok : EXIT.notPropagated, propagation: propagationOf(propagation) };
};

interface SentTable {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The gateway's own faults of a table that was sent to it, with their places. */
export const faultsAtGateway = (failure: GatewayFailure, { bytes }: SentTable): readonly SentFault[] => {
  const members = failure.reason === "problem" ? failure.problem.members : {};
  const read = v.safeParse(faultsSchema, members);
  if (!read.success) return [];
  const { positionOf } = readJsonText(new TextDecoder().decode(bytes));
  return read.output.faults.map((fault) => ({ ...fault, ...positionOf(fault.pointer) }));
};

type SentFault = Omit<PlacedFault, "kind"> & { readonly kind: string };

const formatFaults = (failure: GatewayFailure, table: SentTable): string =>
  faultsAtGateway(failure, table)
    .map((fault) => faultLine(table.name, fault))
    .join("");

/** Somebody else was faster. `current`: the revision that a change has to name now, where the gateway says so. */
const conflict = (expected: number, current: unknown, runtime: Runtime): ExitCode => {
  const advice = typeof current === "number" ? conflictAdvice(expected, current) : HISTORY_ADVICE;
  runtime.report(`  nothing was changed. ${advice}`);
  return EXIT.conflict;
};

const HISTORY_ADVICE = "`waybill table history` shows who changed it; review that change and start again\n";

/** What to do about a change of somebody else's that came first, for stderr. */
export const conflictAdvice = (expected: number, current: number): string =>
  `\`waybill table history\` shows who published revision ${current}, \`waybill table diff ${expected} ${current}\` what it changes,\n` +
  `  \`waybill table show ${current}\` its text; merge its changes and start again with --expect ${current}\n`;

/** `revision 42 (publish, by ann): sha256 …`. */
export const formatRevision = ({ revision, kind, author, digest }: Revision): string =>
  `revision ${revision} (${kind}, by ${author}): sha256 ${digest}`;

/** Whether a person wants a change of the published table, or said so before; the exit code where not. */
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
  nobody: "error: not a terminal; pass --yes to confirm\n",
  ended: "\n",
  interrupted: "\n",
};
