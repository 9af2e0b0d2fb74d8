import type { Result } from "../../ids/index.ts";
import type { Runtime } from "../runtime.ts";
import { type GatewayFailure, mayBeDone } from "./http.ts";

/** Between two attempts. */
const PAUSES_MS = [1_000, 4_000, 15_000, 30_000];

/** Repeats a request that may be repeated, while its failure may pass. */
export async function repeated<Value>(
  send: () => Promise<Result<Value, GatewayFailure>>,
  { pause }: Pick<Runtime, "pause">,
): Promise<Result<Value, GatewayFailure>> {
  for (let attempt = 0; ; attempt++) {
    const answer = await send();
    const pauseMs = PAUSES_MS[attempt];
    if (answer.ok || pauseMs === undefined || !mayPass(answer.error)) return answer;
    await pause(waitMsOf(answer.error) ?? pauseMs);
  }
}

const mayPass = (failure: GatewayFailure): boolean =>
  failure.reason === "unreachable" ||
  mayBeDone(failure) ||
  (failure.reason === "problem" && (failure.problem.status >= 500 || failure.problem.status === 429));

const waitMsOf = (failure: GatewayFailure): number | undefined =>
  failure.reason === "problem" && failure.problem.retryAfterSeconds !== undefined
    ? Math.min(failure.problem.retryAfterSeconds, 60) * 1000
    : undefined;
