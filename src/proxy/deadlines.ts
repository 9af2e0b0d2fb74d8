import type { Deadlines, Entity, Region } from "../routing/table.ts";

/** The deployment's own deadlines, in milliseconds; 0 for none. */
export interface DefaultDeadlines {
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
}

export interface AttemptLimits {
  readonly firstByteMs: number;
  readonly idleMs: number;
  /** When the whole request must have ended, Unix ms, and in how many milliseconds from its start that is. */
  readonly total: { readonly untilMs: number; readonly ms: number } | undefined;
}

/** What holds for an attempt: the entity's word goes before the region's, and that before the deployment's. */
export function limitsFor(entity: Entity, region: Region, own: DefaultDeadlines, startedMs: number): AttemptLimits {
  const pick = (name: keyof Deadlines): number => entity.deadlines[name] ?? region.deadlines[name] ?? own[name];
  const totalMs = pick("totalMs");
  return {
    firstByteMs: pick("firstByteMs"),
    idleMs: pick("idleMs"),
    total: totalMs === 0 ? undefined : { untilMs: startedMs + totalMs, ms: totalMs },
  };
}

/**
 * What holds for the answer's body. An idle deadline of the table is for every body. The deployment's is for those that are
 * long or have no known end: to watch a small one costs more than all the rest of the proxy (docs/design/performance.md), and
 * whoever waits for it waits in vain no longer than its own deadline. Nor is it for events, which may be far apart (HTML,
 * "Server-sent events").
 */
export function bodyLimits(
  entity: Entity,
  region: Region,
  own: DefaultDeadlines,
  startedMs: number,
  headers: Headers,
): Pick<AttemptLimits, "idleMs" | "total"> {
  const limits = limitsFor(entity, region, own, startedMs);
  const isChosen = (entity.deadlines.idleMs ?? region.deadlines.idleMs) !== undefined;
  return isChosen || !(isSmall(headers) || isEvents(headers)) ? limits : { ...limits, idleMs: 0 };
}

const SMALL_BODY_BYTES_MAX = 64 * 1024;

function isSmall(headers: Headers): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= SMALL_BODY_BYTES_MAX;
}

const isEvents = (headers: Headers): boolean => headers.get("content-type")?.startsWith("text/event-stream") === true;
