import { err, ok, type Result } from "../ids/index.ts";
import { bytesOf } from "./lines.ts";
import type { Runtime } from "./world.ts";

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
  fetch: Runtime["fetch"],
): Promise<Result<GatewayResponse, GatewayFailure>> => {
  const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(DEADLINE_MS);
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
    if (bytes === undefined) return err({ reason: "strange", status, why: "the answer is larger than any table" });
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
    return { reason: "strange", status, why: "no gateway says so: is the address that of one?" };
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
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") return "it does not speak TLS; is the address one of http?";
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
