import type { Env } from "../../../src/edge/env.ts";
import type { SequenceRpc } from "../../../src/features/mint/edge/sequences.ts";

/** The Durable Objects of sequences, in memory: they count the same, and note each call. */
export const objectInMemory = (delay: () => Promise<void> = async () => undefined) => {
  const next = new Map<string, number>();
  const calls: { readonly first: number; readonly count: number }[] = [];
  const object = {
    calls,
    /** Calls never come back. */
    isStuck: false,
    namespace: undefined as unknown as Env["SEQUENCES"],
  };
  const reserve = async (name: string, ...[count, max, least = 1]: Parameters<SequenceRpc["reserve"]>) => {
    if (object.isStuck) return new Promise<never>(() => undefined);
    await delay();
    const first = Math.max(next.get(name) ?? 1, least);
    if (first + count - 1 > max) return { first, isReserved: false };
    next.set(name, first + count);
    calls.push({ first, count });
    await delay();
    return { first, isReserved: true };
  };
  object.namespace = {
    idFromName: (name: string) => name,
    get: (name: string) => ({ reserve: (...call: Parameters<SequenceRpc["reserve"]>) => reserve(name, ...call) }),
  } as unknown as Env["SEQUENCES"];
  return object;
};
