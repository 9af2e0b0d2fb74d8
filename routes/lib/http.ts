import type { Context } from "hono";
import { problemResponse } from "../../src/gateway/problem-response.ts";
import type { RequestContext } from "../../src/gateway/request.ts";
import { err, ok, type Result } from "../../src/ids/result.ts";
import type { RequestError } from "../../src/problems/index.ts";

/** What the app hands to each page. */
export interface PageEnv {
  readonly Bindings: { readonly context: RequestContext };
}

export const contextOf = (c: Context): RequestContext => (c.env as PageEnv["Bindings"]).context;

/** The path as it was sent, for the router: what it would decode by itself must not lead to a page. */
export const rawPath = (_: Request, options?: { readonly env?: PageEnv["Bindings"] }): string =>
  options?.env?.context.path ?? "/";

/** Answers what is left over at one of the gateway's own paths: methods that it does not take. */
export const methodNotAllowed =
  (...allow: readonly string[]) =>
  (c: Context): Response =>
    problemResponse({ reason: "method-not-allowed", method: c.req.method, allow });

/** An answer of the gateway's own. Nothing of it is kept by caches: the table behind it may change. */
export function jsonResponse(body: unknown, fields: Readonly<Record<string, string>> = {}, status = 200): Response {
  return new Response(`${JSON.stringify(body, null, 2)}\n`, {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...fields },
  });
}

/** A small body as text. It is read no further than its cap, and one that breaks off or is not UTF-8 is an error. */
export async function readBody(request: Request, bytesMax: number): Promise<Result<string, RequestError>> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  let bytes = 0;
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) return err({ reason: "body-too-large", bytesMax });
      text += decoder.decode(chunk, { stream: true });
    }
    return ok(text + decoder.decode());
  } catch {
    return err({ reason: "malformed-request", detail: "The body is incomplete or not UTF-8." });
  }
}

/** A body as bytes, read no further than its cap. */
export async function readBytes(
  request: Request,
  bytesMax: number,
): Promise<Result<Uint8Array<ArrayBuffer>, RequestError>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) return err({ reason: "body-too-large", bytesMax });
      chunks.push(chunk);
    }
  } catch {
    return err({ reason: "malformed-request", detail: "The body is incomplete." });
  }
  return ok(joined(chunks, bytes));
}

function joined(chunks: readonly Uint8Array[], bytes: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
