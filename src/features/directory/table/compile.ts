import type { Layout } from "../../../ids/layout/layout.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { RoutingError } from "../../../routing/errors.ts";
import type { Deciding, TableFeature } from "../../../routing/feature.ts";
import type { EntityReading } from "../../../routing/resolve/reading.ts";
import type { Draft } from "../../../routing/schema/draft.ts";
import type { Entity, IdDecision, Load, PathMatch, Regions, Rule, Target, Undecided } from "../../../routing/table.ts";
import { decodeSegment, type KeyFault, normaliseKey, unreachable } from "./normalise.ts";
import type { DeclaredDirectory } from "./schema.ts";
import {
  type Directories,
  type DirectoryPlan,
  type KeyTargets,
  type KeyUnavailable,
  type MissingKey,
  TEXT_KEY,
} from "./types.ts";

/** The directories of a table by name; `undefined` where it has none. */
const planDirectories = (
  { table: { directory = {} }, known }: Draft,
  regions: Regions,
  targetOf: (region: string, rule: Rule) => Target,
): Directories | undefined => {
  const directories = Object.entries(directory);
  if (directories.length === 0) return undefined;
  const layoutOf = ({ key }: DeclaredDirectory) => ("layout" in key ? layoutNamed(key.layout, known) : undefined);
  const plans = directories.map(([name, declared]) =>
    planOf(name, declared, layoutOf(declared), [...regions.keys()], targetOf),
  );
  const fills = plans.some(isFilled);
  return Object.assign(new Map(plans.map((plan) => [plan.name, plan])), { fills });
};

/** A table that is restored without the layouts that it names must not lose keys: it is compiled from its text. */
const layoutNamed = (name: string, known: Draft["known"]): Layout => {
  const layout = known.get(name);
  if (layout === undefined) throw new Error(`the layout ${name} of a directory is not loaded`);
  return layout;
};

/** By the 421s about IDs of its layout, while it does not serve. */
export const isFilled = ({ layout, mode, learnsMoves }: DirectoryPlan): boolean =>
  layout !== undefined && mode !== "serve" && learnsMoves;

const planOf = (
  name: string,
  declared: DeclaredDirectory,
  layout: Layout | undefined,
  regions: readonly string[],
  targetOf: (region: string, rule: Rule) => Target,
): DirectoryPlan => {
  const { key, onFailure } = declared;
  const rules = {
    fresh: Object.freeze({ kind: "directory", directory: name } as const),
    stale: Object.freeze({ kind: "directory", directory: name, state: "stale" } as const),
    default: Object.freeze({ kind: "directory", directory: name, state: "default" } as const),
    unknown: Object.freeze({ kind: "directory", directory: name, state: "unknown" } as const),
  };
  const targetsOf = (region: string): KeyTargets => ({
    fresh: targetOf(region, rules.fresh),
    stale: targetOf(region, rules.stale),
    default: targetOf(region, rules.default),
    unknown: targetOf(region, rules.unknown),
  });
  return Object.freeze({
    name,
    form: "text" in key ? key.text : undefined,
    slash: "text" in key ? key.slash : undefined,
    layout,
    cacheSeconds: declared.cacheSeconds ?? 60,
    absentSeconds: declared.absentSeconds ?? 10,
    staleSeconds: declared.staleSeconds ?? 86_400,
    copySeconds: declared.copySeconds ?? 86_400,
    fallback: typeof onFailure === "object" ? onFailure.region : undefined,
    unknown: declared.unknown === undefined ? undefined : targetOf(declared.unknown, rules.unknown),
    mode: declared.mode ?? "serve",
    learnsMoves: declared.learnMoves ?? false,
    targets: new Map(regions.map((region) => [region, targetsOf(region)])),
  });
};

export const declaredIn = ({ table: { directory = {} } }: Draft): ReadonlyMap<string, DeclaredDirectory> =>
  new Map(Object.entries(directory));

