import type { Deadlines, Entity, Region } from "../routing/table.ts";
import type { AttemptLimits } from "./attempt.ts";

/** The deployment's own deadlines, in milliseconds; 0 for none. */
export interface DefaultDeadlines {
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
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

/** Whether somebody chose the idle deadline for this place: the deployment's is for ordinary bodies. */
export const choseIdle = (entity: Entity, region: Region): boolean =>
  (entity.deadlines.idleMs ?? region.deadlines.idleMs) !== undefined;
