import { TOKEN_VARIABLE } from "./gateway-address.ts";
import type { GatewayFailure, GatewayProblem } from "./gateway-request.ts";
import { escapeControls } from "./printable.ts";

/** Why a gateway did not do what it was asked, for stderr. */
export const formatFailure = (url: string, failure: GatewayFailure): string => {
  const where = escapeControls(url);
  switch (failure.reason) {
    case "unreachable":
      return `error: ${where} cannot be reached: ${escapeControls(failure.why)}\n`;
    case "cut":
      return `error: ${where} closed the connection before its answer was there: ${escapeControls(failure.why)}\n`;
    case "late":
      return `error: ${where} has not answered within ${failure.seconds} s\n`;
    case "redirected":
      return `error: ${where} leads elsewhere (${failure.status}): ${escapeControls(failure.location)}\n${redirectHint(failure.location)}`;
    case "strange":
      return `error: ${where} answers ${failure.status}: ${escapeControls(failure.why)}\n`;
    case "problem":
      return `error: ${escapeControls(failure.problem.detail)} (${escapeControls(failure.problem.slug)}, ${failure.problem.status})\n${formatHint(failure.problem, url)}`;
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

const formatHint = (problem: GatewayProblem, url: string): string => {
  const hint = hintOf(problem, url);
  return hint === undefined ? "" : `  ${hint}\n`;
};

const hintOf = (problem: GatewayProblem, url: string): string | undefined => {
  const { slug, members, isWithToken } = problem;
  switch (slug) {
    case "unauthenticated":
      return isWithToken === true ? WRONG_TOKEN : NO_TOKEN;
    case "rate-limited":
      return waitHint(problem);
    case "not-found":
    case "unrouted-path":
      return pathHint(url) ?? (slug === "not-found" ? OLDER : undefined);
    case "forbidden":
      // Without it, it was asked by a name that open pages do not take; the detail says what to do.
      return members["needs"] === undefined ? undefined : VIEWERS_TOKEN;
    default:
      return HINTS[slug];
  }
};

const NO_TOKEN = `put the token of a viewer or an operator into ${TOKEN_VARIABLE}`;
const WRONG_TOKEN = `the token in ${TOKEN_VARIABLE} was sent, and this gateway does not take it: its deployment has no entry for it`;
const VIEWERS_TOKEN = `the token in ${TOKEN_VARIABLE} is a viewer's; changes need an operator's`;
const OLDER = "this gateway has no such page: it may be older than this command";

const waitHint = ({ members, retryAfterSeconds }: GatewayProblem): string => {
  const wait = retryAfterSeconds === undefined ? "wait a minute" : `wait ${retryAfterSeconds} s`;
  return members["limit"] === "failed-attempts"
    ? `${wait}: until then this network is refused with any token, a right one too`
    : `${wait}, and try again`;
};

/** A gateway has its own pages at the top, unless something before it takes a path off. */
const pathHint = (url: string): string | undefined => {
  const { origin, pathname } = new URL(url);
  return pathname === "/"
    ? undefined
    : `the address has a path (${escapeControls(pathname)}): is the gateway ${origin}?`;
};

const HINTS: Readonly<Record<string, string>> = {
  "control-plane-unavailable": "requests are routed as before by the table in force; try again later",
  "canary-running":
    "end it with `waybill table promote` or `waybill table abort`, or name it with --expect to end it by this change",
  "no-canary": "`waybill table canary` starts one",
  "unknown-revision": "`waybill table history` lists those that there are",
};
