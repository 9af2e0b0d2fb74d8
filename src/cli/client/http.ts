import { err, ok, type Result } from "../../ids/index.ts";
import { parseJson } from "../../routing/schema/json-scanner.ts";
import { type OptionsOf, option } from "../command.ts";
import { bytesOf } from "../lib/input.ts";
import { objectOf } from "../lib/json-values.ts";
import { escapeControls } from "../lib/output.ts";
import { fail, type Runtime, type SimpleFetch } from "../runtime.ts";

export interface GatewayRequest {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | string;
}

export interface GatewayResponse {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type GatewayFailure =
  /** The request was not sent. */
  | { readonly reason: "unreachable"; readonly why: string; readonly remedy?: string }
  /** The connection closed before the response was complete: the outcome is unknown. */
  | { readonly reason: "cut"; readonly why: string }
  | { readonly reason: "late"; readonly seconds: number }
  | { readonly reason: "redirected"; readonly status: number; readonly location: string }
  | { readonly reason: "problem"; readonly problem: GatewayProblem }
  /** The response is not one of a gateway. */
  | { readonly reason: "strange"; readonly status: number; readonly why: string };

/** A problem document (RFC 9457). */
export interface GatewayProblem {
  readonly status: number;
  /** The last segment of the problem's type. */
  readonly slug: string;
  readonly detail: string;
  readonly members: Readonly<Record<string, unknown>>;
  readonly isWithToken?: boolean;
  /** The header `retry-after`, if it is a number. */
  readonly retryAfterSeconds?: number;
}

export interface GatewayAddress {
  /** Without a slash at the end. */
  readonly url: string;
  readonly token: string | undefined;
}

/** For the whole exchange. A gateway allows 30 s for a change. */
const DEADLINE_MS = 60_000;

/** The largest table, with room for lists of revisions and faults. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/** Sends a request and reads the response. Redirects are not followed: the token is for one host. */
export const sendRequest = async (
  { url, token }: GatewayAddress,
  { method, path, headers, body }: GatewayRequest,
  { fetch, deadline }: { readonly fetch: SimpleFetch } & Pick<Runtime, "deadline">,
  deadlineMs = DEADLINE_MS,
): Promise<Result<GatewayResponse, GatewayFailure>> => {
  const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const signal = deadline(deadlineMs);
  let isAnswered = false;
  try {
    const response = await fetch(url + path, {
      method,
      // An idle connection may be closed during a long command, and `fetch` would notice too late.
      headers: { accept: "application/json", connection: "close", ...credentials, ...headers },
      redirect: "manual",
      signal,
      ...(body === undefined ? {} : { body }),
    });
    isAnswered = true;
    const { status } = response;
    const header = (name: string): string | undefined => response.headers.get(name) ?? undefined;
    const bytes = response.body === null ? new Uint8Array() : await bytesOf(response.body, ANSWER_BYTES_MAX);
    if (bytes === undefined) return err({ reason: "strange", status, why: "the response is larger than any table" });
    if (response.ok) return ok({ status, header, bytes });
    const location = header("location");
    if (location !== undefined) return err({ reason: "redirected", status, location });
    const problem = problemIn({ status, header, bytes });
    if (problem !== undefined) {
      return err({ reason: "problem", problem: { ...problem, isWithToken: token !== undefined } });
    }
    return err({ reason: "strange", status, why: "this is not a response of a gateway: is the address correct?" });
  } catch (error) {
    if (signal.aborted) return err({ reason: "late", seconds: deadlineMs / 1000 });
    const why = whyOf(error);
    if (isAnswered || !isUnsent(error)) return err({ reason: "cut", why });
    const remedy = ABSENT[String(deepestOf(error).code)];
    return err({ reason: "unreachable", why, ...(remedy === undefined ? {} : { remedy }) });
  }
};

/** The problem document of a response; `undefined` if it has none. */
const problemIn = ({ status, header, bytes }: GatewayResponse): GatewayProblem | undefined => {
  const members = header("content-type")?.startsWith("application/problem+json") ? readObject(bytes) : undefined;
  const { type, detail } = members ?? {};
  if (members === undefined || typeof type !== "string" || typeof detail !== "string") return undefined;
  const slug = type.slice(type.lastIndexOf("/") + 1);
  // A delay in seconds (RFC 9110 §10.2.3); the gateway never sends a date.
  const wait = header("retry-after") ?? "";
  const retry = /^\d{1,9}$/.test(wait) ? { retryAfterSeconds: Number(wait) } : {};
  return { status, slug, detail, members, ...retry };
};

/** A JSON object; `undefined` for any other text. */
export const readObject = (bytes: Uint8Array) => objectOf(parseJson(new TextDecoder().decode(bytes)));

/** Error codes of connections that were never established. */
const UNSENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|(?:ERR_TLS|ERR_SSL|CERT|DEPTH|UNABLE|SELF_SIGNED)_.*)$/;

