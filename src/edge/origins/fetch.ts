import type { Fetch, ServedTable } from "../../ports.ts";
import { MissingBinding } from "../../proxy/origin-response.ts";
import type { CompiledTable } from "../../routing/index.ts";

type Send = (target: string | Request, init?: RequestInit) => Promise<Response>;

/**
 * Requests to origins: over the network, or through a binding of the deployment that the routing table names, such as a
 * client certificate, a private network or another Worker. Rejects with `MissingBinding` for one that is not there.
 */
export function originFetch(network: Send, bindings: object): Fetch {
  const byName = new Map<string, Send>();
  return (target, init, binding) => {
    if (binding === undefined) return network(target, init);
    let send = byName.get(binding);
    if (send === undefined) {
      send = senderIn(bindings, binding);
      if (send === undefined) return Promise.reject(new MissingBinding(binding));
      byName.set(binding, send);
    }
    return send(target, init);
  };
}

function senderIn(bindings: object, name: string): Send | undefined {
  const binding: unknown = Object.hasOwn(bindings, name) ? bindings[name as keyof typeof bindings] : undefined;
  return canFetch(binding) ? (target, init) => binding.fetch(target, init) : undefined;
}

function canFetch(binding: unknown): binding is { readonly fetch: Send } {
  return typeof binding === "object" && binding !== null && "fetch" in binding && typeof binding.fetch === "function";
}

/** Origins that cannot be asked, for want of a binding. */
export interface MissingBindings {
  readonly revision: number;
  readonly bindings: readonly string[];
}

/** Reports once for each table the bindings that it names and the deployment lacks. */
export function bindingWatch(bindings: object, report: (missing: MissingBindings) => void) {
  let watched: CompiledTable | undefined;
  let watchedCanary: CompiledTable | undefined;
  const check = (table: CompiledTable): void => {
    const missing = missingIn(table, bindings);
    if (missing.length > 0) report({ revision: table.revision, bindings: missing });
  };
  return ({ table, canary }: ServedTable): void => {
    if (table !== watched) {
      watched = table;
      check(table);
    }
    if (canary !== undefined && canary.table !== watchedCanary) {
      watchedCanary = canary.table;
      check(canary.table);
    }
  };
}

function missingIn({ regions }: CompiledTable, bindings: object): readonly string[] {
  const named = [...regions.values()].flatMap(({ origins }) => origins.map(({ binding }) => binding));
  return [...new Set(named)].filter(
    (name): name is string => name !== undefined && senderIn(bindings, name) === undefined,
  );
}