/** The draft without what directories that do not decide would: the rest of the table does, as if it was not there. */
const decidedBy = (draft: Draft, deciding: Deciding): Draft => {
  const directories = declaredIn(draft);
  if (directories.size === 0) return draft;
  const isIdle = (name: string | undefined): boolean => {
    const mode = name === undefined ? undefined : (directories.get(name)?.mode ?? "serve");
    return mode === "write-only" || (mode === "verify" && deciding === "serve");
  };
  const idle = new Set([...draft.entities].flatMap(([name, { directory }]) => (isIdle(directory) ? [name] : [])));
  const names = new Set([...draft.names.entities].filter((name) => !idle.has(name)));
  return {
    ...draft,
    entities: new Map([...draft.entities].filter(([name]) => !idle.has(name))),
    idleRoutes: new Set(draft.routes.flatMap(({ index, route }) => (isIdle(route.directory) ? [index] : []))),
    names: { ...draft.names, entities: names },
  };
};

const hasVerified = (draft: Draft): boolean => [...declaredIn(draft).values()].some(({ mode }) => mode === "verify");

/** The answer of a look-up; `found`: `source` is `stale` or `default` where no layer could say for certain. */
export type KeyAnswer =
  | { readonly state: "found"; readonly region: string; readonly source: string }
  | { readonly state: "absent"; readonly isReserved?: boolean | undefined };

/** A class: most requests with keys make one, and its functions are made once. */
class Key implements MissingKey {
  readonly feature = "directory";
  readonly plan: DirectoryPlan;
  readonly key: string;
  readonly decision: Undecided;

  constructor(plan: DirectoryPlan, key: string, decision: Undecided) {
    this.plan = plan;
    this.key = key;
    this.decision = decision;
  }

  get answerName(): string {
    return `${this.plan.name} ${this.key}`;
  }

  settle(found: unknown): Result<IdDecision, RoutingError> {
    return settleKey(this, found as KeyAnswer);
  }
}

/** Decides where a key goes once it is looked up. */
const settleKey = ({ plan, decision }: MissingKey, answer: KeyAnswer): Result<IdDecision, RoutingError> => {
  const { entity, id, layout } = decision;
  if (answer.state === "absent") {
    // A key that is being claimed is about to be somewhere.
    const target =
      plan.unknown && (plan.targets.get(regionFor(entity, plan.unknown.region.name))?.unknown ?? plan.unknown);
    return target === undefined || answer.isReserved === true
      ? err({ reason: "unknown-key", id, entity: entity.name, directory: plan.name })
      : ok({ ...decision, target });
  }
  const targets = plan.targets.get(regionFor(entity, answer.region));
  // The table may have lost a region that keys are still in.
  if (targets === undefined) {
    const key = { directory: plan.name, region: answer.region };
    return err({ reason: "unassigned-key", id, entity: entity.name, layout, key });
  }
  const { source } = answer;
  return ok({ ...decision, target: source === "stale" || source === "default" ? targets[source] : targets.fresh });
};

const regionFor = ({ regionsInstead }: Entity, region: string): string => regionsInstead?.get(region) ?? region;

/** A directory's name for a region of an entity. */
export const regionInDirectory = ({ regionsInstead }: Entity, region: string): string => {
  for (const [own, other] of regionsInstead ?? []) if (other === region) return own;
  return region;
};

/** The error until the key of a decision is looked up. */
const needsKey = (
  plan: DirectoryPlan,
  key: string,
  decision: Undecided,
): KeyUnavailable & { readonly missing: MissingKey } => ({
  reason: "directory-unavailable",
  directory: plan.name,
  retryAfterSeconds: 2,
  why: "unread",
  missing: new Key(plan, key, decision),
});

export type KeyPlan = Pick<DirectoryPlan, "form" | "layout" | "slash">;

