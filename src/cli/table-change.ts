import * as v from "valibot";
import { err, ok, type Result } from "../ids/index.ts";
import type { Revision } from "./gateway-answers.ts";
import { faultsSchema } from "./gateway-answers.ts";
import type { GatewayClient } from "./gateway-client.ts";
import { failureText, mayBeDone } from "./gateway-failure.ts";
import type { GatewayFailure } from "./gateway-request.ts";
import { readJsonText } from "./json-text.ts";
import type { PlanWarning } from "./plan-warnings.ts";
import { printable } from "./printable.ts";
import { refuse } from "./refuse.ts";
import { faultLine, type PlacedFault } from "./table-file.ts";
import { findOutcome, type SentChange } from "./table-outcome.ts";
import {
  arrivalText,
  PROBES_DEFAULT,
  type Propagation,
  propagationOf,
  unseenText,
  waitUntilSeen,
} from "./table-wait.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

/** What every command has in common that changes the published table. */

/** How the outcome is told, and whether to wait until it has arrived. */
export interface Telling {
  readonly json?: boolean;
  /** Seconds. */
  readonly wait?: number;
}

/** A change that was sent, with the name and the octets of its table for the places of faults. */
export interface ToldChange extends SentChange {
  readonly table?: SentTable;
  readonly tale: (revision: Revision) => string;
  /** What looked odd before it was made. */
  readonly warnings?: readonly PlanWarning[];
}

/** Makes a change, and tells what became of it. */
export const makeChange = async (
  send: () => Promise<Result<Revision, GatewayFailure>>,
  gateway: GatewayClient,
  change: ToldChange,
  telling: Telling,
  world: World,
): Promise<ExitCode> => {
  const made = await world.guard(async () => settle(await send(), gateway, change, world), UNDER_WAY);
  return made.ok ? tellMade(made.value, gateway, change, telling, world) : made.error;
};

const UNDER_WAY =
  "\nit was under way: it may have been made, or be made yet. Look with `waybill table history` and `waybill table audit`\n";

/** The revision that was made, as far as anybody knows; otherwise it says why not, and which exit code that is. */
const settle = async (
  answer: Result<Revision, GatewayFailure>,
  gateway: GatewayClient,
  change: ToldChange,
  world: World,
): Promise<Result<Revision, ExitCode>> => {
  if (answer.ok) return answer;
  const { error } = answer;
  world.report(failureText(gateway.url, error));
  if (error.reason === "problem" && error.problem.slug === "stale-revision") {
    const { members } = error.problem;
    return err(outrun(change.wish.expect, members["canary"] ?? members["current"], world));
  }
  if (change.table !== undefined) world.report(faultTexts(error, change.table));
  if (!mayBeDone(error)) return err(refuse("nothing was changed\n", world));
  world.report("  whether anything was changed is not known: looking into the history\n");
  const found = await findOutcome(gateway, change, world);
  if (found.outcome === "open") {
    world.report(UNKNOWN);
    return err(EXIT.unknown);
  }
  if (found.outcome === "outrun") return err(outrun(change.wish.expect, found.revision.revision, world));
  world.report(`it was done: ${revisionText(found.revision)}\n`);
  return ok(found.revision);
};

/** The same change can be sent again: whoever names a revision that is no longer the last one is refused. */
const UNKNOWN =
  "it is not known whether it was done, or will be: the history does not show it yet. Look again with `waybill table history`;\n" +
  "the same command with the same --expect is made once at most\n";

const tellMade = async (
  revision: Revision,
  gateway: GatewayClient,
  { tale, warnings }: ToldChange,
  telling: Telling,
  world: World,
): Promise<ExitCode> => {
  if (!telling.json) await world.print(`${printable(tale(revision))}\n`);
  const farewell = `\nit was done, and is not waited for any longer: ${printable(revisionText(revision))}\n`;
  const { code, propagation } = await world.guard(() => awaitChange(gateway, telling, world), farewell);
  if (telling.json) await world.print(`${JSON.stringify({ ...revision, changed: true, warnings, propagation })}\n`);
  return code;
};

/** Where the text is in force already, there is nothing to change; what is in force is waited for all the same. */
export const tellUnchanged = async (
  { revision, digest }: Pick<Revision, "revision" | "digest">,
  gateway: GatewayClient,
  telling: Telling,
  world: World,
): Promise<ExitCode> => {
  const { code, propagation } = await awaitChange(gateway, telling, world);
  if (telling.json) await world.print(`${JSON.stringify({ revision, digest, changed: false, propagation })}\n`);
  return code;
};

interface Awaited {
  readonly code: ExitCode;
  /** For programs: whether it was seen everywhere, and how long that took. */
  readonly propagation?: Propagation;
}

/** Where it is wished for, waits until the table in force has been seen. */
const awaitChange = async (gateway: GatewayClient, { json, wait }: Telling, world: World): Promise<Awaited> => {
  if (wait === undefined) return { code: EXIT.ok };
  const patience = { seconds: wait, probes: PROBES_DEFAULT };
  const arrival = await waitUntilSeen(gateway, patience, world);
  if (!json) await world.print(arrivalText(arrival, patience));
  if (!arrival.isSeen) world.report(unseenText(gateway.url, arrival, patience));
  return { code: arrival.isSeen ? EXIT.ok : EXIT.unseen, propagation: propagationOf(arrival) };
};

interface SentTable {
  readonly name: string;
  readonly octets: Uint8Array;
}

/** The gateway's own faults of a table that was sent to it, with their places. */
export const faultsAtGateway = (failure: GatewayFailure, { octets }: SentTable): readonly SentFault[] => {
  const members = failure.reason === "problem" ? failure.problem.members : {};
  const read = v.safeParse(faultsSchema, members);
  if (!read.success) return [];
  const { positionOf } = readJsonText(new TextDecoder().decode(octets));
  return read.output.faults.map((fault) => ({ ...fault, ...positionOf(fault.pointer) }));
};

type SentFault = Omit<PlacedFault, "kind"> & { readonly kind: string };

const faultTexts = (failure: GatewayFailure, table: SentTable): string =>
  faultsAtGateway(failure, table)
    .map((fault) => faultLine(table.name, fault))
    .join("");

/** Somebody else was faster. `current`: the revision that a change has to name now, where the gateway says so. */
const outrun = (expected: number, current: unknown, world: World): ExitCode => {
  const advice = typeof current === "number" ? outrunAdvice(expected, current) : HISTORY_ADVICE;
  world.report(`  nothing was changed. ${advice}`);
  return EXIT.outrun;
};

const HISTORY_ADVICE = "`waybill table history` shows who was faster; look at that, and begin again\n";

/** What to do about a change of somebody else's that came first, for stderr. */
export const outrunAdvice = (expected: number, current: number): string =>
  `\`waybill table history\` shows who published revision ${current}, \`waybill table diff ${expected} ${current}\` what it changes,\n` +
  `  \`waybill table show ${current}\` its text; take over what it changed, and begin again with --expect ${current}\n`;

/** `revision 42 (publish, by ann): sha256 …`. */
export const revisionText = ({ revision, kind, author, digest }: Revision): string =>
  `revision ${revision} (${kind}, by ${author}): sha256 ${digest}`;
