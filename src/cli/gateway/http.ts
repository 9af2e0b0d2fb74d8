import { err, ok, type Result } from "../../ids/index.ts";
import { type OptionsOf, option } from "../command.ts";
import { bytesOf } from "../lib/input.ts";
import { escapeControls } from "../lib/output.ts";
import type { Runtime } from "../runtime.ts";

/** One request to a gateway, and what came of it. */

export interface GatewayRequest {
  readonly method: "GET" | "PUT" | "POST";
  /** From its first slash on, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | string;
}

export interface GatewayResponse {
  readonly status: number;
  /** By its name; `undefined` where the answer has no such field. */
  readonly header: (name: string) => string | undefined;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type GatewayFailure =
  /** It never got the request. */
  | { readonly reason: "unreachable"; readonly why: string }
  /** The connection ended before the whole answer was there: nobody can tell what became of the request. */
  | { readonly reason: "cut"; readonly why: string }
  | { readonly reason: "late"; readonly seconds: number }
  | { readonly reason: "redirected"; readonly status: number; readonly location: string }
  | { readonly reason: "problem"; readonly problem: GatewayProblem }
  /** It answered, but not as a gateway does. */
  | { readonly reason: "strange"; readonly status: number; readonly why: string };

/** A problem document (RFC 9457) as the gateway answers with one. */
export interface GatewayProblem {
  readonly status: number;
  /** The last segment of the problem's type. */
  readonly slug: string;
  readonly detail: string;
  readonly members: Readonly<Record<string, unknown>>;
  /** Whether a token was shown. */
  readonly isWithToken?: boolean;
  /** What the field `retry-after` says, where it is there and a number. */
  readonly retryAfterSeconds?: number;
}

/** Where a gateway is, and what is shown to it. */
export interface GatewayAddress {
  /** Without a slash at the end. */
  readonly url: string;
  readonly token: string | undefined;
}

/** From the first byte sent to the last one received. A gateway lets a change take 30 s. */
const DEADLINE_MS = 60_000;

/** The largest table, with room for what a list of revisions or faults may say. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/** Sends a request and reads the whole answer. What is no 2xx is a failure. A redirect is not followed: the token is for one host. */
export const sendRequest = async (
  { url, token }: GatewayAddress,
  { method, path, headers, body }: GatewayRequest,
  { fetch, deadline }: Pick<Runtime, "fetch" | "deadline">,
): Promise<Result<GatewayResponse, GatewayFailure>> => {
  const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const signal = deadline(DEADLINE_MS);
  let isAnswered = false;
  try {
    const response = await fetch(url + path, {
      method,
      // A command may work for seconds between two requests, and learn too late that its connection was closed meanwhile.
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
    const failure = failureOf(status, header("content-type"), bytes);
    if (failure.reason !== "problem") return err(failure);
    const circumstances = { isWithToken: token !== undefined, ...waitOf(header("retry-after")) };
    return err({ reason: "problem", problem: { ...failure.problem, ...circumstances } });
  } catch (error) {
    if (signal.aborted) return err({ reason: "late", seconds: DEADLINE_MS / 1000 });
    return err({ reason: !isAnswered && isUnsent(error) ? "unreachable" : "cut", why: whyOf(error) });
  }
};

const failureOf = (status: number, contentType: string | undefined, bytes: Uint8Array): GatewayFailure => {
  const members = contentType?.startsWith("application/problem+json") ? readObject(bytes) : undefined;
  const { type, detail } = members ?? {};
  if (members === undefined || typeof type !== "string" || typeof detail !== "string") {
    return { reason: "strange", status, why: "this is not a response of a gateway: is the address correct?" };
  }
  return { reason: "problem", problem: { status, slug: type.slice(type.lastIndexOf("/") + 1), detail, members } };
};

/** RFC 9110 §10.2.3; the gateway sends seconds, never a date. */
const waitOf = (text: string | undefined): Pick<GatewayProblem, "retryAfterSeconds"> =>
  text !== undefined && /^\d{1,9}$/.test(text) ? { retryAfterSeconds: Number(text) } : {};

/** A JSON object; `undefined` for any other text. */
export const readObject = (bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
};

/** Of systems and of TLS, for connections that never came about. */
const UNSENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|(?:ERR_TLS|ERR_SSL|CERT|DEPTH|UNABLE|SELF_SIGNED)_.*)$/;

/** What ends a connection that was there has the same codes, and another call of the system. */
const USED = /^(?:read|write)$/;

/** Without a code it was `fetch` that refused. */
const isUnsent = (error: unknown): boolean => {
  const { code, syscall } = deepestOf(error);
  return code === undefined || (UNSENT.test(String(code)) && !USED.test(String(syscall)));
};

/** What the system said, below the sentence of `fetch` that something went wrong. */
const whyOf = (error: unknown): string => {
  const { code, message } = deepestOf(error);
  const tls = /^ERR_SSL_/.test(String(code)) ? tlsSentence(String(code), String(message)) : undefined;
  if (tls !== undefined) return tls;
  return message === undefined || message === "" ? String(code ?? error) : String(message);
};

/** Of OpenSSL's `thread:error:number:library:function:reason:file:line:` people need the reason. */
const tlsSentence = (code: string, message: string): string | undefined => {
  // What comes for an answer is no record of TLS (RFC 8446 §5.1), as from a server of http.
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") return "the server does not speak TLS; should the address use http?";
  const [, error, , , , reason] = message.split(":");
  return error === "error" && reason !== undefined ? `TLS failed: ${reason}` : undefined;
};

const deepestOf = (error: unknown): SystemError => {
  const { cause } = error as { readonly cause?: unknown };
  return cause instanceof Error ? cause : (error as Error);
};

interface SystemError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly message?: unknown;
}

export const ADDRESS_VARIABLE = "WAYBILL_GATEWAY";
export const TOKEN_VARIABLE = "WAYBILL_TOKEN";

export const GATEWAY_OPTIONS = [
  option("--gateway <url>", `the gateway's address (default: ${ADDRESS_VARIABLE} of the environment)`),
  option("--insecure", "send the token to another machine over plain http"),
] as const;

export type GatewayOptions = OptionsOf<typeof GATEWAY_OPTIONS>;

/** Said in the help of every command that works with a gateway. */
export const GATEWAY_HELP = `The gateway is that of --gateway or ${ADDRESS_VARIABLE}; its token is read only from ${TOKEN_VARIABLE}.`;

/** Where the gateway is, by the option and the environment. The error is a sentence for stderr. */
export const gatewayAddress = (
  { gateway, insecure }: GatewayOptions,
  runtime: Runtime,
): Result<GatewayAddress, string> => {
  const given = gateway ?? runtime.env(ADDRESS_VARIABLE);
  if (given === undefined || given === "") {
    return err(`error: no gateway given; use --gateway or ${ADDRESS_VARIABLE}\n`);
  }
  const address = readAddress(given);
  if (!address.ok) return err(`error: ${escapeControls(given)} is not a gateway address: ${address.error}\n`);
  const token = runtime.env(TOKEN_VARIABLE);
  if (token === undefined || token === "") return ok({ url: address.value.href, token: undefined });
  // fetch would show the token in its error.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return err(`error: ${TOKEN_VARIABLE} contains white space or non-ASCII characters, which no token has\n`);
  }
  if (address.value.isOpen && insecure !== true) {
    return err(
      `error: refusing to send the token over plain http to ${escapeControls(given)}; use https or pass --insecure\n`,
    );
  }
  return ok({ url: address.value.href, token });
};

