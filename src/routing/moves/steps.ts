import { err, ok, type Result } from "../../ids/result.ts";
import type { DeclaredGone, DeclaredMove, DeclaredMoved } from "../schema/table.ts";

/** Where the table places one entity. */
export type EntityLocation =
  /** No override: `region` is that of the routes, `undefined` without a route. */
  | { readonly state: "routed"; readonly region: string | undefined }
  /** `epoch`: `undefined` if the entry is only a region's name. */
  | { readonly state: "moved"; readonly region: string; readonly epoch: number | undefined }
  | DeclaredMove
  | ({ readonly state: "gone" } & DeclaredGone);

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
  return before.state === "routed" || before.state === "moved" ? stepAtRest(step, before) : stepOfMove(step, before);
};

const stepOfMove = ({ name }: Step, move: DeclaredMove): Result<EntityLocation, string> => {
  const { from, to, state } = move;
  const epoch = move.epoch + 1;
  const itIs = `its move to ${JSON.stringify(to)} is`;
  const isFenced = state === "fenced";
  const outcomes: Record<Step["name"], Result<EntityLocation, string>> = {
    start: err(`${itIs} ${state} already`),
    fence: isFenced ? err(`${itIs} fenced already; switch or abort it`) : ok({ ...move, state: "fenced", epoch }),
    switch: isFenced
      ? ok({ state: "moved", region: to, epoch })
      : err("its move is not fenced: writes would be lost; fence it first"),
    abort: ok({ state: "moved", region: from, epoch }),
    finish: err(`${itIs} ${state}; switch or abort it first`),
    gone: err(`${itIs} in progress; switch or abort it first`),
  };
  return outcomes[name];
};

type AtRest = Extract<EntityLocation, { readonly state: "routed" | "moved" }>;

const stepAtRest = (step: Step, before: AtRest): Result<EntityLocation, string> => {
  const { region } = before;
  const epoch = 1 + (before.state === "moved" ? (before.epoch ?? 0) : 0);
  switch (step.name) {
    case "start":
      if (region === undefined) return err("no route matches it, so it has no region to leave");
      if (region === step.to) return err(`it is in ${JSON.stringify(region)} already`);
      return ok({ state: "started", from: region, to: step.to, epoch: Math.max(epoch, step.epochMin) });
    case "fence":
    case "switch":
      return err("it has no move in progress; start one first");
    case "abort":
      return err("it has no move in progress, so there is nothing to abort");
    case "finish":
      if (before.state === "routed") return err("it has not moved, so there is nothing to finish");
      return ok(region === step.routed ? { state: "routed", region } : before);
    case "gone":
      return ok({ state: "gone", epoch: Math.max(epoch, step.epochMin) });
  }
};

/** Parts of the table with overrides of single entities. */
export const OVERRIDE_PARTS = ["moves", "moved", "gone"] as const;
export type OverridePart = (typeof OVERRIDE_PARTS)[number];

/** The highest epoch whose entry the changes remove; 0 for none. */
export const droppedEpoch = (changes: readonly Readonly<Record<"before" | "after", EntityLocation>>[]): number => {
  const epochs = changes.map(({ before, after }) =>
    before.state === "moved" && after.state === "routed" ? (before.epoch ?? 0) : 0,
  );
  return epochs.reduce((highest, epoch) => Math.max(highest, epoch), 0);
};

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
