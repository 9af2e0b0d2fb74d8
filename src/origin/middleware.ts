import type { EpochGuard } from "./epoch-guard.ts";
import { checkKeys } from "./keys.ts";
import { type Refusal, refusalOf } from "./refusal.ts";
import { headerOf, type NodeRequestLike } from "./request.ts";
import { type VerifiedRequest, type VerifyOptions, verifyRequest } from "./verify.ts";

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

export interface WaybillOriginOptions extends VerifyOptions {
  /** Rejects requests that must not act on an entity that is moving or has moved. */
  readonly epochs?: EpochGuard;
  /** Maps an entity ID to the key for `epochs`, such as a row key, if an ID has several texts. Defaults to the ID. */
  readonly keyOf?: (entityId: string) => string | Promise<string>;
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

/** Unsafe methods, RFC 9110 §9.2.1. A WebSocket may write whatever its method; another upgrade is ignored (§7.8). */
function isWrite(request: WaybillRequest): boolean {
  const isRead = request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS";
  return !isRead || /\bwebsocket\b/i.test(headerOf(request, "upgrade") ?? "");
}

const isFunction = (value: unknown): boolean => typeof value === "function";

/** The check of each option. A misspelt option must not silently disable a check. */
const FORMS: Readonly<
  Record<keyof Omit<WaybillOriginOptions, "keys">, readonly [(value: unknown) => boolean, string]>
> = {
  regions: [isListOfNames, "a list of at least one region"],
  toleranceSeconds: [(value) => typeof value === "number" && value >= 0, "a number of seconds, 0 or more"],
  now: [isFunction, "a function"],
  epochs: [(value) => typeof value === "object" && value !== null && "admit" in value, "a guard from createEpochGuard"],
  keyOf: [isFunction, "a function"],
};

/** Throws a `TypeError` for missing or invalid options: a deployment error that must fail at startup. */
function checkOptions(options: WaybillOriginOptions): void {
  const { keys, ...others } = options ?? {};
  checkKeys(keys);
  for (const [name, value] of Object.entries(others)) {
    if (!isOption(name)) {
      throw new TypeError(
        `waybill/origin has no option "${name}"; its options are keys, ${Object.keys(FORMS).join(", ")}`,
      );
    }
    const [isRight, form] = FORMS[name];
    if (value !== undefined && !isRight(value)) throw new TypeError(`the option "${name}" must be ${form}`);
  }
  if (options.keyOf !== undefined && options.epochs === undefined) {
    throw new TypeError('the option "keyOf" needs the option "epochs"');
  }
}

const isOption = (name: string): name is keyof typeof FORMS => Object.hasOwn(FORMS, name);

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === "string");
}
