import type { CallKind } from "../thin-object.ts";
import type { Turn, WaitingKind } from "./ownerless.ts";
import type { StateRpc } from "./rpc.ts";

/** `waitedMs`: before it. */
export type Send = (rpc: StateRpc, waitedMs: number) => Promise<unknown>;
/** `method`: with its object. `isAnswered`: by an earlier try. */
export type Call = Readonly<{
  key: string;
  method: string;
  kind: CallKind;
  send: Send;
  turn?: Turn;
  isAnswered?: () => boolean;
}>;

/** A client waits for it. */
export type AwaitedCall = Call & { readonly kind: WaitingKind };

export const isAwaited = (call: Call): call is AwaitedCall => call.kind === "prompt" || isPatient(call);

export const isPatient = (call: Call): call is AwaitedCall => call.kind === "start" || call.kind === "patient";

/** A call as it was sent to nodes. */
export interface Sent {
  /** One for each try. */
  readonly answers: Promise<unknown>[];
  /** For the object's owner, and a place. */
  readonly waitedMs: number;
}

export const UNSENT: Sent = { answers: [], waitedMs: 0 };

/** A call without an answer. */
export class StateUnavailable extends Error {
  /** One for each try; some still come. None where no node was asked: the call was never made. */
  readonly answers: readonly Promise<unknown>[];
  /** The call ended so much later than its caller counted. */
  readonly waitedMs: number;

  constructor(why: string, { answers, waitedMs }: Sent = UNSENT, cause?: unknown) {
    super(why, { cause });
    this.waitedMs = waitedMs;
    this.answers = answers;
  }
}
