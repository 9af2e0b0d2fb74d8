import type { ControlPlaneRpc } from "../edge/env.ts";
import { callObject } from "../edge/platform.ts";
import { PART_CALLS } from "../features/stored-parts.ts";
import { err, type Result } from "../ids/result.ts";
import type { ControlPlaneApi, RejectedChange } from "../ports/admin.ts";
import type { TableHistoryError } from "../problems/errors.ts";
import type { CallRule } from "./feature.ts";

/** One object has all revisions of a deployment. */
const NAME = "table";

/** Identifies the deployment: the Workers of a zone share one edge cache, and no two have the same object. */
export const deploymentName = (namespace: DurableObjectNamespace<ControlPlaneRpc>): string =>
  namespace.idFromName(NAME).toString();

/** Deadlines of calls, in ms. */
export const CALL_DEADLINES = {
  read: 5_000,
  /** Checking the largest table takes seconds, and so does reading thousands of pages of packs from KV. */
  check: 30_000,
  /** KV takes two parts in turn, or lists all parts of one. */
  part: 10_000,
};

const READ = { deadline: "read", isIdempotent: true } as const;
const CHANGE = { deadline: "check", isIdempotent: false } as const;
/** After the first answers of an isolate: on one machine the object would start beside them. */
const FORM_DELAY_MS = 1_000;

/** Asks for the stored form of a table; without an answer the isolate goes on with what it compiled. */
export const formRequests =
  (namespace: DurableObjectNamespace<ControlPlaneRpc>, pause: (ms: number) => Promise<void>) =>
  async (digest: string): Promise<void> => {
    await pause(FORM_DELAY_MS);
    const ask = () => namespace.get(namespace.idFromName(NAME)).renewForm(digest);
    await callObject(ask, CALL_DEADLINES.check, true).catch(() => undefined);
  };

/** For isolates of a start that hands a table over. */
export const beginCalls = (namespace: DurableObjectNamespace<ControlPlaneRpc>) => async () => {
  const stub = () => namespace.get(namespace.idFromName(NAME)) as unknown as Pick<ControlPlaneRpc, "begin">;
  const begin = () => stub().begin();
  try {
    return await callObject(begin, CALL_DEADLINES.check, true);
  } catch (error) {
    return err(unavailable(error));
  }
};

const CALLS = {
  text: READ,
  revisions: READ,
  audit: READ,
  status: READ,
  partFaults: { deadline: "check", isIdempotent: true },
  publish: CHANGE,
  rollback: CHANGE,
  startCanary: CHANGE,
  promote: CHANGE,
  abort: CHANGE,
  recordRejection: { deadline: "read", isIdempotent: false },
  ...PART_CALLS,
} as const satisfies Record<keyof ControlPlaneApi, CallRule>;

type Call = (...values: readonly unknown[]) => Promise<Result<unknown, unknown>>;

/** The control plane as calls to its Durable Object. A stub is broken after a failure, so each call makes its own. */
export function controlPlane(
  namespace: DurableObjectNamespace<ControlPlaneRpc>,
  reportLost: (rejected: RejectedChange, why: string) => void,
  deadlines = CALL_DEADLINES,
): ControlPlaneApi {
  const stub = () => namespace.get(namespace.idFromName(NAME)) as unknown as Record<string, Call>;
  const methods = Object.entries(CALLS).map(([name, { deadline, isIdempotent }]) => {
    const method: Call = (...values) =>
      call(() => (stub()[name] as Call)(...values), isIdempotent, deadlines[deadline]);
    return [name, method];
  });
  const api = Object.fromEntries(methods) as unknown as ControlPlaneApi;
  return {
    ...api,
    async recordRejection(rejected) {
      const recorded = await api.recordRejection(rejected);
      if (!recorded.ok) reportLost(rejected, recorded.error.why);
      return recorded;
    },
  };
}

async function call<Value, Failure>(
  send: () => Promise<Result<Value, Failure>>,
  isIdempotent: boolean,
  deadlineMs: number,
): Promise<Result<Value, Failure | TableHistoryError>> {
  try {
    return await callObject(send, deadlineMs, isIdempotent);
  } catch (error) {
    // A change may have been made, or may still be made.
    return err({ ...unavailable(error), outcome: isIdempotent ? undefined : "unknown" });
  }
}

const unavailable = (error: unknown): TableHistoryError => ({
  reason: "control-plane-unavailable",
  why: error instanceof Error ? error.message : String(error),
});
