import type { Result } from "../../ids/result.ts";
import type { RoutingError } from "../errors.ts";
import type { Asked, CompiledTable, Entity, IdDecision, LayoutHint, PathMatch } from "../table.ts";
import { resolveAny } from "./resolve.ts";

/**
 * IDs that are read in another way than by the layouts of their entity, and decisions that need something loaded. A feature
 * brings how; it is chosen when the table is compiled.
 */

/** Ports by which features read IDs. Features add theirs. */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it.
export interface ReadPorts {}

/** The deployment has no key to read an ID by. By reason. Features add theirs. */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it.
export interface KeylessErrors {}

type ReadError = RoutingError | KeylessErrors[keyof KeylessErrors];

/** Whether an error says nothing of the ID: no key could open it. */
export const lacksKey = (error: { readonly reason: string }): boolean => "why" in error && error.why === "no-keys";

/** Inputs of a reading beside the text. */
export interface ReadInput {
  readonly ports: ReadPorts;
  /** The layout that the request says its ID has (`id-layout`). */
  readonly layoutName: string | undefined;
  /** Unix ms. */
  readonly nowMs: number;
  /** The request's method and host. Without it: a GET on a host that the table does not name. */
  readonly asked?: Asked | undefined;
}

/** The ID on a path of one entity. */
export interface EntityReading {
  /** Whether clients see another ID than the entity's own: nothing shows that one, nor what its bits say. */
  readonly hides: boolean;
  /** Whether the text stands percent-encoded on the path. */
  readonly isEncoded: boolean;
  /** The text that clients see of an ID of the entity; absent: its own. `undefined`: the text is no ID of the entity. */
  readonly show?: (ports: ReadPorts, entity: Entity, own: string) => Result<string | undefined, ReadError>;
  /** `path`: raw path for the origin, with the entity's own ID. */
  readonly read: (
    input: ReadInput,
    table: CompiledTable,
    match: PathMatch,
    path: string,
  ) => Result<{ readonly decision: IdDecision; readonly path: string }, ReadError>;
}

/** IDs without a path, in a table with entities that hide their own IDs. */
export interface TableReading {
  /** The table for those who have no key: without such entities, and without layouts that only those have. */
  readonly shown: CompiledTable;
  readonly read: (
    input: ReadInput,
    table: CompiledTable,
    text: string,
    hint: LayoutHint | undefined,
  ) => Result<ReadId, ReadError>;
  /** Names of the entities whose IDs have the form of the text. Only the keys tell more. */
  readonly ownersOfForm: (table: CompiledTable, text: string) => readonly string[];
}

declare module "../table.ts" {
  interface CompiledTable {
    /** `undefined`: IDs without a path are read by the layouts of the table. */
    readonly reading?: TableReading | undefined;
  }
  interface Entity {
    /** `undefined`: its IDs are read by its layouts. */
    readonly reading?: EntityReading | undefined;
  }
}

/** An ID without a path: one that hides where it belongs, or one that says it itself. */
export type ReadId =
  | { readonly kind: "hidden"; readonly entity: Entity }
  | { readonly kind: "plain"; readonly decision: IdDecision };

export const entityOf = (reading: ReadId): Entity =>
  reading.kind === "hidden" ? reading.entity : reading.decision.entity;

/** Reads an ID that comes without a path. */
export function readAny(
  input: ReadInput,
  table: CompiledTable,
  text: string,
  hint: LayoutHint | undefined,
): Result<ReadId, ReadError> {
  const { reading } = table;
  if (reading !== undefined) return reading.read(input, table, text, hint);
  const plain = resolveAny(table, text, input.nowMs, hint, input.asked);
  return plain.ok ? { ok: true, value: { kind: "plain", decision: plain.value } } : plain;
}

/** As those see the table who have no key. */
export const shownOf = (table: CompiledTable): CompiledTable => table.reading?.shown ?? table;

/** A load that a decision needs first, with the evidence of the feature that makes it. Its error carries it. */
export interface Missing {
  readonly feature: string;
  /** Set: the decision is made of what is found, which goes by this name. Absent: the table has it once it is loaded. */
  readonly answerName?: string;
  readonly settle?: (found: unknown) => Result<IdDecision, RoutingError>;
}

/** Answers that were loaded for a decision so far, by `answerName`. */
export type FoundLoads = ReadonlyMap<string, unknown>;

export const missingIn = (error: object): Missing | undefined =>
  "missing" in error ? (error.missing as Missing) : undefined;

/** Whether nothing can be said of an ID before something is loaded. */
export const isUnloaded = (error: RoutingError): boolean => {
  const missing = missingIn(error);
  return missing !== undefined && missing.settle === undefined;
};
