import type { Result } from "../ids/result.ts";
import type { LoadPorts, ServedTable } from "../ports/gateway.ts";
import type { GatewayError, TableError } from "../problems/index.ts";
import type { OriginResponse } from "../proxy/attempt.ts";
import type { Delivery } from "../proxy/deliver.ts";
import type { ProxyRequest } from "../proxy/origin-request.ts";
import type { Missing } from "../routing/resolve/reading.ts";
import type { CompiledTable, Decision, Entity, WithoutId } from "../routing/table.ts";
import type { DecideFailure, LoadNeed, Outcome } from "./decide.ts";
import type { RequestContext } from "./request.ts";

/** The parts of a feature in a request: what it answers itself, and what it changes on the way. */

type Answer = Response | Promise<Response>;

/** Requests that are the feature's own. */
export interface Endpoint {
  /** Raw paths that may be its own; absent: any. */
  readonly paths?: ReadonlySet<string> | RegExp;
  /** `undefined`: the request is another's after all. */
  readonly answer: (context: RequestContext, served: ServedTable) => Answer | undefined;
}

export const mayBeOf = ({ paths }: Endpoint, path: string): boolean =>
  paths === undefined || (paths instanceof RegExp ? paths.test(path) : paths.has(path));

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
  /** Whether they change anything of the request or its answer; absent: of all. */
  readonly applies?: (context: RequestContext, decision: Decision) => boolean;
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
  readonly endpoint?: (served: ServedTable, method: string) => Endpoint | undefined;
  /** Refuses what was decided. Asked once for each pair of tables and method. */
  readonly gate?: (served: ServedTable, method: string) => Gate | undefined;
  /** Asked once for each owner of paths. */
  readonly placed?: (owner: Entity | WithoutId) => PlacedHandler | undefined;
  /** Asked once for each entity. */
  readonly steps?: (table: CompiledTable, entity: Entity) => EntitySteps | undefined;
  /** For a table in which something is verified: compares the decision with the one that would be. */
  readonly verify?: (context: RequestContext, verified: CompiledTable, decision: Decision) => Promise<void>;
  /** Sends a sample of the reads to the shadow of their target too. */
  readonly mirror?: (proxied: ProxyRequest, answer: OriginResponse, ports: RequestContext["gateway"]) => void;
}

/** All steps of an entity as one. */
export interface Steps extends Pick<EntitySteps, "applies" | "refuse" | "rewrite"> {
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

/** Own parts of features for one method. */
export interface ForMethod {
  readonly endpoints: readonly Endpoint[];
  readonly gates: readonly Gate[];
}

/** Endpoints and steps of all features: chosen when a table, an entity or an owner of paths is first seen. */
export class ServeFeatures {
  readonly #all: readonly ServeFeature[];
  /** The runtime takes a fixed set of methods: the inner maps stay small. */
  readonly #tables = new WeakMap<ServedTable, Map<string, ForMethod>>();
  readonly #steps = new WeakMap<Entity, Steps | "none">();
  readonly #placed = new WeakMap<Entity | WithoutId, PlacedHandler | "none">();

  constructor(all: readonly ServeFeature[]) {
    const names = new Set(all.map(({ name }) => name));
    for (const { name, needs = [] } of all) {
      const missing = needs.find((need) => !names.has(need));
      if (missing !== undefined) throw new Error(`the feature ${name} needs ${missing}, which this build leaves out`);
    }
    this.#all = all;
  }

  of(served: ServedTable, method: string): ForMethod {
    const known = this.#tables.get(served)?.get(method);
    return known ?? this.#choose(served, method);
  }

  #choose(served: ServedTable, method: string): ForMethod {
    const found = {
      endpoints: this.#all.flatMap(({ endpoint }) => endpoint?.(served, method) ?? []),
      gates: this.#all.flatMap(({ gate }) => gate?.(served, method) ?? []),
    };
    const methods = this.#tables.get(served) ?? new Map<string, ForMethod>();
    this.#tables.set(served, methods.set(method, found));
    return found;
  }

  placed(owner: Entity | WithoutId): PlacedHandler | undefined {
    const known = this.#placed.get(owner);
    if (known !== undefined) return known === "none" ? undefined : known;
    const [found] = this.#all.flatMap(({ placed }) => placed?.(owner) ?? []);
    this.#placed.set(owner, found ?? "none");
    return found;
  }

  /** `undefined`: the entity's requests and answers pass as they are. */
  steps(table: CompiledTable, entity: Entity, core: CoreSteps): Steps | undefined {
    const known = this.#steps.get(entity);
    if (known !== undefined) return known === "none" ? undefined : known;
    const found = composed(
      this.#all.flatMap(({ steps }) => steps?.(table, entity) ?? []),
      core,
    );
    this.#steps.set(entity, found ?? "none");
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

/** Those that come first in the list are the nearest to the client. */
function composed(all: readonly EntitySteps[], core: CoreSteps): Steps | undefined {
  if (all.length === 0) return undefined;
  const refusals = all.flatMap(({ refuse }) => refuse ?? []);
  const holds = all.flatMap(({ holdsAnswer }) => holdsAnswer ?? []);
  const [rewrite, second] = all.flatMap((steps) => steps.rewrite ?? []);
  if (second !== undefined) throw new Error("two features rewrite the answers of one entity");
  const readsAnswers = all.some((steps) => steps.readsAnswers === true);
  const inner = core.respond({ readsAnswers, ...(rewrite === undefined ? {} : { rewrite }) });
  const respond = all.reduceRight((next, steps) => steps.respond?.(next) ?? next, inner);
  const deliver = all.reduceRight((next, steps) => steps.deliver?.(next) ?? next, core.deliver);
  const send = all.reduceRight((next, steps) => steps.send?.(next, respond) ?? next, core.send(deliver, respond));
  const tests = all.map(({ applies }) => applies);
  const mayPass = tests.every((test) => test !== undefined);
  return {
    ...(mayPass && { applies: anyOf(tests) }),
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

type Applies = NonNullable<EntitySteps["applies"]>;

function anyOf(tests: readonly Applies[]): Applies {
  const [only] = tests;
  if (only !== undefined && tests.length === 1) return only;
  return (context, decision) => tests.some((test) => test(context, decision));
}
