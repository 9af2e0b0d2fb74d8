import { ok } from "../../../src/ids/result.ts";
import { setUp } from "../harness.ts";

/**
 * Outcomes of one wait. `before` and `after`: it fails, with its effect or without. `held`: it goes on when the test
 * says so, for a client that has left, a gateway that was killed, or one that is slow. `torn`: an answer without its end.
 */
export const FAULTS = ["before", "after", "held before", "held after", "torn"] as const;
export type Fault = (typeof FAULTS)[number];

export interface FaultPoint {
  /** Counted from 0, over all waits of an attempt. */
  readonly at: number;
  readonly how: Fault;
}

/** Entities as an origin stores them. */
export interface OriginStore {
  readonly entities: { readonly id: string; readonly region: string }[];
  /** Whether an ID that is there is not stored again, as origins should. */
  readonly isUnique: boolean;
  /** Whether its answers say their length. */
  readonly isMeasured: boolean;
}

export type World = ReturnType<typeof worldOf>;

/** A gateway of which one wait goes wrong; none without a point. */
export function worldOf(declared: unknown, store: OriginStore, point?: FaultPoint) {
  const waits: string[] = [];
  let hold: (value: "held") => void = () => undefined;
  let release: () => void = () => undefined;
  const held = new Promise<"held">((resolve) => {
    hold = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });

  const wait = async <Value>(
    name: string,
    work: () => Promise<Value>,
    fail: (why: string) => Value | Promise<Value>,
  ) => {
    const isHere = waits.push(name) - 1 === point?.at;
    if (!isHere) return work();
    if (point.how === "before") return fail(`${name} failed`);
    if (point.how === "held before") {
      hold("held");
      await released;
      return work();
    }
    const value = await work();
    if (point.how === "held after") {
      hold("held");
      await released;
    }
    if (value instanceof Response && point.how === "torn") return torn(value) as Value;
    return point.how === "held after" ? value : fail(`${name} was lost`);
  };

  const base = setUp({ declared }).gateway;
  const unavailable = (why: string) => ({ ok: false, error: { reason: "idempotency-unavailable", why } }) as const;
  const noTable = (why: string) => ({ ok: false, error: { reason: "table-unavailable", why } }) as const;
  const noNumbers = (name: string) => ({ ok: false, error: { reason: "sequence-unavailable", name } }) as const;
  const refuse = (why: string) => Promise.reject(new TypeError(why));
  const { request } = setUp({
    declared,
    gateway: {
      // A defect is among the faults.
      logDefect: () => undefined,
      pause: async () => undefined,
      tables: {
        peek: (waitUntil) => base.tables.peek(waitUntil),
        load: () => wait("table", () => base.tables.load(), noTable),
      },
      clientClaims: () => wait("claims", async () => ok(undefined), refuse),
      minters: {
        sample: (order, count) => wait("sample", () => base.minters.sample(order, count), noNumbers),
        mint: (order, count) => wait("mint", () => base.minters.mint(order, count), noNumbers),
      },
      subtle: {
        ...base.subtle,
        digest: (algorithm, data) => wait("digest", () => crypto.subtle.digest(algorithm, data), refuse),
      },
      idempotency: {
        begin: (call) => wait("begin", () => base.idempotency.begin(call), unavailable),
        finish: (call) => wait("finish", () => base.idempotency.finish(call), unavailable),
        show: (key) => base.idempotency.show(key),
      },
      fetch: (target, init) => wait("origin", async () => answerOf(store, new Request(target, init)), refuse),
    },
  });

  /** A body that comes in one piece, if it comes. */
  const upload = (text: string): ReadableStream<Uint8Array> =>
    new ReadableStream({
      type: "bytes",
      async pull(controller) {
        try {
          controller.enqueue(await wait("upload", async () => new TextEncoder().encode(text), refuse));
          controller.close();
        } catch (error) {
          controller.error(error);
        }
      },
    });
  return { request, upload, waits, held, release, keys: base.idempotency };
}

async function answerOf({ entities, isUnique, isMeasured }: OriginStore, request: Request): Promise<Response> {
  const id = request.headers.get("waybill-entity-id") ?? "";
  // An origin acts on whole requests only.
  await request.text();
  const region = new URL(request.url).host.split(/[-.]/, 1)[0] ?? "";
  const isThere = entities.some((entity) => entity.id === id);
  if (!isThere || !isUnique) entities.push({ id, region });
  const body = `{"id":"${id}"}`;
  const headers = new Headers({ "content-type": "application/json" });
  if (isMeasured) headers.set("content-length", String(body.length));
  return new Response(body, { status: isThere && isUnique ? 200 : 201, headers });
}

/** The head, and a body that breaks off. */
const torn = ({ status, headers }: Response): Response => {
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"i')),
    pull: (controller) => controller.error(new TypeError("the connection was reset")),
  });
  return new Response(body, { status, headers });
};
