import type { Result } from "../../ids/index.ts";
import type { Runtime } from "../runtime.ts";
import {
  type GatewayAddress,
  type GatewayFailure,
  type GatewayRequest,
  type GatewayResponse,
  mayBeDone,
  sendRequest,
} from "./http.ts";

/** Between two attempts. */
const PAUSES_MS = [1_000, 4_000, 15_000, 30_000];

/** Sends requests to one gateway: `once`, or `repeated` while a failure may pass. An address that nothing has reached yet fails at once. */
export function senderTo(address: GatewayAddress, runtime: Runtime, deadlineMs?: number) {
  let isReached = false;
  const once = async (request: GatewayRequest): Promise<Result<GatewayResponse, GatewayFailure>> => {
    const answer = await sendRequest(address, request, runtime, deadlineMs);
    isReached ||= answer.ok || answer.error.reason !== "unreachable";
    return answer;
  };
  const repeated = async (request: GatewayRequest): Promise<Result<GatewayResponse, GatewayFailure>> => {
    for (let attempt = 0; ; attempt++) {
      const answer = await once(request);
      const pauseMs = PAUSES_MS[attempt];
      if (answer.ok || pauseMs === undefined || !isReached || !mayPass(answer.error)) return answer;
      await runtime.pause(waitMsOf(answer.error) ?? pauseMs);
    }
  };
  return { once, repeated };
}

const mayPass = (failure: GatewayFailure): boolean =>
  failure.reason === "unreachable" ||
  mayBeDone(failure) ||
  (failure.reason === "problem" && (failure.problem.status >= 500 || failure.problem.status === 429));

const waitMsOf = (failure: GatewayFailure): number | undefined =>
  failure.reason === "problem" && failure.problem.retryAfterSeconds !== undefined
    ? Math.min(failure.problem.retryAfterSeconds, 60) * 1000
    : undefined;
