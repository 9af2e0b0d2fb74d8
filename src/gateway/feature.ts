import type { Result } from "../ids/result.ts";
import type { LoadPorts, ServedTable } from "../ports/gateway.ts";
import type { GatewayError, TableError } from "../problems/index.ts";
import type { OriginResponse } from "../proxy/attempt.ts";
import type { Delivery } from "../proxy/deliver.ts";
import type { ProxyRequest } from "../proxy/origin-request.ts";
import type { Missing } from "../routing/resolve/reading.ts";
import type { CompiledTable, Decision, Entity, Rule, WithoutId } from "../routing/table.ts";
import type { DecideFailure, LoadNeed, Outcome } from "./decide.ts";
import type { RequestContext } from "./request.ts";

/** The parts of a feature in a request: what it answers itself, and what it changes on the way. */

type Answer = Response | Promise<Response>;

/** Answers requests on a path that is the feature's own. */
export type Endpoint = (context: RequestContext, served: ServedTable) => Answer;

/** A feature's endpoints, by raw path. */
export interface Endpoints {
  readonly literal?: ReadonlyMap<string, Endpoint>;
  readonly pattern?: OwnPattern;
}

/** Paths that are not literal. */
export interface OwnPattern {
  /** Paths that `find` may know; absent: any. */
  readonly paths?: RegExp;
  readonly find: (path: string) => Endpoint | undefined;
}

/** Loads that a feature makes for decisions. */
export interface LoadFeature {
  readonly name: string;
  /** Gives the answer that `missing` is settled by; a table that has it now needs none. */
  readonly load: (
    ports: LoadPorts,
    table: CompiledTable,
    missing: Missing,
    caller: string | undefined,
  ) => Promise<Result<unknown, LoadFailure["error"]>>;
}

/** Like `DecideFailure`, where something could not be loaded. */
export type LoadFailure = Omit<DecideFailure, "error"> & { readonly error: DecideFailure["error"] | TableError };

/** An outcome, once all is loaded that the decision needed. */
export type Decided = Exclude<Outcome, LoadNeed> | LoadFailure;

/** A decision about where a request goes. */
export type Placed = Extract<Outcome, { readonly kind: "region" | "without-id" }>;

/** Answers what is placed, in place of forwarding. */
export type PlacedHandler = (context: RequestContext, served: ServedTable, placed: Placed) => Answer;

/** `again`: the decision at another time, Unix ms. */
export type Gate = (
  context: RequestContext,
  served: ServedTable,
  outcome: Decided,
  again: (nowMs: number) => Outcome,
) => GatewayError | undefined | Promise<GatewayError | undefined>;

export type Deliver = (
  context: RequestContext,
  proxied: ProxyRequest,
  ports: RequestContext["gateway"],
) => Promise<Delivery>;

export type Respond = (
  context: RequestContext,
  table: CompiledTable,
  decision: Decision,
  answer: OriginResponse,
) => Answer;

export type Send = (context: RequestContext, proxied: ProxyRequest) => Promise<Response>;

/** Steps of a feature for the requests of one entity and their answers. */
export interface EntitySteps {
  /** Kinds of rules by which a request is decided that they change, or whose answer; absent: all. */
  readonly rules?: ReadonlySet<Rule["kind"]>;
  /** Why a request must not be sent. */
  readonly refuse?: (context: RequestContext, table: CompiledTable) => GatewayError | undefined;
  /** Whether bodies of answers are read: the origin is asked for none that cannot be. */
  readonly readsAnswers?: boolean;
  /** Whether an answer is read whole, or watched, before it is passed on. */
  readonly holdsAnswer?: (context: RequestContext) => boolean;
  readonly deliver?: (next: Deliver) => Deliver;
  /** Changes an answer. `body`: in place of the answer's own. `undefined`: it stays as it is. */
  readonly rewrite?: (
    context: RequestContext,
    table: CompiledTable,
    decision: Decision,
    answer: OriginResponse,
    body: ReadableStream | ArrayBuffer | null,
  ) => Answer | undefined;
  readonly respond?: (next: Respond) => Respond;
  /** `respond`: passes an answer on that did not come from `next`. */
  readonly send?: (next: Send, respond: Respond) => Send;
}

export interface ServeFeature {
  readonly name: string;
  /** Features that it stands on. */
  readonly needs?: readonly string[];
  /** Asked once for each pair of tables and method; `undefined` where they do not use the feature. */
  readonly endpoints?: (served: ServedTable, method: string) => Endpoints | undefined;
  /** Refuses what was decided. Asked once for each pair of tables and method. */
  readonly gate?: (served: ServedTable, method: string) => Gate | undefined;
  /** Asked once for each owner of paths and method. */
  readonly placed?: (owner: Entity | WithoutId) => PlacedHandler | undefined;
  /** Asked once for each entity and method. */
  readonly steps?: (table: CompiledTable, entity: Entity, method: string) => EntitySteps | undefined;
  /** For a table in which something is verified: compares the decision with the one that would be. */
  readonly verify?: (context: RequestContext, verified: CompiledTable, decision: Decision) => Promise<void>;
  /** Sends a sample of the reads to the shadow of their target too. */
  readonly mirror?: (proxied: ProxyRequest, answer: OriginResponse, ports: RequestContext["gateway"]) => void;
}

/** All steps of an entity as one. */
export interface Steps extends Pick<EntitySteps, "rules" | "refuse" | "rewrite"> {
  readonly readsAnswers: boolean;
  readonly holdsAnswer: (context: RequestContext) => boolean;
  readonly send: Send;
}

