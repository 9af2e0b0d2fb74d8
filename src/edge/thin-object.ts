import { DurableObject } from "cloudflare:workers";
import type { MoveCall, MovedRows } from "../ports/moving.ts";
import { loadable } from "../problems/loadable.ts";
import type { Env } from "./env.ts";
import { reportDefect } from "./log.ts";

type Method = (...values: readonly unknown[]) => unknown;

/**
 * How an edge calls a method. `prompt`: a client waits. `patient`: so too, and it waits for its object's owner. `start`: so too,
 * its first value is a `TimedCall`, and while nodes are busy it waits for a place. `long`: an operator may wait. These may be made
 * again at another state node after one that went away. `once`: the same would be another change.
 */
export type CallKind = "prompt" | "patient" | "start" | "long" | "once";

/** A call that takes something which others cannot have until a later call. `notAfterMs`: when its caller no longer waits, Unix ms. */
export interface TimedCall {
  readonly notAfterMs: number;
}

type KindFor<Method> = Method extends (call: infer Call, ...more: never[]) => unknown
  ? keyof TimedCall extends keyof Call
    ? CallKind
    : Exclude<CallKind, "start">
  : never;

/** The methods of an object that callers know, and those that the platform calls, all of them: the rest is its own. */
type Methods<Api> = {
  readonly [Name in Exclude<keyof Api, keyof Rpc.DurableObjectBranded>]: Name extends keyof Wakes
    ? "platform"
    : KindFor<Api[Name]>;
};

/** How a class is called by edges, which have its objects behind an RPC of state nodes. */
export interface ThinClass {
  /** The binding of its objects. */
  readonly namespace: keyof Env;
  readonly kinds: Readonly<Record<string, CallKind | "platform">>;
}

/** The platform calls it. */
export interface Wakes {
  alarm(): Promise<void>;
}

/**
 * A class of Durable Objects whose implementation is loaded with its first object: an isolate that has none never compiles it.
 * The platform delivers no call before. RPC finds methods on the prototype alone, so it has all of them. Where the module cannot
 * be loaded, callers get its error, and their next call makes the object again.
 */
export function thinObject<Api extends object>(
  { namespace, module }: { readonly namespace: keyof Env; readonly module: string },
  imported: () => Promise<(context: DurableObjectState, env: Env) => Api>,
  methods: Methods<Api>,
) {
  const implementation = loadable(module, imported);
  class ThinObject extends DurableObject<Env> {
    static readonly namespace = namespace;
    static readonly kinds = methods;
    object: Api | undefined;

    constructor(context: DurableObjectState, env: Env) {
      super(context, env);
      void context.blockConcurrencyWhile(async () => {
        try {
          if (await isMoved(context, env)) return;
          this.object = await implementation.run((make) => make(context, env));
        } catch (error) {
          reportDefect(error);
          throw error;
        }
      });
    }

    /** For exports and imports of the whole state. No edge may call it. */
    async moveState(rows: MovedRows, call: MoveCall): Promise<unknown> {
      const make = async () => (await implementation.load())(this.ctx, this.env);
      return (await moving.load()).moveObject({ context: this.ctx, env: this.env, holder: this, rows, make }, call);
    }
  }
  for (const method of Object.keys(methods)) {
    Object.defineProperty(ThinObject.prototype, method, {
      value(this: ThinObject, ...values: readonly unknown[]): unknown {
        const object = this.object as (Readonly<Record<string, Method>> & Api) | undefined;
        return object === undefined
          ? moving.run(({ held }) => held(this.ctx, method))
          : (object[method] as Method)(...values);
      },
    });
  }
  return ThinObject as unknown as ThinClass & (new (context: DurableObjectState, env: Env) => DurableObject<Env> & Api);
}

const moving = loadable("moving", () => import("./moving/object.ts"));

/** Whether its implementation must not run: see `moving/object.ts`. */
const isMoved = async (context: DurableObjectState, { STATE_MOVES }: Env): Promise<boolean> =>
  STATE_MOVES !== undefined ||
  (!context.storage.sql.exec("SELECT 1 FROM sqlite_schema WHERE name = 'waybill_import'").next().done &&
    (await moving.load()).isClaimed(context));
