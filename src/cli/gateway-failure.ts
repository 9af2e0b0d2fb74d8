import { TOKEN_VARIABLE } from "./gateway-address.ts";
import type { GatewayFailure, GatewayProblem } from "./gateway-request.ts";
import { printable } from "./printable.ts";

/** Why a gateway did not do what it was asked, for stderr. */
export const failureText = (url: string, failure: GatewayFailure): string => {
  const where = printable(url);
  switch (failure.reason) {
    case "unreachable":
      return `error: ${where} cannot be reached: ${printable(failure.why)}\n`;
    case "cut":
      return `error: ${where} closed the connection before its answer was there: ${printable(failure.why)}\n`;
    case "late":
      return `error: ${where} has not answered within ${failure.seconds} s\n`;
    case "redirected":
      return `error: ${where} leads elsewhere (${failure.status}): ${printable(failure.location)}\n${redirectHint(failure.location)}`;
    case "strange":
      return `error: ${where} answers ${failure.status}: ${printable(failure.why)}\n`;
    case "problem":
      return `error: ${printable(failure.problem.detail)} (${printable(failure.problem.slug)}, ${failure.problem.status})\n${hintOf(failure.problem)}`;
  }
};

/** Whether what was asked for may have been done all the same. A gateway waits for the object so long; the object works on. */
export const mayBeDone = (failure: GatewayFailure): boolean => {
  switch (failure.reason) {
    case "unreachable":
    case "redirected":
      return false;
    case "cut":
    case "late":
      return true;
    case "strange":
      return failure.status < 400 || failure.status >= 500;
    case "problem":
      return failure.problem.status >= 500 && failure.problem.members["outcome"] !== "none";
  }
};

const redirectHint = (location: string): string =>
  location.includes("cloudflareaccess.com")
    ? "  a page of Cloudflare Access stands before it: use the address that takes bearer tokens\n"
    : "  the token is not sent there; name that address if it is the gateway's\n";

const hintOf = ({ slug, members }: GatewayProblem): string => {
  // Asked by a name that open pages do not take; the detail says what to do.
  const hint = slug === "forbidden" && members["needs"] === undefined ? undefined : HINTS[slug];
  return hint === undefined ? "" : `  ${hint}\n`;
};

const HINTS: Readonly<Record<string, string>> = {
  unauthenticated: `put the token of a viewer or an operator into ${TOKEN_VARIABLE}`,
  forbidden: `the token in ${TOKEN_VARIABLE} is a viewer's; changes need an operator's`,
  "control-plane-unavailable": "requests are routed as before by the table in force; try again later",
  "canary-running":
    "end it with `waybill table promote` or `waybill table abort`, or name it with --expect to end it by this change",
  "no-canary": "`waybill table canary` starts one",
  "unknown-revision": "`waybill table history` lists those that there are",
  "not-found": "this gateway has no such page: it may be older than this command",
};
