import { checkOptions, type WaybillOriginOptions } from "./options.ts";
import { type Refusal, refusalOf } from "./refusal.ts";
import { headerOf, type NodeRequestLike } from "./request.ts";
import { type VerifiedRequest, verifyRequest } from "./verify.ts";

/** A request of node:http or Express. `waybill` is set once it is verified. */
export interface WaybillRequest extends NodeRequestLike {
  waybill?: VerifiedRequest;
}

/** The response of node:http or Express. */
export interface NodeResponseLike {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
}

/**
 * Middleware for node:http, Connect and Express. Sets `request.waybill` and calls `next` for the gateway's requests;
 * responds to all others itself. Throws a `TypeError` at startup for invalid options. A store failure is passed to
 * `next`.
 */
export function waybillOrigin(
  options: WaybillOriginOptions,
): (request: WaybillRequest, response: NodeResponseLike, next: (error?: unknown) => void) => Promise<void> {
  checkOptions(options);
  return async (request, response, next) => {
    // `next` is called outside the catch, so that application errors are not mistaken for ours.
    const refusal = await check(request, options).catch((error: unknown) => ({ error }));
    if (refusal === undefined) return next();
    if ("error" in refusal) return next(refusal.error);
    response.statusCode = refusal.status;
    for (const [name, value] of Object.entries(refusal.fields)) response.setHeader(name, value);
    response.end(refusal.body);
  };
}

async function check(request: WaybillRequest, options: WaybillOriginOptions): Promise<Refusal | undefined> {
  const verified = await verifyRequest(request, options);
  if (!verified.ok) return refusalOf(verified.error);
  const { entityId, epoch } = verified.value;
  const { epochs, keyOf } = options;
  if (epochs !== undefined && entityId !== undefined) {
    const key = keyOf === undefined ? entityId : await keyOf(entityId);
    const admitted = await epochs.admit(key, epoch, isWrite(request));
    if (!admitted.ok) return refusalOf(admitted.error);
  }
  request.waybill = verified.value;
  return undefined;
}

/** Unsafe methods, RFC 9110 §9.2.1. A WebSocket may write whatever its method. */
function isWrite(request: WaybillRequest): boolean {
  const isRead = request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS";
  return !isRead || headerOf(request, "upgrade") !== undefined;
}
