import type { CommandFault } from "./commands.ts";
import type { EpochFault } from "./epoch-guard.ts";
import type { SignatureFault } from "./verify.ts";

/** A response to send instead of acting on the request. */
export interface Refusal {
  readonly status: 400 | 401 | 409 | 421 | 422 | 503;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The gateway's value for a fence, which lasts while the last changes are copied. */
const RETRY_AFTER_SECONDS = "2";

/** The problem document (RFC 9457) and status for a rejected request. */
export function refusalOf(fault: OriginFault): Refusal {
  const { type = "about:blank", status, title, fields, ...more } = answerTo(fault);
  const problem = { type, title, status, ...more, ...fault };
  return {
    status,
    fields: { "content-type": "application/problem+json", "cache-control": "no-store", ...fields },
    body: `${JSON.stringify(problem)}\n`,
  };
}

interface Answer extends Omit<Refusal, "body"> {
  readonly type?: string;
  readonly title: string;
  readonly detail?: string;
}

type OriginFault = SignatureFault | EpochFault | CommandFault | { readonly reason: "idempotency-key-invalid" };

function answerTo(fault: OriginFault): Answer {
  switch (fault.reason) {
    // These three as the gateway says them of creates.
    case "idempotency-key-invalid":
      return { type: "/-/problems/idempotency-key-invalid", status: 400, title: "Invalid idempotency key", fields: {} };
    case "other-command":
      return {
        type: "/-/problems/idempotency-key-mismatch",
        status: 422,
        title: "Idempotency key of another request",
        fields: {},
      };
    case "in-progress":
      return {
        type: "/-/problems/idempotency-key-in-use",
        status: 409,
        title: "Idempotency key in use",
        fields: { "retry-after": `${fault.retryAfterSeconds}` },
      };
    case "fenced":
      // The gateway's own problem type. Clients need not know which of the two rejected the request.
      return {
        type: "/-/problems/entity-moving",
        status: 503,
        title: "Entity is moving to another region",
        detail: "The entity is moving to another region and takes no writes until then.",
        fields: { "retry-after": RETRY_AFTER_SECONDS },
      };
    case "disowned":
      // The gateway follows a 421 once and never forwards it to clients (RFC 9110 §15.5.20).
      return { status: 421, title: "The entity is in another region", fields: { "waybill-region": fault.region } };
    default:
      // A 401 must name a scheme (RFC 9110 §15.5.2).
      return {
        status: 401,
        title: "The request was not sent by the gateway",
        fields: { "www-authenticate": "Waybill-Signature" },
      };
  }
}
