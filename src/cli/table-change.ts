import * as v from "valibot";
import type { Result } from "../ids/index.ts";
import type { Revision } from "./gateway-answers.ts";
import { faultsSchema } from "./gateway-answers.ts";
import type { GatewayClient } from "./gateway-client.ts";
import { failureText, mayBeDone } from "./gateway-failure.ts";
import type { GatewayFailure } from "./gateway-request.ts";
import { readJsonText } from "./json-text.ts";
import { printable } from "./printable.ts";
import { refuse } from "./refuse.ts";
import { faultLine } from "./table-file.ts";
import { findOutcome, type SentChange } from "./table-outcome.ts";
import { type Arrival, arrivalText, PROBES_DEFAULT, unseenText, waitUntilSeen } from "./table-wait.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

/** What every command has in common that changes the published table: the question before, and the tale after. */

/** Whether a person wants it, or said so before. Where nobody can be asked, the answer is no. */
export const isWanted = async (question: string, yes: boolean, world: World): Promise<boolean> => {
  if (yes) return true;
  const answer = await world.ask(`${question} [y/N] `);
  if (answer === undefined) world.report("error: nobody is at the terminal to be asked; say --yes\n");
  else if (/^y(es)?$/i.test(answer.trim())) return true;
  world.report("nothing was changed\n");
  return false;
};

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
}

/** Tells what became of a change. */
export const tellChange = async (
  answer: Result<Revision, GatewayFailure>,
  gateway: GatewayClient,
  change: ToldChange,
  telling: Telling,
  world: World,
): Promise<ExitCode> => {
  if (answer.ok) return tellMade(answer.value, gateway, change, telling, world);
  const { error } = answer;
  world.report(failureText(gateway.url, error));
  if (error.reason === "problem" && error.problem.slug === "stale-revision") {
    const { members } = error.problem;
    return outrun(members["canary"] ?? members["current"], world);
  }
  if (change.table !== undefined) world.report(faultTexts(error, change.table));
  if (!mayBeDone(error)) return refuse("nothing was changed\n", world);
  world.report("  whether anything was changed is not known: looking into the history\n");
  const found = await findOutcome(gateway, change, world);
  if (found.outcome === "open") {
    world.report(UNKNOWN);
    return EXIT.unknown;
  }
  if (found.outcome === "outrun") return outrun(found.revision.revision, world);
  world.report(`it was done: ${revisionText(found.revision)}\n`);
  return tellMade(found.revision, gateway, change, telling, world);
};

const tellMade = async (
  revision: Revision,
  gateway: GatewayClient,
  { tale }: ToldChange,
  telling: Telling,
  world: World,
): Promise<ExitCode> => {
  const { json } = telling;
  if (!json) await world.print(`${printable(tale(revision))}\n`);
  const { code, propagation } = await awaitChange(gateway, telling, world);
  if (json) await world.print(`${JSON.stringify({ ...revision, propagation })}\n`);
  return code;
};

/** The same change can be sent again: whoever names a revision that is no longer the last one is refused. */
const UNKNOWN =
  "it is not known whether it was done, or will be: the history does not show it yet. Look again with `waybill table history`;\n" +
  "the same command with the same --expect is made once at most\n";

interface Awaited {
  readonly code: ExitCode;
  /** For people and programs alike: how long it took. */
  readonly propagation?: Pick<Arrival, "firstSeenMs" | "lastSeenMs">;
}

/** Where it is wished for, waits until the table in force has been seen. */
export const awaitChange = async (gateway: GatewayClient, { json, wait }: Telling, world: World): Promise<Awaited> => {
  if (wait === undefined) return { code: EXIT.ok };
  const patience = { seconds: wait, probes: PROBES_DEFAULT };
  const arrival = await waitUntilSeen(gateway, patience, world);
  const { isSeen, firstSeenMs, lastSeenMs } = arrival;
  if (!json) await world.print(arrivalText(arrival, patience));
  if (!isSeen) world.report(unseenText(gateway.url, arrival, patience));
  return { code: isSeen ? EXIT.ok : EXIT.unseen, propagation: { firstSeenMs, lastSeenMs } };
};

interface SentTable {
  readonly name: string;
  readonly octets: Uint8Array;
}

/** The gateway's own faults of a table that was sent to it, with their places. */
export const faultTexts = (failure: GatewayFailure, { name, octets }: SentTable): string => {
  const members = failure.reason === "problem" ? failure.problem.members : {};
  const read = v.safeParse(faultsSchema, members);
  if (!read.success) return "";
  const { positionOf } = readJsonText(new TextDecoder().decode(octets));
  return read.output.faults.map((fault) => faultLine(name, { ...fault, ...positionOf(fault.pointer) })).join("");
};

/** Somebody else was faster. */
const outrun = (current: unknown, world: World): ExitCode => {
  const now = typeof current === "number" ? current : undefined;
  world.report(
    now === undefined
      ? "  nothing was changed: see `waybill table history` for who was faster, and begin again\n"
      : `  nothing was changed. \`waybill table history\` shows who published revision ${now}; take over what it changed, and begin again with --expect ${now}\n`,
  );
  return EXIT.outrun;
};

/** `revision 42 (publish, by ann): sha256 …`. */
export const revisionText = ({ revision, kind, author, digest }: Revision): string =>
  `revision ${revision} (${kind}, by ${author}): sha256 ${digest}`;
