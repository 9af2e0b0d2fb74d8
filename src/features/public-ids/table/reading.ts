import { err, ok, type Result } from "../../../ids/result.ts";
import type { RoutingError } from "../../../routing/errors.ts";
import {
  type EntityReading,
  isUnloaded,
  type ReadInput,
  shownOf,
  type TableReading,
} from "../../../routing/resolve/reading.ts";
import { resolveAny, resolvePath } from "../../../routing/resolve/resolve.ts";
import type { CompiledTable, Entity, LayoutHint } from "../../../routing/table.ts";
import { hasPublicForm } from "./codec.ts";

/** Opens public IDs with the deployment's keys. */
export interface PublicIdOpener {
  /** The internal text of a public ID; `undefined` when no key made it. */
  open(entity: Entity, text: string): Result<string | undefined, PublicIdsError>;
  /** The public text of an internal one; `undefined` when the text is no ID of the entity. */
  show?(entity: Entity, internal: string): Result<string | undefined, PublicIdsError>;
}

/** `no-keys`: the deployment has no key for the kind of the entity's IDs. Without an entity: for those of several. */
export type PublicIdsError = {
  readonly reason: "public-ids-unavailable";
  readonly why: "no-keys";
  readonly entity?: string;
};

declare module "../../../routing/resolve/reading.ts" {
  interface ReadPorts {
    /** Absent: there are no keys. */
    readonly publicIds?: PublicIdOpener;
  }
  interface KeylessErrors {
    readonly publicIds: PublicIdsError;
  }
}

const noKeys = ({ name: entity }: Entity): Result<never, PublicIdsError> =>
  err({ reason: "public-ids-unavailable", why: "no-keys", entity });

const NO_KEYS: PublicIdOpener = { open: noKeys };

/** Opens the public ID in a path and decides by the internal one. */
const openOnPath: EntityReading["read"] = ({ ports, nowMs }, table, { entity, idStart, idEnd }, path) => {
  const text = path.slice(idStart, idEnd);
  const opened = (ports.publicIds ?? NO_KEYS).open(entity, text);
  if (!opened.ok) return opened;
  const internal = opened.value;
  if (internal === undefined) return err(unknownPublicId(text));
  const internalPath = path.slice(0, idStart) + internal + path.slice(idEnd);
  const match = { entity, idStart, idEnd: idStart + internal.length, hint: undefined };
  const decision = resolvePath(table, match, internalPath, nowMs);
  if (decision.ok) return ok({ decision: decision.value, path: internalPath });
  const { error } = decision;
  if (isUnloaded(error)) return err(error);
  // Undecryptable and unroutable IDs get the same error, so that callers cannot tell them apart. The holder of the ID
  // may learn that the entity is gone.
  return err(error.reason === "entity-gone" ? { ...error, id: text } : unknownPublicId(text));
};

export const PUBLIC_READING: EntityReading = {
  hides: true,
  isEncoded: false,
  show: ({ publicIds }, entity, own) => publicIds?.show?.(entity, own) ?? noKeys(entity),
  read: openOnPath,
};

const unknownPublicId = (text: string): RoutingError => ({ reason: "unknown-id", id: text, candidates: [] });

/**
 * Reads an ID that comes without a path and may look like several things. Nothing is guessed: a text is a public ID only
 * where no entity can own it as a plain one, and of two public readings one counts only if its text proves it and the
 * other's does not. Internal IDs of public entities are unknown. Where a table has public entities, every text that
 * leads nowhere gets one answer, and no error names the entity.
 */
const readId: TableReading["read"] = (input, table, text, hint) => {
  const owners = ownersOf(input, table, text, hint);
  if (!owners.ok) return owners;
  const plain = resolveAny(shownOf(table), text, input.nowMs, hint, input.asked);
  // A reading that is not known yet may be the one that counts.
  if (!plain.ok && isUnloaded(plain.error)) return plain;
  const [entity, second] = owners.value;
  const hasNoOwner = !plain.ok && (plain.error.reason === "malformed-id" || plain.error.reason === "unknown-id");
  if (entity === undefined) {
    if (plain.ok) return ok({ kind: "plain", decision: plain.value });
    return err(hasNoOwner ? unknownPublicId(text) : plain.error);
  }
  const isOnly = second === undefined && hasNoOwner;
  return isOnly ? ok({ kind: "hidden", entity }) : err({ reason: "ambiguous-id", id: text, candidates: [] });
};

/** Public entities of which the text may be an ID. Where it proves some, the others do not count. */
function ownersOf(
  input: ReadInput,
  table: CompiledTable,
  text: string,
  hint: LayoutHint | undefined,
): Result<readonly Entity[], RoutingError | PublicIdsError> {
  const proven: Entity[] = [];
  const unproven: Entity[] = [];
  for (const entity of table.entities.values()) {
    if (entity.public === undefined) continue;
    if (hint !== undefined && !entity.ids.some(({ enabled }) => enabled === hint.enabled)) continue;
    const opened = (input.ports.publicIds ?? NO_KEYS).open(entity, text);
    if (!opened.ok) return opened;
    if (opened.value === undefined) continue;
    if (!WITHOUT_PROOF.includes(entity.public.as)) proven.push(entity);
    else {
      const isKnown = isRouted(table, entity, opened.value, input.nowMs);
      if (!isKnown.ok) return isKnown;
      if (isKnown.value) unproven.push(entity);
    }
  }
  return ok(proven.length > 0 ? proven : unproven);
}

/** Whether an internal text leads somewhere, or did. */
function isRouted(
  table: CompiledTable,
  entity: Entity,
  internal: string,
  nowMs: number,
): Result<boolean, RoutingError> {
  const match = { entity, idStart: 0, idEnd: internal.length, hint: undefined };
  const decision = resolvePath(table, match, internal, nowMs);
  if (!decision.ok && isUnloaded(decision.error)) return decision;
  return ok(decision.ok || decision.error.reason === "entity-gone");
}

/** Kinds without redundancy: every text of their form opens to some internal ID. */
const WITHOUT_PROOF: readonly string[] = ["guid", "uint128"];

export const publicOwners = ({ entities }: CompiledTable, text: string): readonly string[] =>
  [...entities.values()].flatMap((entity) =>
    entity.public !== undefined && hasPublicForm(entity, text) ? [entity.name] : [],
  );

/** `shown`: the table without its public entities. */
export const publicReadingOf = (shown: CompiledTable): TableReading => ({
  shown,
  read: readId,
  ownersOfForm: publicOwners,
});
