import { TABLE_OBJECT } from "../control-plane/deployment.ts";
import type { ControlPlaneRpc, Env } from "../edge/env.ts";
import { reportDefect } from "../edge/log.ts";
import type { StateRpc } from "../edge/machines/rpc.ts";
import { throwTimeout, withTimeout } from "../edge/platform.ts";
import { deleteKey, within } from "../edge/table/kv.ts";
import type { ThinClass } from "../edge/thin-object.ts";
import {
  EDGE_FIELD,
  isMirrored,
  isOfCopies,
  POINTER_WAIT_SECONDS_MAX,
  readEdgeReport,
  shownMachines,
} from "../formats/machines.ts";
import { problemResponse } from "../gateway/problem-response.ts";
import { errorOf } from "../problems/loadable.ts";

/** Calls of edges and requests of their mirrors, on a state node. */

const callsIn = (kinds: ThinClass["kinds"]): ReadonlySet<string> =>
  new Set(Object.keys(kinds).filter((method) => kinds[method] !== "platform"));

type Method = (...values: readonly unknown[]) => Promise<unknown>;

/** Names of objects are made by the gateway: a sequence has the longest, of a layout and its keys. */
const NAME_LENGTH_MAX = 512;
const VALUES_MAX = 8;
/** The largest table twice, as UTF-16. */
const CALL_BYTES_MAX = 2 ** 24;
/** A value of Cloudflare's KV. */
const KV_BYTES_MAX = 25 * 2 ** 20;
/** KV in a bucket takes some round trips. */
const READ_DEADLINE_MS = 5_000;

export function stateAnswers(classes: readonly ThinClass[]) {
  const methods = new Map<string, ReadonlySet<string>>(
    classes.map(({ namespace, kinds }) => [namespace, callsIn(kinds)]),
  );
  return {
    async call(env: Env, ...[namespace, name, method, values]: Parameters<StateRpc["call"]>): Promise<unknown> {
      if (methods.get(namespace)?.has(method) !== true) throw new TypeError("no such method of an object");
      if (typeof name !== "string" || name.length === 0 || name.length > NAME_LENGTH_MAX)
        throw new TypeError("not a name of an object");
      if (!Array.isArray(values) || values.length > VALUES_MAX || !isWithinBytes(values, CALL_BYTES_MAX))
        throw new RangeError("too many arguments, or too large ones");
      const objects = env[namespace as keyof Env] as DurableObjectNamespace | undefined;
      if (objects === undefined) throw new Error("this machine has no objects: it is an edge");
      const object = objects.get(objects.idFromName(name)) as unknown as Readonly<Record<string, Method>>;
      const result = await (object[method] as Method)(...values);
      // Handed on, it would bring its disposer: the object would keep the answer until the edge had called that.
      const data: unknown = structuredClone(result);
      Object(result)[Symbol.dispose]?.();
      return data;
    },
    kvGet(env: Env, key: string): Promise<ArrayBuffer | null> {
      if (!isOfCopies(key)) throw new TypeError("not a key that edges read here");
      return env.TABLE_KV.get(key, { type: "arrayBuffer" });
    },
    async kvPut(env: Env, key: string, value: Uint8Array | string | null): Promise<void> {
      if (!isOfCopies(key)) throw new TypeError("not a key that edges write");
      if (!isWithinBytes(value, KV_BYTES_MAX)) throw new RangeError("the value is too large");
      await (value === null ? deleteKey(env.TABLE_KV, key) : env.TABLE_KV.put(key, value));
    },
    async fetch(env: Env, request: Request): Promise<Response> {
      try {
        return await answerTo(env, request);
      } catch (error) {
        reportDefect(error);
        return problemResponse(errorOf(error));
      }
    },
  };
}

const VALUES_PATH = "/values/";

function answerTo(env: Env, request: Request): Response | Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const isValue = pathname.startsWith(VALUES_PATH);
  if (!isValue && pathname !== "/pointer" && pathname !== "/machines")
    return problemResponse({ reason: "not-found", path: pathname });
  if (request.method !== "GET")
    return problemResponse({ reason: "method-not-allowed", method: request.method, allow: ["GET"] });
  if (isValue) return valueAt(env, pathname);
  return pathname === "/pointer" ? pointerOf(env, request, searchParams.get("wait")) : machinesOf(env);
}

