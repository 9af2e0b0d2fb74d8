import type { Ok, Result } from "../../ids/result.ts";
import type { Clock } from "../../ports.ts";
import { formatPointer, type Pointer, parsePointer } from "../../published/kv.ts";
import type { EdgeCache } from "../origins/moved-memory.ts";
import { type LoadFailure, within } from "./kv.ts";

/**
 * The tables that isolates of one location share, in the edge's cache: parts, which never change (bodies, headers and pages of
 * packs), and the pointer that KV had last, for a cold isolate that KV does not answer. Whatever the cache does is no failure:
 * KV is asked instead. Nobody who has a table to serve waits for a put.
 */
export interface TableCache {
  /** `key`: as in KV. What `open` finds wrong was never there: whoever can write to the cache must not decide anything. */
  part<Value, Failure>(key: string, open: Open<Value, Failure>): Promise<Ok<Value> | undefined>;
  putPart(key: string, bytes: ArrayBuffer): Promise<void>;
  pointer(): Promise<ConfirmedPointer | undefined>;
  putPointer(seen: ConfirmedPointer): Promise<void>;
}

/** Verifies bytes, and gives what is made of them. */
type Open<Value, Failure> = (bytes: ArrayBuffer) => Promise<Result<Value, Failure>>;

export interface ConfirmedPointer {
  readonly pointer: Pointer;
  /** When KV held it, Unix ms. */
  readonly confirmedAtMs: number;
}

/** The cache is nearer than KV; one that takes longer is of no use. */
const DEADLINE_MS = 300;

/** A cache that was late is not asked again before, so that one request and not each waits for it. */
const QUIET_MS = 30_000;

/** Nobody waits for a put, but it must end. */
const PUT_DEADLINE_MS = 10_000;

const PART_SECONDS = 7 * 86_400;

/** An older one is no better than the table of the build. */
const POINTER_SECONDS = 7 * 86_400;

const CONFIRMED_FIELD = "waybill-confirmed";

/**
 * `namespace`: names the deployment. All Workers of a zone have one cache, and the pointer of another deployment, with
 * whatever number, is no news of this one.
 */
export function edgeTableCache(cache: EdgeCache | undefined, namespace: string, clock: Clock): TableCache {
  let edge = cache;
  let quietUntilMs = 0;
  // A name that no request can have: RFC 6761 §6.4 keeps `.invalid` free.
  const base = `https://table.waybill.invalid/${encodeURIComponent(namespace)}`;
  const pointerUrl = `${base}/current`;
  const partUrl = (key: string): string => `${base}/${key}`;

  /** workerd by itself has the interface of a cache and none behind it: each call fails. One failure is enough to know. */
  const call = async <Value>(
    use: (from: EdgeCache) => Promise<Value>,
    deadlineMs: number,
  ): Promise<Result<Value, LoadFailure> | undefined> => {
    const from = edge;
    if (from === undefined) return undefined;
    const answer = await within(() => use(from), deadlineMs);
    if (!answer.ok && answer.error.reason === "store-failed") edge = undefined;
    return answer;
  };
  const ask = async <Value>(read: (from: EdgeCache) => Promise<Value>): Promise<Value | undefined> => {
    if (clock.nowMs() < quietUntilMs) return undefined;
    const answer = await call(read, DEADLINE_MS);
    if (answer?.ok) return answer.value;
    if (answer?.error.reason === "store-timeout") quietUntilMs = clock.nowMs() + QUIET_MS;
    return undefined;
  };
  const put = async (url: string, body: BodyInit, seconds: number, fields: Readonly<Record<string, string>> = {}) => {
    const response = new Response(body, { headers: { "cache-control": `max-age=${seconds}`, ...fields } });
    await call((to) => to.put(url, response), PUT_DEADLINE_MS);
  };

  return {
    async part(key, open) {
      const bytes = await ask(async (from) => (await from.match(partUrl(key)))?.arrayBuffer());
      const opened = bytes && (await open(bytes));
      return opened?.ok ? opened : undefined;
    },
    putPart: (key, bytes) => put(partUrl(key), bytes, PART_SECONDS),
    pointer: () =>
      ask(async (from) => {
        const response = await from.match(pointerUrl);
        if (response === undefined) return undefined;
        const confirmedAtMs = Number(response.headers.get(CONFIRMED_FIELD));
        const pointer = parsePointer(await response.text());
        return pointer.ok && Number.isSafeInteger(confirmedAtMs)
          ? { pointer: pointer.value, confirmedAtMs }
          : undefined;
      }),
    putPointer: ({ pointer, confirmedAtMs }) =>
      put(pointerUrl, formatPointer(pointer), POINTER_SECONDS, { [CONFIRMED_FIELD]: String(confirmedAtMs) }),
  };
}
