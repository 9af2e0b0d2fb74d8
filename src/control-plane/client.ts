import type { ControlPlaneRpc } from "../edge/env.ts";
import { callObject, systemClock } from "../edge/platform.ts";
import { PART_CALLS } from "../features/stored-parts.ts";
import { err, type Result } from "../ids/result.ts";
import type { ControlPlaneApi, RejectedChange } from "../ports/admin.ts";
import type { TableHistoryError } from "../problems/errors.ts";
import { CHECK_DEADLINE_MS, TABLE_OBJECT, unavailable } from "./deployment.ts";
import type { CallRule } from "./feature.ts";

/** Deadlines of calls, in ms. */
export const CALL_DEADLINES = {
  read: 5_000,
  check: CHECK_DEADLINE_MS,
  /** KV takes two parts in turn, or lists all parts of one. */
  part: 10_000,
};

const READ = { deadline: "read", isIdempotent: true } as const;
const CHANGE = { deadline: "check", isIdempotent: false } as const;
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
  clock = systemClock,
): ControlPlaneApi {
  const stub = () => namespace.get(namespace.idFromName(TABLE_OBJECT)) as unknown as Record<string, Call>;
  const methods = Object.entries(CALLS).map(([name, rule]) => {
    const { deadline, isIdempotent } = rule;
    const method: Call = (...values) =>
      call(() => (stub()[name] as Call)(...values), isIdempotent, deadlines[deadline]);
    const timed: Call = (request: unknown, ...values) =>
      method({ ...Object(request), notAfterMs: clock.nowMs() + deadlines[deadline] }, ...values);
    return [name, rule === CHANGE ? timed : method];
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