/** The key that a text stands for: a text by its form, an ID in its canonical text. */
export const keyOf = ({ form, layout }: KeyPlan, text: string): Result<string, KeyFault> => {
  if (form !== undefined) return normaliseKey(form, text);
  const words = layout?.parseText(text);
  if (layout !== undefined && words?.ok && layout.fits(words.value)) return ok(layout.format(words.value));
  return err({ reason: "malformed-key", why: `It is no ID of the layout ${layout?.name}.` });
};

/** The key of a text that is to be stored: every entrance asks here. Other keys may be there from former versions. */
export const newKeyOf = (plan: KeyPlan, text: string): Result<string, KeyFault> => {
  const key = keyOf(plan, text);
  return key.ok ? (unreachable(key.value, plan.slash) ?? key) : key;
};

/** The key on a path of an entity of text keys. `said`: the layout that the request names. */
export const readTextKey = (
  { entity, idStart, idEnd }: PathMatch,
  plan: DirectoryPlan,
  path: string,
  said: string | undefined,
): RoutingError => {
  const id = path.slice(idStart, idEnd);
  if (said !== undefined && said !== TEXT_KEY) {
    return { reason: "layout-mismatch", id, entity: entity.name, layout: TEXT_KEY, said };
  }
  const text = decodeSegment(id, plan.slash);
  // A key with a slash must be one that every origin reads as it stands.
  const key = text.ok ? (text.value.includes("/") ? newKeyOf : keyOf)(plan, text.value) : text;
  if (!key.ok) return { ...key.error, id, entity: entity.name, directory: plan.name };
  return needsKey(plan, key.value, keyDecision(entity, id, key.value));
};

/** `words`: the key's UTF-16 units, so that no two keys are one for what is chosen or remembered by them. */
const keyDecision = (entity: Entity, id: string, key: string): Undecided => {
  const words = Array.from({ length: key.length }, (_, at) => key.charCodeAt(at));
  // Header fields are ASCII.
  return { by: "id", entity, layout: TEXT_KEY, id, words, identity: words, canonical: encodeURIComponent(key) };
};

/** Text keys stand in place of the IDs of an entity. */
const readingOf = (plan: DirectoryPlan): EntityReading =>
  Object.freeze({
    hides: false,
    isEncoded: true,
    read: (input, _, match, path) => err(readTextKey(match, plan, path, input.layoutName)),
  } satisfies EntityReading);

/** A route's IDs are looked up by their canonical texts. */
const loadOf = (plan: DirectoryPlan): Load =>
  Object.freeze({
    region: undefined,
    rule: Object.freeze({ kind: "directory", directory: plan.name }),
    isByDecision: true,
    error: (decision?: Undecided) => {
      if (decision === undefined) throw new Error(`no ID is looked up in ${plan.name}`);
      return needsKey(plan, decision.canonical, decision);
    },
  });

export const directoryTable: TableFeature = {
  name: "directory",
  decided: decidedBy,
  verifies: hasVerified,
  layouts: ({ directory = {} }) => Object.values(directory).flatMap(({ key }) => ("layout" in key ? key.layout : [])),
  compile: ({ draft, regions, targetIn }) => {
    const directories = planDirectories(draft, regions, targetIn);
    const readings = new Map([...(directories ?? [])].map(([name, plan]) => [name, readingOf(plan)]));
    const loads = new Map([...(directories ?? [])].map(([name, plan]) => [name, loadOf(plan)]));
    return {
      target: ({ directory }) => (directory === undefined ? undefined : loads.get(directory)),
      entity: (_, declared) => ({
        directory: declared?.directory === undefined ? undefined : directories?.get(declared.directory),
        regionsInstead: declared?.regionsInstead && new Map(Object.entries(declared.regionsInstead)),
      }),
      reading: (declared) => (declared?.directory === undefined ? undefined : readings.get(declared.directory)),
      table: () => ({ directories }),
    };
  },
};
