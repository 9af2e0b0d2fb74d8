import { err, ok, type Result } from "../../ids/index.ts";
import type { DeclaredGone, DeclaredMove, DeclaredMoved } from "../../routing/schema/table.ts";

/** Where the table places one entity. */
export type EntityLocation =
  /** No override: `region` is that of the routes, `undefined` without a route. */
  | { readonly state: "routed"; readonly region: string | undefined }
  /** `epoch`: `undefined` if the entry is only a region's name. */
  | { readonly state: "moved"; readonly region: string; readonly epoch: number | undefined }
  | DeclaredMove
  | ({ readonly state: "gone" } & DeclaredGone);

type Present = Exclude<EntityLocation, { readonly state: "gone" }>;

/** A step of the protocol in docs/guides/move-entities.md. */
export type Step =
  | { readonly name: "start"; readonly to: string; readonly epochMin: number }
  | { readonly name: "gone"; readonly epochMin: number }
  | { readonly name: "fence" | "switch" | "abort" }
  /** `routed`: the permanent region by the routes alone. */
  | { readonly name: "finish"; readonly routed: string | undefined };

/** The location after a step, or the sentence that rejects it. Each step raises the epoch. */
export const takeStep = (step: Step, before: EntityLocation): Result<EntityLocation, string> => {
  if (before.state === "gone") return err("it is permanently removed");
  switch (step.name) {
    case "start":
      return start(step.to, step.epochMin, before);
    case "fence":
      return fence(before);
    case "switch":
      return arrive(before);
    case "abort":
      return isInProgress(before)
        ? ok({ state: "moved", region: before.from, epoch: before.epoch + 1 })
        : err(`${NOT_IN_PROGRESS}, so there is nothing to abort`);
    case "finish":
      return finish(step.routed, before);
    case "gone":
      return isInProgress(before)
        ? err(`its move to ${quote(before.to)} is in progress; switch or abort it first`)
        : ok({ state: "gone", epoch: Math.max(epochOf(before) + 1, step.epochMin) });
  }
};

const NOT_IN_PROGRESS = "it has no move in progress";

const start = (to: string, epochMin: number, before: Present): Result<EntityLocation, string> => {
  if (isInProgress(before)) return err(`its move to ${quote(before.to)} is ${before.state} already`);
  const { region: from } = before;
  if (from === undefined) return err("no route matches it, so it has no region to leave");
  if (from === to) return err(`it is in ${quote(to)} already`);
  return ok({ state: "started", from, to, epoch: Math.max(epochOf(before) + 1, epochMin) });
};

const fence = (before: Present): Result<EntityLocation, string> => {
  if (!isInProgress(before)) return err(`${NOT_IN_PROGRESS}; start one first`);
  if (before.state === "fenced") return err(`its move to ${quote(before.to)} is fenced already; switch or abort it`);
  return ok({ ...before, state: "fenced", epoch: before.epoch + 1 });
};

const arrive = (before: Present): Result<EntityLocation, string> => {
  if (!isInProgress(before)) return err(`${NOT_IN_PROGRESS}; start one first`);
  if (before.state === "started") return err("its move is not fenced: writes would be lost; fence it first");
  return ok({ state: "moved", region: before.to, epoch: before.epoch + 1 });
};

const finish = (routed: string | undefined, before: Present): Result<EntityLocation, string> => {
  if (isInProgress(before)) return err(`its move to ${quote(before.to)} is ${before.state}; switch or abort it first`);
  if (before.state !== "moved") return err("it has not moved, so there is nothing to finish");
  return ok(before.region === routed ? { state: "routed", region: routed } : before);
};

const isInProgress = (at: Present): at is DeclaredMove => at.state === "started" || at.state === "fenced";

const epochOf = (at: Present): number => ("epoch" in at ? (at.epoch ?? 0) : 0);

const quote = (region: string): string => JSON.stringify(region);

/** Parts of the table with overrides of single entities. */
export const OVERRIDE_PARTS = ["moves", "moved", "gone"] as const;
export type OverridePart = (typeof OVERRIDE_PARTS)[number];

/** The highest epoch whose entry the changes remove; 0 for none. */
export const droppedEpoch = (
  changes: readonly { readonly before: EntityLocation; readonly after: EntityLocation }[],
): number =>
  changes.reduce(
    (highest, { before, after }) =>
      before.state === "moved" && after.state === "routed" ? Math.max(highest, before.epoch ?? 0) : highest,
    0,
  );

/** The override for a location, and its part of the table. `undefined`: the routes suffice. */
export const entryOf = (
  at: EntityLocation,
): { readonly part: OverridePart; readonly value: DeclaredMove | DeclaredMoved | DeclaredGone } | undefined => {
  switch (at.state) {
    case "routed":
      return undefined;
    case "moved":
      return { part: "moved", value: at.epoch === undefined ? at.region : { region: at.region, epoch: at.epoch } };
    case "gone":
      return { part: "gone", value: { epoch: at.epoch } };
    default:
      return { part: "moves", value: { from: at.from, to: at.to, state: at.state, epoch: at.epoch } };
  }
};
