import { FRESH_MS, type RegionState } from "../../formats/region-state.ts";
import { clockText } from "../app/words.ts";
import type { Origin } from "../lookup/ask.ts";
import { lastedText } from "./plot/words.ts";

/** One origin: how it is, and what that is based on. The bounds are those of its region's state. */

export type OriginState = RegionState | "drained";

/** A fault within this time of an answer is one of many requests at once. */
const BESIDE_MS = 10_000;

const msOf = (time: string | undefined | null): number => (time ? Date.parse(time) : Number.NEGATIVE_INFINITY);

const hasFailedCheck = ({ lastCheck }: Origin, nowMs: number): boolean =>
  lastCheck?.good === false && nowMs - msOf(lastCheck.at) < FRESH_MS;

const hasLastFailed = ({ lastFault, lastAnswer }: Origin): boolean =>
  msOf(lastFault?.at) - msOf(lastAnswer) > BESIDE_MS;

export function originState(origin: Origin, nowMs: number): OriginState {
  if (origin.weight === 0) return "drained";
  if (origin.breaker === "open" || hasFailedCheck(origin, nowMs)) return "down";
  if (origin.breaker === "half-open") return "testing";
  if (hasLastFailed(origin)) return "degraded";
  const isKnown = nowMs - Math.max(msOf(origin.lastAnswer), msOf(origin.lastCheck?.at)) < FRESH_MS;
  return isKnown ? "healthy" : "not-asked";
}

const agoOf = (time: string, nowMs: number): string => `${lastedText(nowMs - msOf(time))} ago`;

/** `connection refused, 4 s ago; next try 21:48:20`. */
export function originEvidence(origin: Origin, nowMs: number): string {
  const { breaker, openUntil, lastCheck, lastFault } = origin;
  const state = originState(origin, nowMs);
  if (state === "drained") return "its weight is 0: it gets no request";
  const parts: string[] = [];
  if (state === "testing") parts.push("one request at a time goes there; the others wait for it");
  if (lastCheck && (!lastCheck.good || state === "healthy"))
    parts.push(
      `check ${lastCheck.good ? "passed" : `failed (${faultWords(lastCheck.fault) ?? lastCheck.status})`} ${agoOf(lastCheck.at, nowMs)}`,
    );
  if (lastFault && state !== "healthy") parts.push(`${faultWords(lastFault.fault)}, ${agoOf(lastFault.at, nowMs)}`);
  if (breaker === "open" && openUntil !== null) parts.push(`next try ${clockText(msOf(openUntil) / 1000, true)}`);
  return parts.join("; ") || (state === "not-asked" ? "no request was answered lately" : "it answers");
}

const faultWords = (fault: string | null): string | undefined => fault?.replaceAll("_", " ");

/** `last answer 21:38:58`. */
export const lastAnswerText = ({ lastAnswer }: Origin): string =>
  lastAnswer === null ? "no answer yet" : `last answer ${clockText(msOf(lastAnswer) / 1000, true)}`;
