import { TABLE_OBJECT } from "../../control-plane/deployment.ts";
import { methodsBy } from "../../problems/loadable.ts";
import type { Env } from "../env.ts";
import type { StateCalls } from "./calls.ts";

declare module "../env.ts" {
  interface Env {
    /** Bound on an edge, which has no objects; up to `STATE_9`. */
    readonly STATE_1?: Fetcher;
    /** On an edge the KV of the state nodes: its own is the mirror's. */
    readonly STATE_KV?: KVNamespace;
  }
}

/** Bindings of objects, of every version. */
const NAMESPACES = ["SEQUENCES", "TRAFFIC", "TABLE_TRUTH", "IDEMPOTENCY", "DIRECTORY"];

/** The name of a self-hosted deployment: state nodes derive it from the unique key of the class, which never changes. */
const DEPLOYMENT = "d3ce468c0a18a52bf2f6f479b2cd0d79d0a2bb2271b42af7022f4a875ebae3fc";

/** The bindings of an edge, with namespaces whose objects are called at state nodes. */
export function overStateNodes(env: Env, nodes: StateCalls): Env {
  const namespaces = NAMESPACES.map((namespace) => [
    namespace,
    {
      idFromName: (name: string) => ({ name, toString: () => (name === TABLE_OBJECT ? DEPLOYMENT : name) }),
      get: ({ name }: { name: string }) => methodsBy((method, values) => nodes.call(namespace, name, method, values)),
    },
  ]);
  const kv = methodsBy<KVNamespace>((method, values) => nodes.callKv(method, values));
  return { ...env, ...Object.fromEntries(namespaces), STATE_KV: kv };
}