/** The core's own steps, on which those of features stand. */
export interface CoreSteps {
  readonly deliver: Deliver;
  readonly respond: (steps: Pick<Steps, "rewrite" | "readsAnswers">) => Respond;
  readonly send: (deliver: Deliver, respond: Respond) => Send;
}

/** The features' parts in requests of one method to a pair of tables: chosen when those, an entity or an owner is first seen. */
export class Line {
  /** By raw path. */
  readonly endpoints: ReadonlyMap<string, Endpoint | undefined>;
  readonly patterns: readonly OwnPattern[];
  readonly gates: readonly Gate[];
  /** Chosen so far; others by `choosePlaced`. */
  readonly placed = new WeakMap<Entity | WithoutId, PlacedHandler | "none">();
  /** Chosen so far; others by `chooseSteps`. `none`: the entity's requests and answers pass as they are. */
  readonly steps = new WeakMap<Entity, Steps | "none">();
  readonly #all: readonly ServeFeature[];
  readonly #core: CoreSteps;
  readonly #method: string;

  constructor(all: readonly ServeFeature[], core: CoreSteps, served: ServedTable, method: string) {
    this.#all = all;
    this.#core = core;
    this.#method = method;
    const own = all.flatMap(({ endpoints }) => endpoints?.(served, method) ?? []);
    const paths = own.flatMap(({ literal }) => [...(literal?.keys() ?? [])]);
    this.endpoints = new Map(paths.map((path) => [path, endpointAt(own, path)]));
    this.patterns = own.flatMap(({ pattern }) => (pattern === undefined ? [] : [pattern]));
    this.gates = all.flatMap(({ gate }) => gate?.(served, method) ?? []);
  }

  choosePlaced(owner: Entity | WithoutId): PlacedHandler | "none" {
    const [found = "none"] = this.#all.flatMap(({ placed }) => placed?.(owner) ?? []);
    this.placed.set(owner, found);
    return found;
  }

  chooseSteps(table: CompiledTable, entity: Entity): Steps | "none" {
    const all = this.#all.flatMap(({ steps }) => steps?.(table, entity, this.#method) ?? []);
    const found = all.length === 0 ? "none" : composed(all, this.#core);
    this.steps.set(entity, found);
    return found;
  }

  verify(context: RequestContext, verified: CompiledTable, decision: Decision): void {
    for (const { verify } of this.#all)
      if (verify !== undefined) context.waitUntil(verify(context, verified, decision));
  }

  mirror(proxied: ProxyRequest, answer: OriginResponse, ports: RequestContext["gateway"]): void {
    for (const { mirror } of this.#all) mirror?.(proxied, answer, ports);
  }
}

/** A literal path may match the pattern of another feature: the first in the list has it. */
function endpointAt(own: readonly Endpoints[], path: string): Endpoint | undefined {
  for (const { literal, pattern } of own) {
    const found = literal?.get(path) ?? (pattern?.paths?.test(path) === false ? undefined : pattern?.find(path));
    if (found !== undefined) return found;
  }
  return undefined;
}

export class ServeFeatures {
  /**
   * Chosen so far, by the table, or the canary's function of which each pair of tables has one: labels change each second, and these
   * stay. Then by method, of which the runtime takes a fixed set. Others by `choose`.
   */
  readonly lines = new WeakMap<object, Map<string, Line>>();
  readonly #all: readonly ServeFeature[];
  readonly #core: CoreSteps;

  constructor(all: readonly ServeFeature[], core: CoreSteps) {
    const names = new Set(all.map(({ name }) => name));
    for (const { name, needs = [] } of all) {
      const missing = needs.find((need) => !names.has(need));
      if (missing !== undefined) throw new Error(`the feature ${name} needs ${missing}, which this build leaves out`);
    }
    this.#all = all;
    this.#core = core;
  }

  choose(served: ServedTable, method: string): Line {
    const line = new Line(this.#all, this.#core, served, method);
    const key = served.canary?.ownsEntity ?? served.table;
    const methods = this.lines.get(key) ?? new Map<string, Line>();
    this.lines.set(key, methods.set(method, line));
    return line;
  }
}

/** Those that come first in the list are the nearest to the client. */
function composed(all: readonly EntitySteps[], core: CoreSteps): Steps {
  const refusals = all.flatMap(({ refuse }) => refuse ?? []);
  const holds = all.flatMap(({ holdsAnswer }) => holdsAnswer ?? []);
  const [rewrite, second] = all.flatMap((steps) => steps.rewrite ?? []);
  if (second !== undefined) throw new Error("two features rewrite the answers of one entity");
  const readsAnswers = all.some((steps) => steps.readsAnswers === true);
  const inner = core.respond({ readsAnswers, ...(rewrite === undefined ? {} : { rewrite }) });
  const respond = all.reduceRight((next, steps) => steps.respond?.(next) ?? next, inner);
  const deliver = all.reduceRight((next, steps) => steps.deliver?.(next) ?? next, core.deliver);
  const send = all.reduceRight((next, steps) => steps.send?.(next, respond) ?? next, core.send(deliver, respond));
  const mayPass = all.every(({ rules }) => rules !== undefined);
  return {
    ...(mayPass && { rules: new Set(all.flatMap(({ rules = [] }) => [...rules])) }),
    refuse: (context, table) => {
      for (const refuse of refusals) {
        const error = refuse(context, table);
        if (error !== undefined) return error;
      }
      return undefined;
    },
    readsAnswers,
    holdsAnswer: (context) => holds.some((hold) => hold(context)),
    send,
  };
}
