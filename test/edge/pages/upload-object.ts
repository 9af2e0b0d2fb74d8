import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { PackUploads } from "../../../src/features/packs/edge/uploads.ts";
import type { EncodedPack } from "../../../src/features/packs/table/format.ts";

const { TABLE_KV, TABLE_TRUTH } = env as Env;

type Fault = "get throws" | "get hangs" | "put throws" | "put hangs" | "header is not taken";

function gate() {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((end) => {
    resolve = end;
  });
  return { promise, resolve };
}

/** KV as an edge shows it: that a key is not there is remembered for a minute, whatever was written since. */
function edgeKv() {
  const state = { nowMs: 1_000_000_000, fault: undefined as Fault | undefined, reads: [] as string[] };
  const absentUntilMs = new Map<string, number>();
  const holds = new Map<string, { reached: () => void; end: Promise<void> }>();
  const held = async (operation: string) => {
    const hold = holds.get(operation);
    holds.delete(operation);
    hold?.reached();
    await hold?.end;
  };
  /** Holds the next such operation: a held read has its answer already, and a held write has done nothing. */
  const hold = (operation: `${"get" | "put"} ${string}`) => {
    const reached = gate();
    const end = gate();
    holds.set(operation, { reached: reached.resolve, end: end.promise });
    return { reached: reached.promise, release: end.resolve };
  };
  const get = async (key: string, ...rest: unknown[]) => {
    state.reads.push(key);
    if (state.fault === "get throws") throw new Error("KV GET failed: 500");
    if (state.fault === "get hangs") return new Promise(() => undefined);
    const isAbsent = (absentUntilMs.get(key) ?? 0) > state.nowMs;
    const value: unknown = isAbsent ? null : await Reflect.apply(TABLE_KV.get, TABLE_KV, [key, ...rest]);
    if (value === null && !isAbsent) absentUntilMs.set(key, state.nowMs + 60_000);
    await held(`get ${key}`);
    return value;
  };
  const put = async (key: string, value: Uint8Array<ArrayBuffer>) => {
    if (state.fault === "put throws") throw new Error("KV PUT failed: 500");
    if (state.fault === "header is not taken" && !/\.\d+$/.test(key)) throw new Error("KV PUT failed: 429");
    if (state.fault === "put hangs") return new Promise(() => undefined);
    await held(`put ${key}`);
    return TABLE_KV.put(key, value);
  };
  const kv = new Proxy(TABLE_KV, {
    get: (target, name) => (name === "get" ? get : name === "put" ? put : Reflect.get(target, name)),
  });
  return { state, kv, hold };
}

/** The copy on an object's real storage; `restart` forgets all that is not on disk. */
export const withCopy = (
  test: (
    set: ReturnType<typeof edgeKv> & { copy: PackUploads; restart: () => PackUploads; sql: SqlStorage },
  ) => Promise<void>,
  deadlines: { readonly readDeadlineMs?: number; readonly writeDeadlineMs?: number } = {},
) =>
  runInDurableObject(TABLE_TRUTH.get(TABLE_TRUTH.idFromName("packs")), async (_, { storage }) => {
    const edge = edgeKv();
    const clock = { nowMs: () => edge.state.nowMs };
    const restart = () => new PackUploads({ storage, kv: edge.kv, clock, ...deadlines });
    await test({ ...edge, copy: restart(), restart, sql: storage.sql });
  });

export const whole = (sha256: string) => ({ sha256, header: true, pages: 2, missing: [], complete: true });

export async function upload(copy: PackUploads, { sha256, header, pages }: EncodedPack): Promise<void> {
  expect(await copy.putHeader(sha256, header)).toMatchObject({ ok: true });
  for (const [number, page] of pages.entries()) {
    expect(await copy.putPage(sha256, number, page)).toMatchObject({ ok: true });
  }
}