/** Plain data crosses without the types of RPC. */
const truthOf = ({ TABLE_TRUTH }: Env) =>
  TABLE_TRUTH.get(TABLE_TRUTH.idFromName(TABLE_OBJECT)) as unknown as Pick<ControlPlaneRpc, "pointer" | "machines">;

async function pointerOf(env: Env, { headers }: Request, waitText: string | null): Promise<Response> {
  const seconds = waitText === null ? 0 : Number(/^\d{1,2}$/.exec(waitText)?.[0] ?? Number.NaN);
  if (!(seconds <= POINTER_WAIT_SECONDS_MAX))
    return malformed(`wait must be a whole number of seconds from 0 to ${POINTER_WAIT_SECONDS_MAX}.`);
  const field = headers.get(EDGE_FIELD);
  const edge = field === null ? undefined : readEdgeReport(field);
  if (field !== null && edge === undefined) return malformed(`The field ${EDGE_FIELD} is not a report of an edge.`);
  const waitMs = seconds * 1000;
  const tag = headers.get("if-none-match") ?? undefined;
  const asked = await asking(
    () => truthOf(env).pointer({ tag, waitMs, edge, nodeVersion: env.NODE_VERSION }),
    waitMs + READ_DEADLINE_MS,
  );
  if (asked instanceof Response) return asked;
  if (!asked.ok) return problemResponse(asked.error);
  const answer = asked.value;
  if (answer.state === "published") {
    const own = { etag: answer.tag, "content-type": "application/json", "cache-control": "no-store" };
    return new Response(answer.text, { headers: own });
  }
  if (answer.state === "same")
    return new Response(null, { status: 304, headers: tag === undefined ? {} : { etag: tag } });
  if (answer.state === "busy") return unavailable("too many mirrors are waiting");
  return problemResponse({ reason: "not-found", path: "/pointer" });
}

async function valueAt(env: Env, path: string): Promise<Response> {
  const key = decoded(path.slice(VALUES_PATH.length));
  if (key === undefined || !isMirrored(key)) return problemResponse({ reason: "not-found", path });
  const read = await within(() => env.TABLE_KV.get(key, { type: "stream" }), READ_DEADLINE_MS);
  if (!read.ok) return unavailable("why" in read.error ? read.error.why : read.error.reason);
  if (read.value === null) return problemResponse({ reason: "not-found", path });
  return new Response(read.value, {
    headers: { "content-type": "application/octet-stream", "cache-control": "no-store" },
  });
}

async function machinesOf(env: Env): Promise<Response> {
  const known = await asking(() => truthOf(env).machines(), READ_DEADLINE_MS);
  if (known instanceof Response) return known;
  const time = new Date().toISOString();
  const node = { version: env.NODE_VERSION };
  const { object } = known;
  return Response.json({ time, node, object, ...shownMachines(known) }, { headers: { "cache-control": "no-store" } });
}

/** The object may have no owner just now: the mirror asks another node. */
async function asking<Value>(ask: () => Promise<Value>, deadlineMs: number): Promise<Value | Response> {
  try {
    return await withTimeout(ask(), deadlineMs, throwTimeout);
  } catch (error) {
    return unavailable(error instanceof Error ? error.message : String(error));
  }
}

const unavailable = (why: string) => problemResponse({ reason: "control-plane-unavailable", why });

const malformed = (detail: string) => problemResponse({ reason: "malformed-request", detail });

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Deeper values are none of the gateway's. */
const DEPTH_MAX = 16;

/** Whether a value that crosses an RPC is plain data of at most so many bytes, a member for at least 8. */
function isWithinBytes(value: unknown, bytesMax: number): boolean {
  let left = bytesMax;
  const take = (part: unknown, depth: number): boolean => {
    left -= 8 + ownBytes(part);
    return left >= 0 && depth <= DEPTH_MAX && partsOf(part).every((each) => take(each, depth + 1));
  };
  return take(value, 0);
}

function ownBytes(part: unknown): number {
  if (typeof part === "string") return 2 * part.length;
  // A function would be a stub, by which the node calls the edge.
  if (typeof part === "function") return Number.POSITIVE_INFINITY;
  return part instanceof ArrayBuffer || ArrayBuffer.isView(part) ? part.byteLength : 0;
}

function partsOf(part: unknown): readonly unknown[] {
  if (typeof part !== "object" || part === null || part instanceof ArrayBuffer || ArrayBuffer.isView(part)) return [];
  if (Array.isArray(part)) return part;
  if (part instanceof Map) return [...part].flat();
  return part instanceof Set ? [...part] : Object.entries(part).flat();
}
