import { bodyKey, POINTER_KEY } from "../../src/formats/kv.ts";

/** Faults of a store when it is read, and when it is written. */
export const READ_FAULTS = [
  "throws",
  "hangs",
  "empty",
  "old pointer",
  "corrupt pointer",
  "body throws",
  "no body",
  "corrupt body",
  "another body",
  "too large",
  "nonsense",
] as const;
export type ReadFault = (typeof READ_FAULTS)[number];
export type WriteFault = "put throws" | "put hangs" | "put is lost" | "put throws late" | "put lands late";

export interface FaultyKv {
  readonly kv: KVNamespace;
  fault: ReadFault | WriteFault | undefined;
  /** Reads of keys that begin so never end. */
  hangsAt: string | undefined;
  /** Pointers come so much later. */
  delayMs: number;
  /** Keys, in the order in which they were read and put. */
  readonly reads: string[];
  readonly puts: string[];
  /** Lets the pointers land that are on their way. */
  readonly landings: (() => Promise<void>)[];
}

/** A real KV with a fault that can be switched on and off. `older`: what an edge that lags behind shows. */
export function faultyKv(real: KVNamespace, older: { revision: number; digest: string }, otherText: string): FaultyKv {
  const read = async (key: string, options: unknown): Promise<unknown> => {
    const get = () => Reflect.apply(real.get, real, [key, options]) as Promise<unknown>;
    const isPointer = key === POINTER_KEY;
    state.reads.push(key);
    if (isPointer && state.delayMs > 0) await new Promise((end) => setTimeout(end, state.delayMs));
    if (state.hangsAt !== undefined && key.startsWith(state.hangsAt)) return new Promise(() => undefined);
    switch (state.fault) {
      case "throws":
        throw new Error("KV GET failed: 500");
      case "hangs":
        return new Promise(() => undefined);
      case "empty":
        return null;
      case "old pointer":
        return isPointer ? JSON.stringify(older) : get();
      case "corrupt pointer":
        return isPointer ? '{"revision":' : get();
      case "body throws":
        return isPointer ? get() : Promise.reject(new Error("KV GET failed: 500"));
      case "no body":
        return isPointer ? get() : null;
      case "corrupt body":
        return isPointer ? get() : new TextEncoder().encode("{").buffer;
      case "another body":
        return isPointer ? get() : new TextEncoder().encode(otherText).buffer;
      case "too large":
        return isPointer ? get() : new ArrayBuffer(9 * 1024 * 1024);
      case "nonsense":
        return isPointer ? get() : { bytes: "none" };
      default:
        return get();
    }
  };
  const put = async (key: string, value: string | Uint8Array): Promise<void> => {
    state.puts.push(key);
    switch (state.fault) {
      case "put throws":
        throw new Error("KV PUT failed: 429 Too Many Requests");
      case "put hangs":
        return key === POINTER_KEY ? new Promise(() => undefined) : real.put(key, value);
      case "put lands late":
        if (key !== POINTER_KEY) return real.put(key, value);
        return new Promise((landed) => {
          state.landings.push(() => real.put(key, value).then(landed));
        });
      case "put is lost":
        return undefined;
      case "put throws late":
        await real.put(key, value);
        throw new Error("KV PUT failed: 504");
      default:
        return real.put(key, value);
    }
  };
  const kv = new Proxy(real, {
    get: (target, name) => (name === "get" ? read : name === "put" ? put : Reflect.get(target, name)),
  });
  const state: FaultyKv = { kv, fault: undefined, hangsAt: undefined, delayMs: 0, reads: [], puts: [], landings: [] };
  return state;
}

export async function putTable(kv: KVNamespace, revision: number, text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const digest = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  await kv.put(bodyKey(digest), text);
  await kv.put(POINTER_KEY, JSON.stringify({ revision, digest }));
  return digest;
}

/** Waits for background work to end, with its result; work that hangs stays. */
export async function settled(background: Promise<unknown>[]): Promise<void> {
  const late = new Promise<void>((end) => setTimeout(end, 50));
  const all = async () => {
    while (background.length > 0) await Promise.all(background.splice(0));
  };
  await Promise.race([all(), late]);
}
