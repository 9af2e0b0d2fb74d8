import type { EpochFault } from "./epoch-guard.ts";
import type { SignatureFault } from "./verify.ts";

/** An answer to send instead of acting. */
export interface Refusal {
  readonly status: 401 | 421 | 503;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

/** As the gateway itself says of a fence: it stands for as long as the last changes are copied. */
const RETRY_AFTER_SECONDS = "2";

/** The problem document (RFC 9457) for a request that is not acted on, and the status that it goes with. */
export function refusalOf(fault: SignatureFault | EpochFault): Refusal {
  const { status, title, fields } = answerTo(fault);
  const problem = { type: "about:blank", title, status, ...fault };
  return {
    status,
    fields: { "content-type": "application/problem+json", "cache-control": "no-store", ...fields },
    body: `${JSON.stringify(problem)}\n`,
  };
}

function answerTo(fault: SignatureFault | EpochFault) {
  switch (fault.reason) {
    case "fenced":
      return {
        status: 503,
        title: "The entity is on its way to another region",
        fields: { "retry-after": RETRY_AFTER_SECONDS },
      } as const;
    case "disowned":
      // The gateway follows it, once, and shows it to no client (RFC 9110 §15.5.20).
      return {
        status: 421,
        title: "The entity is in another region",
        fields: { "waybill-region": fault.region },
      } as const;
    default:
      // A 401 must name a scheme (RFC 9110 §15.5.2).
      return {
        status: 401,
        title: "The request does not come from the gateway",
        fields: { "www-authenticate": "Waybill-Signature" },
      } as const;
  }
}
