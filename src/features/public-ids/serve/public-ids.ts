import { err, ok, type Result } from "../../../ids/result.ts";
import {
  type CompiledTable,
  type Entity,
  type IdDecision,
  type LayoutHint,
  type PathMatch,
  type RoutingError,
  resolveAny,
  resolvePath,
} from "../../../routing/index.ts";
import type { Asked } from "../../../routing/table.ts";
import type { PublicIdsError } from "../problems.ts";

/** Opens public IDs with the deployment's keys. */
export interface PublicIdOpener {
  /** The internal text of a public ID; `undefined` when no key made it. */
  open(entity: Entity, text: string): Result<string | undefined, PublicIdsError>;
}

type OpenError = RoutingError | PublicIdsError;

/** Opens the public ID in a path and decides by the internal one. `path`: with the internal ID, for the origin. */
export function openOnPath(
  publicIds: PublicIdOpener,
  table: CompiledTable,
  { entity, idStart, idEnd }: PathMatch,
  path: string,
  nowMs: number,
): Result<{ readonly decision: IdDecision; readonly path: string }, OpenError> {
  const text = path.slice(idStart, idEnd);
  const opened = publicIds.open(entity, text);
  if (!opened.ok) return opened;
  const internal = opened.value;
  if (internal === undefined) return err(unknownPublicId(text));
  const internalPath = path.slice(0, idStart) + internal + path.slice(idEnd);
  const match = { entity, idStart, idEnd: idStart + internal.length, hint: undefined };
  const decision = resolvePath(table, match, internalPath, nowMs);
  if (decision.ok) return ok({ decision: decision.value, path: internalPath });
  const { error } = decision;
  if (error.reason === "table-unavailable") return err(error);
  // Undecryptable and unroutable IDs get the same error, so that callers cannot tell them apart. The holder of the ID
  // may learn that the entity is gone.
  return err(error.reason === "entity-gone" ? { ...error, id: text } : unknownPublicId(text));
}

export const unknownPublicId = (text: string): RoutingError => ({ reason: "unknown-id", id: text, candidates: [] });

/** An ID without a path: the public ID of an entity, or an ID that says itself where it belongs. */
export type ReadId =
  | { readonly kind: "public"; readonly entity: Entity }
  | { readonly kind: "plain"; readonly decision: IdDecision };

export const entityOf = (reading: ReadId): Entity =>
  reading.kind === "public" ? reading.entity : reading.decision.entity;

/**
 * Reads an ID that comes without a path and may look like several things. Nothing is guessed: a text is a public ID only
 * where no entity can own it as a plain one, and of two public readings one counts only if its text proves it and the
 * other's does not. Internal IDs of public entities are unknown. Where a table has public entities, every text that
 * leads nowhere gets one answer, and no error names the entity.
 */
export function readId(
  publicIds: PublicIdOpener,
  table: CompiledTable,
  text: string,
  nowMs: number,
  hint: LayoutHint | undefined,
  asked?: Asked,
): Result<ReadId, OpenError> {
  // Those for which it is a proof, and those whose IDs it opens to.
  const proven: Entity[] = [];
  const unproven: Entity[] = [];
  for (const entity of table.entities.values()) {
    if (entity.public === undefined) continue;
    if (hint !== undefined && !entity.ids.some(({ enabled }) => enabled === hint.enabled)) continue;
    const opened = publicIds.open(entity, text);
    if (!opened.ok) return opened;
    const internal = opened.value;
    if (internal === undefined) continue;
    if (!WITHOUT_PROOF.includes(entity.public.as)) proven.push(entity);
    else {
      const match = { entity, idStart: 0, idEnd: internal.length, hint: undefined };
      const decision = resolvePath(table, match, internal, nowMs);
      if (!decision.ok && decision.error.reason === "table-unavailable") return decision;
      if (decision.ok || decision.error.reason === "entity-gone") unproven.push(entity);
    }
  }
  const plain = resolveAny(table.withoutPublic ?? table, text, nowMs, hint, asked);
  // A reading that is not known yet may be the one that counts.
  if (!plain.ok && plain.error.reason === "table-unavailable") return plain;
  const [entity, second] = proven.length > 0 ? proven : unproven;
  const hasNoOwner = !plain.ok && (plain.error.reason === "malformed-id" || plain.error.reason === "unknown-id");
  if (entity === undefined) {
    if (plain.ok) return ok({ kind: "plain", decision: plain.value });
    return err(table.withoutPublic !== undefined && hasNoOwner ? unknownPublicId(text) : plain.error);
  }
  const isOnly = second === undefined && hasNoOwner;
  return isOnly ? ok({ kind: "public", entity }) : err({ reason: "ambiguous-id", id: text, candidates: [] });
}

/** Kinds without redundancy: every text of their form opens to some internal ID. */
const WITHOUT_PROOF: readonly string[] = ["guid", "uint128"];