interface Address {
  /** Without a slash at the end. */
  readonly href: string;
  /** Whether others can read what goes there. */
  readonly isOpen: boolean;
}

const readAddress = (text: string): Result<Address, string> => {
  if (!URL.canParse(text)) return err("write it like https://api.example.com");
  const { protocol, host, hostname, pathname, search, hash, username, password } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:") return err("the scheme is neither http nor https");
  if (username !== "" || password !== "")
    return err(`it contains a user name or password; put the token in ${TOKEN_VARIABLE}`);
  if (search !== "" || hash !== "") return err("it contains a query or a fragment");
  const href = `${protocol}//${host}${pathname.replace(/\/+$/, "")}`;
  return ok({ href, isOpen: protocol === "http:" && !isLoopback(hostname) });
};

/** What stays on this machine (RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
const isLoopback = (hostname: string): boolean =>
  /^(?:(?:.+\.)?localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/.test(hostname);

/** Why a gateway did not do what it was asked, for stderr. */
export const formatFailure = (url: string, failure: GatewayFailure): string => {
  const where = escapeControls(url);
  switch (failure.reason) {
    case "unreachable":
      return `error: ${where} cannot be reached: ${escapeControls(failure.why)}\n`;
    case "cut":
      return `error: ${where} closed the connection before responding: ${escapeControls(failure.why)}\n`;
    case "late":
      return `error: ${where} did not respond within ${failure.seconds} s\n`;
    case "redirected":
      return `error: ${where} redirects to ${escapeControls(failure.location)} (${failure.status})\n${redirectHint(failure.location)}`;
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
    ? "  this is a login page of Cloudflare Access: use the address that accepts bearer tokens\n"
    : "  the token was not sent there; use that address if it is the gateway's\n";

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

const NO_TOKEN = `set a viewer's or operator's token in ${TOKEN_VARIABLE}`;
const WRONG_TOKEN = `the token in ${TOKEN_VARIABLE} was rejected: the deployment has no entry for it`;
const VIEWERS_TOKEN = `the token in ${TOKEN_VARIABLE} is a viewer's; changes need an operator's token`;
const OLDER = "this gateway has no such endpoint; it may be older than this command";

const waitHint = ({ members, retryAfterSeconds }: GatewayProblem): string => {
  const wait = retryAfterSeconds === undefined ? "wait a minute" : `wait ${retryAfterSeconds} s`;
  return members["limit"] === "failed-attempts"
    ? `${wait}: until then every token from this network is rejected, valid ones included`
    : `${wait} and try again`;
};

/** A gateway has its own pages at the top, unless something before it takes a path off. */
const pathHint = (url: string): string | undefined => {
  const { origin, pathname } = new URL(url);
  return pathname === "/"
    ? undefined
    : `the address has a path (${escapeControls(pathname)}): is the gateway ${origin}?`;
};

const HINTS: Readonly<Record<string, string>> = {
  "control-plane-unavailable": "requests are still routed by the current table; try again later",
  "canary-running":
    "end it with `waybill table promote` or `waybill table abort`, or pass its revision as --expect to replace it",
  "no-canary": "start one with `waybill table canary`",
  "unknown-revision": "`waybill table history` lists all revisions",
};
