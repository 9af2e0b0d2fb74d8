import type { ProxyRequest } from "./origin-request.ts";

/** How often a request may be sent when no answer came (RFC 9110 §9.2.2), and where to. */
export interface Repeatability {
  /** Whether the same request may be sent again at all. */
  readonly isRepeatable: boolean;
  /** Whether its effect is the same once or twice, so that another region may be asked for it. */
  readonly isIdempotent: boolean;
  /** Whether it only reads (RFC 9110 §9.2.1), so that another region's copy will do. */
  readonly isRead: boolean;
}

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);
const IDEMPOTENT = new Set([...SAFE, "PUT", "DELETE"]);

/** The client's word that an origin takes the request for the same one when it comes again. */
const IDEMPOTENCY_KEY = "idempotency-key";

/**
 * A read, an idempotent method, or one with an idempotency key, as long as its body is at hand. A body that was streamed is
 * gone, and an upgrade is the beginning of a conversation.
 */
export function repeatability({ method, body, asksUpgrade, request: { headers } }: ProxyRequest): Repeatability {
  if (asksUpgrade) return { isRepeatable: false, isIdempotent: false, isRead: false };
  const isRead = SAFE.has(method);
  const isIdempotent = IDEMPOTENT.has(method) || (headers.get(IDEMPOTENCY_KEY) ?? "").trim() !== "";
  return { isRepeatable: isIdempotent && body.kind !== "stream", isIdempotent, isRead };
}
