/** Calls that a client waits for end so soon on an edge. */
export const STATE_DEADLINE_MS = 2_000;

/** A patient call waits so long before, for its object's owner and for its place. Clients that give up sooner ask again. */
export const START_WAIT_MS = 4_000;

/** Whether an object says that a call came after its caller's wait: it changed nothing. */
export const saysLate = (answer: unknown): boolean => (answer as { state?: unknown } | null)?.state === "late";

/** A state node as edges know it: its entrypoint `State`. Methods are only added, since edges and nodes are upgraded one by one. */
export interface StateRpc {
  /** Whether the node answers at all. */
  ping(): Promise<void>;
  /** Calls a method of an object, of those that its class lists. */
  call(namespace: string, name: string, method: string, values: readonly unknown[]): Promise<unknown>;
  /** A value of KV; of the keys that edges write. */
  kvGet(key: string): Promise<ArrayBuffer | null>;
  /** Writes a value, or deletes it. */
  kvPut(key: string, value: Uint8Array | string | null): Promise<void>;
}
