import type { Decision } from "../routing/table.ts";
import type { ProxyError } from "./errors.ts";

/** A fence stands for as long as the last changes are copied and a table is published: often a matter of seconds. */
const RETRY_AFTER_MS = 2_000;

/** RFC 9110 §9.2.1. */
const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Refuses a write to an entity whose move is fenced, before any origin is asked; reads go on to where the entity is. An
 * upgrade is no read: what comes over a WebSocket would be written in a region that the entity is about to leave.
 * It spares clients a detour. What makes a move safe is the fence at the origin (docs/guides/move-entities.md): other gateways may have
 * older tables.
 */
export const rejectFenced = (
  { target: { move } }: Decision,
  method: string,
  asksUpgrade: boolean,
): ProxyError | undefined => {
  if (move?.state !== "fenced" || (READS.has(method) && !asksUpgrade)) return undefined;
  return { reason: "entity-moving", retryAfterMs: RETRY_AFTER_MS };
};
