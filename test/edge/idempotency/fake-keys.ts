import type {
  BeginCall,
  Begun,
  CreateRecord,
  IdempotencyKeys,
  KeptAnswer,
} from "../../../src/features/idempotency/port.ts";
import { ok } from "../../../src/ids/result.ts";

interface Held {
  readonly scope: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly startedAtMs: number;
  record: CreateRecord;
  untilMs: number;
  attempt: string | undefined;
  attempts: number;
  leaseUntilMs: number;
  answer: KeptAnswer | undefined;
}

/** The port in memory, without limits. `clock`: a test sets it. */
export function fakeKeys(clock: { nowMs: number }): IdempotencyKeys {
  const all = new Map<string, Held>();
  const nameOf = ({ scope, key }: { readonly scope: string; readonly key: string }) => `${scope} ${key}`;
  const isLive = ({ untilMs }: Held) => untilMs > clock.nowMs;
  const isRunning = ({ attempt, leaseUntilMs }: Held) => attempt !== undefined && leaseUntilMs > clock.nowMs;

  const start = (call: BeginCall): Begun => {
    const { scope, key, fingerprint, proposal, ttlMs, leaseMs, attempt, answer } = call;
    const nowMs = clock.nowMs;
    const untilMs = nowMs + (ttlMs > 0 ? Math.max(ttlMs, leaseMs) : 0);
    const times = { startedAtMs: nowMs, untilMs, leaseUntilMs: nowMs + leaseMs };
    const held = { scope, key, fingerprint, record: proposal, attempt, attempts: 1, answer, ...times };
    if (ttlMs > 0) all.set(nameOf(call), held);
    return { state: "started", record: proposal, isResumed: false, untilMs };
  };

  const begin = (call: BeginCall): Begun => {
    const held = all.get(nameOf(call));
    if (held === undefined || !isLive(held)) return start(call);
    const { untilMs } = held;
    if (held.fingerprint !== call.fingerprint) return { state: "mismatch", untilMs };
    const isOwn = held.attempt === call.attempt;
    if (held.answer !== undefined && !isOwn)
      return { state: "done", record: held.record, answer: held.answer, untilMs };
    if (held.answer === undefined && isRunning(held) && !isOwn) {
      const leftSeconds = Math.ceil((held.leaseUntilMs - clock.nowMs) / 1000);
      return { state: "running", retryAfterSeconds: Math.min(leftSeconds, 5), untilMs };
    }
    if (held.answer === undefined && !isRunning(held)) {
      held.attempt = call.attempt;
      held.attempts++;
      held.leaseUntilMs = clock.nowMs + call.leaseMs;
      held.untilMs = Math.max(held.untilMs, held.leaseUntilMs);
    }
    if (held.answer === undefined && call.answer !== undefined) {
      held.answer = call.answer;
      held.record = call.proposal;
    }
    return { state: "started", record: held.record, isResumed: held.attempts > 1, untilMs: held.untilMs };
  };

  return {
    begin: async (call) => ok(begin(call)),
    async finish(call) {
      const held = all.get(nameOf(call));
      if (held?.attempt === call.attempt && held.answer === undefined) {
        if (call.isVoid === true && held.attempts === 1) all.delete(nameOf(call));
        held.attempt = undefined;
        held.answer = call.answer;
      }
      return ok(undefined);
    },
    async show(key) {
      const entries = [...all.values()].filter((held) => held.key === key && isLive(held));
      return ok(
        entries.map((held) => ({
          scope: held.scope.slice(0, 12),
          state: held.answer === undefined ? (isRunning(held) ? "running" : "open") : "done",
          record: held.record,
          fingerprint: held.fingerprint,
          attempts: held.attempts,
          startedAtMs: held.startedAtMs,
          untilMs: held.untilMs,
          answer: held.answer && {
            status: held.answer.status,
            bytes: held.answer.fields.reduce(
              (sum, [name, value]) => sum + name.length + value.length,
              held.answer.body.byteLength,
            ),
          },
        })),
      );
    },
  };
}
