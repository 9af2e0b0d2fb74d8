import { err, type Result } from "../ids/result.ts";
import type { TableHistoryError } from "../problems/port-errors.ts";
import type { RefusedChange, TableHistory } from "../table-ports.ts";
import { inTime, noAnswer } from "./in-time.ts";
import type { TruthObject } from "./truth-object.ts";

/** All revisions of a deployment are in one object. */
const NAME = "table";

/** What names the deployment among those of its zone, which share one cache: no two have the same object. */
export const deploymentName = (namespace: DurableObjectNamespace<TruthObject>): string =>
  namespace.idFromName(NAME).toString();

/** For what is only read. */
const DEADLINE_MS = 5_000;

/** The check of the largest table takes seconds, and so do thousands of pages of packs that are looked for in KV. A client waits. */
const CHECK_DEADLINE_MS = 30_000;

/** Told of a refused change that the audit lacks, because the object could not be asked. */
export type ReportLost = (refused: RefusedChange, why: string) => void;

/** The Durable Object as the history of the table. A stub is broken after a failure, so each call makes its own. */
export function durableTableHistory(
  namespace: DurableObjectNamespace<TruthObject>,
  reportLost: ReportLost,
): TableHistory {
  const truth = () => truthOf<TableHistory>(namespace);
  return {
    text: (revision) => asked(() => truth().text(revision), "again"),
    revisions: (stretch) => asked(() => truth().revisions(stretch), "again"),
    audit: (stretch) => asked(() => truth().audit(stretch), "again"),
    status: () => asked(() => truth().status(), "again"),
    packFaults: (octets) => asked(() => truth().packFaults(octets), "again", CHECK_DEADLINE_MS),
    publish: (wish, octets) => changed(() => truth().publish(wish, octets)),
    rollback: (wish, to) => changed(() => truth().rollback(wish, to)),
    startCanary: (wish, octets, audience) => changed(() => truth().startCanary(wish, octets, audience)),
    promote: (wish) => changed(() => truth().promote(wish)),
    abort: (wish) => changed(() => truth().abort(wish)),
    async noteRefusal(refused) {
      const noted = await asked(() => truth().noteRefusal(refused), "once");
      if (!noted.ok) reportLost(refused, noted.error.why);
      return noted;
    },
  };
}

/** A stub, for one call. The platform's type goes down into every answer, as if one could hold functions; these are plain data. */
export const truthOf = <Port>(namespace: DurableObjectNamespace<TruthObject>): Port =>
  namespace.get(namespace.idFromName(NAME)) as unknown as Port;

/** Reads may be asked `again` where the platform says that it helps; an object with too much to do is left alone. */
export async function asked<Value, Failure>(
  ask: () => Promise<Result<Value, Failure>>,
  times: "once" | "again",
  deadlineMs = DEADLINE_MS,
  outcome?: "unknown",
): Promise<Result<Value, Failure | TableHistoryError>> {
  try {
    return await inTime(ask(), deadlineMs, noAnswer);
  } catch (error) {
    if (times === "again" && isRetryable(error)) return asked(ask, "once", deadlineMs);
    const why = error instanceof Error ? error.message : String(error);
    return err({ reason: "control-plane-unavailable", why, outcome });
  }
}

/** An object that does not answer may have made the change, or make it yet. */
const changed = <Value, Failure>(ask: () => Promise<Result<Value, Failure>>) =>
  asked(ask, "once", CHECK_DEADLINE_MS, "unknown");

/** Cloudflare's documentation of Durable Objects, "Error handling": `retryable` and `overloaded` of what a stub throws. */
function isRetryable(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  return "retryable" in error && error.retryable === true && !("overloaded" in error && error.overloaded === true);
}
