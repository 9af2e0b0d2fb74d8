import { formatPointer, type Pointer, parsePointer } from "../../formats/kv.ts";
import type { Ok, Result } from "../../ids/result.ts";
import type { Clock } from "../../ports/gateway.ts";
import type { EdgeCache } from "../origins/moved-memory.ts";
import { within } from "./kv.ts";

/** The cache that the isolates of one location share: parts, and the last pointer read. Errors of the cache are ignored; KV is read instead. */
export type TableCache = ReturnType<typeof edgeTableCache>;

type Open<Value, Failure> = (bytes: ArrayBuffer) => Promise<Result<Value, Failure>>;

/** `confirmedAtMs`: when KV had it, Unix ms. */
export type ConfirmedPointer = Readonly<{ pointer: Pointer; confirmedAtMs: number }>;

/** The cache is closer than KV; a slower answer is useless. */
const DEADLINE_MS = 300;

/** Pause of the cache after a timeout, so that one request waits for it instead of all. */
const QUIET_MS = 30_000;

/** No request waits for a put, but it must end. */
const PUT_DEADLINE_MS = 10_000;

const PART_SECONDS = 7 * 86_400;

/** An older pointer is no better than the bundled table. */
const POINTER_SECONDS = 7 * 86_400;

const CONFIRMED_FIELD = "waybill-confirmed";

/** `namespace`: the deployment. All Workers of a zone share one cache; a pointer of another deployment must not be used. */
export function edgeTableCache(cache: EdgeCache | undefined, namespace: string, clock: Clock) {
  let edge = cache;
  let quietUntilMs = 0;
  // A name that no request can have: RFC 6761 §6.4 keeps `.invalid` free.
  const base = `https://table.waybill.invalid/${encodeURIComponent(namespace)}`;
  const pointerUrl = `${base}/current`;
  const partUrl = (key: string): string => `${base}/${key}`;

  /** Self-hosted workerd has the interface of a cache without an implementation: stop after the first failure. */
  const call = async <Value>(use: (from: EdgeCache) => Promise<Value>, deadlineMs: number) => {
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
    /** `key`: as in KV. `open` verifies the bytes: contents of the cache are not trusted. */
    async part<Value, Failure>(key: string, open: Open<Value, Failure>): Promise<Ok<Value> | undefined> {
      const bytes = await ask(async (from) => (await from.match(partUrl(key)))?.arrayBuffer());
      const opened = bytes && (await open(bytes));
      return opened?.ok ? opened : undefined;
    },
    putPart: (key: string, bytes: ArrayBuffer) => put(partUrl(key), bytes, PART_SECONDS),
    pointer: (): Promise<ConfirmedPointer | undefined> =>
      ask(async (from) => {
        const response = await from.match(pointerUrl);
        if (response === undefined) return undefined;
        const confirmedAtMs = Number(response.headers.get(CONFIRMED_FIELD));
        const pointer = parsePointer(await response.text());
        return pointer.ok && Number.isSafeInteger(confirmedAtMs)
          ? { pointer: pointer.value, confirmedAtMs }
          : undefined;
      }),
    putPointer: ({ pointer, confirmedAtMs }: ConfirmedPointer) =>
      put(pointerUrl, formatPointer(pointer), POINTER_SECONDS, { [CONFIRMED_FIELD]: String(confirmedAtMs) }),
  };
}