const NOT_RUNNING =
  "is it running? `waybill start` starts one with routing-table.json, and `waybill serve BUILD` one of a build; WAYBILL_GATEWAY can name another address";
const NO_HOST =
  "its host name has no address here: correct the gateway's address, or try again if this machine is offline";

/** Codes of an address where nothing listens, with the remedy. */
const ABSENT: Readonly<Record<string, string>> = {
  ECONNREFUSED: NOT_RUNNING,
  EHOSTUNREACH: NOT_RUNNING,
  ENETUNREACH: NOT_RUNNING,
  ETIMEDOUT: NOT_RUNNING,
  UND_ERR_CONNECT_TIMEOUT: NOT_RUNNING,
  ENOTFOUND: NO_HOST,
  EAI_AGAIN: NO_HOST,
};

/** An error of an established connection has the same code, but another system call. */
const USED = /^(?:read|write)$/;

/** Without a code, `fetch` itself rejected the request. */
const isUnsent = (error: unknown): boolean => {
  const { name, code, syscall } = deepestOf(error);
  // An answer that is no HTTP came from a connection; undici of Node 24 gives it no code.
  if (name === "HTTPParserError") return false;
  return code === undefined || (UNSENT.test(String(code)) && !USED.test(String(syscall)));
};

/** The system's message, which `fetch` wraps. */
const whyOf = (error: unknown): string => {
  const { code, message } = deepestOf(error);
  // Not a status line (RFC 9112 §4), as from a TLS server.
  if (/\(Expected HTTP\//.test(String(message))) return "the server does not speak HTTP; should the address use https?";
  const tls = /^ERR_SSL_/.test(String(code)) ? tlsSentence(String(code), String(message)) : undefined;
  if (tls !== undefined) return tls;
  return message === undefined || message === "" ? String(code ?? error) : String(message);
};

/** OpenSSL: `thread:error:number:library:function:reason:file:line:`. */
const tlsSentence = (code: string, message: string): string | undefined => {
  // The response is not a TLS record (RFC 8446 §5.1), as from a plain HTTP server.
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") return "the server does not speak TLS; should the address use http?";
  const [, error, , , , reason] = message.split(":");
  return error === "error" && reason !== undefined ? `TLS failed: ${reason}` : undefined;
};

const deepestOf = (error: unknown): { readonly [Name in "name" | "code" | "syscall" | "message"]?: unknown } => {
  const { cause } = error as { readonly cause?: unknown };
  return cause instanceof Error ? cause : (error as Error);
};

export const ADDRESS_VARIABLE = "WAYBILL_GATEWAY";
export const TOKEN_VARIABLE = "WAYBILL_TOKEN";

export const GATEWAY_OPTIONS = [
  option("--gateway <url>", `the gateway's address (default: ${ADDRESS_VARIABLE} of the environment)`),
  option("--insecure", "send the token to another machine over plain http"),
] as const;

export type GatewayOptions = OptionsOf<typeof GATEWAY_OPTIONS>;

export const GATEWAY_HELP = `The gateway is that of --gateway or ${ADDRESS_VARIABLE}; its token is read only from ${TOKEN_VARIABLE}.`;

/** The address and token by option and environment. The error is for stderr. */
export const gatewayAddress = ({ gateway, insecure }: GatewayOptions, runtime: Runtime) => {
  const given = gateway ?? runtime.env(ADDRESS_VARIABLE);
  if (given === undefined || given === "") {
    const own = "`waybill start` runs one at http://127.0.0.1:8787";
    return err(`error: no gateway given; use --gateway or ${ADDRESS_VARIABLE} (${own})\n`);
  }
  const address = readAddress(given);
  if (!address.ok) return err(`error: ${escapeControls(given)} is not a gateway address: ${address.error}\n`);
  const token = runtime.env(TOKEN_VARIABLE);
  if (token === undefined || token === "") return ok({ url: address.value.href, token: undefined });
  // `fetch` would print the token in its error.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return err(`error: ${TOKEN_VARIABLE} contains white space or non-ASCII characters, which no token has\n`);
  }
  if (!address.value.isOpen || insecure) return ok({ url: address.value.href, token });
  const refusal = `refusing to send the token over plain http to ${escapeControls(given)}`;
  return err(`error: ${refusal}; use https or pass --insecure\n`);
};

/** `href`: without a slash at the end. `isOpen`: the connection is unencrypted and leaves this machine. */
const readAddress = (text: string): Result<{ readonly href: string; readonly isOpen: boolean }, string> => {
  if (!URL.canParse(text)) return err("write it like https://api.example.com");
  const { protocol, host, hostname, pathname, search, hash, username, password } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:") return err("the scheme is neither http nor https");
  if (username !== "" || password !== "")
    return err(`it contains a user name or password; put the token in ${TOKEN_VARIABLE}`);
  if (search !== "" || hash !== "") return err("it contains a query or a fragment");
  const href = `${protocol}//${host}${pathname.replace(/\/+$/, "")}`;
  return ok({ href, isOpen: protocol === "http:" && !isLoopback(hostname) });
};

/** Loopback addresses (RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
const isLoopback = (hostname: string): boolean =>
  /^(?:(?:.+\.)?localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/.test(hostname);

export const formatFailure = (url: string, failure: GatewayFailure): string => {
  const where = escapeControls(url);
  switch (failure.reason) {
    case "unreachable": {
      const { why, remedy } = failure;
      if (remedy === undefined) return `error: ${where} cannot be reached: ${escapeControls(why)}\n`;
      return `error: no gateway answers at ${where}: ${escapeControls(why)}\n  ${remedy}\n`;
    }
    case "cut":
      return `error: ${where} closed the connection before responding: ${escapeControls(failure.why)}\n`;
    case "late":
      return `error: ${where} did not respond within ${failure.seconds} s\n`;
    case "redirected":
      return `error: ${where} redirects to ${escapeControls(failure.location)} (${failure.status})\n${redirectHint(failure.location)}`;
    case "strange":
      return `error: ${where} answers ${failure.status}: ${escapeControls(failure.why)}\n`;
    case "problem": {
      const { detail, slug, status } = failure.problem;
      const known = HINTS[slug];
      const hint = typeof known === "function" ? known(failure.problem, url) : known;
      return `error: ${escapeControls(`${detail} (${slug}, ${status})`)}\n${hint === undefined ? "" : `  ${hint}\n`}`;
    }
  }
};

/** The value; a failure ends the command. */
export const answerOf = <Value>({ url }: { readonly url: string }, answer: Result<Value, GatewayFailure>): Value =>
  answer.ok ? answer.value : fail(formatFailure(url, answer.error));

/** Whether the change may have been made: the Durable Object may continue after the gateway's timeout. */
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
    ? "  this is a login page of Cloudflare Access: use the address that accepts bearer tokens\n"
    : "  the token was not sent there; use that address if it is the gateway's\n";

const waitHint: Hint = ({ members, retryAfterSeconds }) => {
  const wait = retryAfterSeconds === undefined ? "wait a minute" : `wait ${retryAfterSeconds} s`;
  if (members["limit"] !== "failed-attempts") return `${wait} and try again`;
  return `${wait}: until then every token from this network is rejected, valid ones included`;
};

/** Gateway endpoints are at the root, unless a proxy strips a path. */
const pathHint = (url: string): string | undefined => {
  const { origin, pathname } = new URL(url);
  if (pathname === "/") return undefined;
  return `the address has a path (${escapeControls(pathname)}): is the gateway ${origin}?`;
};

type Hint = (problem: GatewayProblem, url: string) => string | undefined;

const REJECTED = `the token in ${TOKEN_VARIABLE} was rejected: the deployment has no entry for it`;
const VIEWER = `the token in ${TOKEN_VARIABLE} is a viewer's; changes need an operator's token`;

const HINTS: Readonly<Record<string, string | Hint>> = {
  unauthenticated: ({ isWithToken }) =>
    isWithToken ? REJECTED : `set a viewer's or operator's token in ${TOKEN_VARIABLE}`,
  "rate-limited": waitHint,
  "not-found": (_, url) => pathHint(url) ?? "this gateway has no such endpoint; it may be older than this command",
  "unrouted-path": (_, url) => pathHint(url),
  // Without `needs`, the host name is not allowed; the detail says what to do.
  forbidden: ({ members }) => (members["needs"] === undefined ? undefined : VIEWER),
  "control-plane-unavailable": "requests are still routed by the current table; try again later",
  "canary-running":
    "end it with `waybill table promote` or `waybill table abort`, or pass its revision as --expect to replace it",
  "no-canary": "start one with `waybill table canary FILE --share PERCENT`",
  "unknown-revision": "`waybill table history` lists all revisions",
};
