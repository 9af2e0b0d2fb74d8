import * as v from "valibot";
import type { Result } from "../../ids/index.ts";
import { type AuditEntry, faultsSchema, type TableRevision } from "../../published/table-api.ts";
import { escapeControls, jsonText } from "../lib/output.ts";
import { faultLine, placed, type TableFile } from "../lib/table-file.ts";
import type { PlanWarning } from "../lib/warnings.ts";
import { EXIT, fail, type Runtime } from "../runtime.ts";
import type { ChangeRequest, GatewayClient } from "./client.ts";
import { formatFailure, type GatewayFailure, mayBeDone } from "./http.ts";
import {
  formatNotPropagated,
  formatPropagation,
  PROBES_DEFAULT,
  propagationOf,
  waitUntilPropagated,
} from "./propagation.ts";

/** A change that was sent. */
export interface PendingChange {
  readonly kind: "publish" | "rollback" | "canary" | "promote" | "abort";
  readonly request: ChangeRequest;
  /** SHA-256 of the text that it puts into force, if known here. */
  readonly digest?: string | undefined;
}

/**
 * What the history shows of a change without a response. `revision`: the one that it made, or that is in force after an abort.
 * If superseded: the revision of another change, after which this one can no longer be applied.
 */
export type ChangeOutcome =
  | { readonly outcome: "applied" | "superseded"; readonly revision: TableRevision }
  | { readonly outcome: "unknown" };

/** The Durable Object may finish the change after the gateway has stopped waiting for it. */
const ATTEMPTS_MAX = 15;
const POLL_INTERVAL_MS = 1_000;

/** More than can appear between two polls. */
const ENTRIES = 20;

/** Polls the history for the outcome of a change, for some seconds at most. */
export const findOutcome = async (
  gateway: GatewayClient,
  change: PendingChange,
  runtime: Runtime,
): Promise<ChangeOutcome> => {
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
  return last === undefined || (audit !== undefined && inForce === undefined)
    ? { outcome: "unknown" }
    : { outcome: "superseded", revision: last };
};

/** A change that was sent, with the table in whose text faults have their positions. */
export interface ChangeReport extends PendingChange {
  readonly table?: SentTable | undefined;
  readonly message: (revision: TableRevision) => string;
  /** The warnings that the review showed. */
  readonly warnings?: readonly PlanWarning[] | undefined;
}

/** What a command that changes the table works with. */
export interface Session<Wait = number> {
  readonly gateway: GatewayClient;
  /** `wait`: seconds for its propagation. */
  readonly options: { readonly json?: boolean; readonly wait?: Wait | undefined };
  readonly runtime: Runtime;
}

type Answer = Result<TableRevision, GatewayFailure>;

/** Sends a change, and reports its outcome. */
export const makeChange = async (send: () => Promise<Answer>, change: ChangeReport, session: Session) => {
  const made = await session.runtime.guard(async () => resolveOutcome(await send(), change, session), UNDER_WAY);
  return reportSuccess(made, change, session);
};

const UNDER_WAY =
  "\nthe change was in progress and may still be made. Check with `waybill table history` and `waybill table audit`\n";

/** The revision that was made. */
const resolveOutcome = async (answer: Answer, change: ChangeReport, { gateway, runtime }: Session) => {
  if (answer.ok) return answer.value;
  const { error } = answer;
  runtime.report(formatFailure(gateway.url, error));
  if (error.reason === "problem" && error.problem.slug === "stale-revision") {
    const { members } = error.problem;
    return conflict(change, members["canary"] ?? members["current"]);
  }
  const { table } = change;
  if (table !== undefined) {
    const faults = faultsAtGateway(error, table).map((fault) => faultLine(table.name, fault));
    runtime.report(faults.join(""));
  }
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
  if (!options.json && options.wait === undefined) runtime.report(NOT_AWAITED);
  const farewell = `\nthe change was made; no longer waiting for it: ${escapeControls(formatRevision(revision))}\n`;
  const { code, propagation } = await runtime.guard(() => awaitChange(session), farewell);
  if (options.json) await runtime.print(jsonText({ ...revision, changed: true, warnings, propagation }));
  return code;
};

const NOT_AWAITED = "not yet known to be in force; watch it with `waybill table status --wait`\n";

/** Ends a command whose text is in force already. `--wait` still waits for its propagation. */
export const endUnchanged = async (
  why: string,
  { revision, digest }: Pick<TableRevision, "revision" | "digest">,
  { gateway, options: { json = false, wait }, runtime }: Session<number | false>,
): Promise<never> => {
  runtime.report(why);
  const { code, propagation } = await awaitChange({ gateway, options: { json, wait: wait || undefined }, runtime });
  if (json) await runtime.print(jsonText({ revision, digest, changed: false, propagation }));
  return fail("", code);
};

/** With `--wait`, waits until the published table has propagated. */
const awaitChange = async ({ gateway, options: { json, wait }, runtime }: Session) => {
  if (wait === undefined) return { code: EXIT.ok, propagation: undefined };
  const options = { seconds: wait, probes: PROBES_DEFAULT };
  const propagation = await waitUntilPropagated(gateway, options, runtime);
  if (!json) await runtime.print(formatPropagation(propagation, options));
  if (!propagation.isSeen) runtime.report(formatNotPropagated(gateway.url, propagation, options));
  return { code: propagation.isSeen ? EXIT.ok : EXIT.notPropagated, propagation: propagationOf(propagation) };
};

type SentTable = Pick<TableFile<unknown>, "name" | "bytes">;

/** The faults that the gateway found in a table, with their positions in the text. */
export const faultsAtGateway = (failure: GatewayFailure, { bytes }: SentTable) => {
  const read = v.safeParse(faultsSchema, failure.reason === "problem" ? failure.problem.members : {});
  return read.success ? placed(read.output.faults, bytes) : [];
};

/** Another change came first. `current`: the revision that a change must name now, if the gateway names it. */
const conflict = ({ request }: PendingChange, current: unknown): never => {
  const advice = typeof current === "number" ? conflictAdvice(request.expectedRevision, current) : HISTORY_ADVICE;
  return fail(`  nothing was changed. ${advice}`, EXIT.conflict);
};

const HISTORY_ADVICE = "`waybill table history` shows who changed it; review that change and start again\n";

/** What to do after another change came first, for stderr. */
export const conflictAdvice = (expected: number, current: number): string =>
  `\`waybill table history\` shows who published revision ${current}, \`waybill table diff ${expected} ${current}\` what it changes,\n` +
  `  \`waybill table show ${current}\` its text; merge its changes and start again with --expect ${current}\n`;

/** `revision 42 (publish, by ann): sha256 …`. */
export const formatRevision = ({ revision, kind, author, digest }: TableRevision): string =>
  `revision ${revision} (${kind}, by ${author}): sha256 ${digest}`;
