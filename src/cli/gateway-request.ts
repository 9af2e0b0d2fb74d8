import { err, ok, type Result } from "../ids/index.ts";
import { octetsOf } from "./lines.ts";
import type { World } from "./world.ts";

/** One request to a gateway, and what came of it. */

export interface GatewayRequest {
  readonly method: "GET" | "PUT" | "POST";
  /** From its first slash on, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | string;
}

export interface GatewayAnswer {
  readonly status: number;
  /** By its name; `undefined` where the answer has no such field. */
  readonly header: (name: string) => string | undefined;
  readonly octets: Uint8Array<ArrayBuffer>;
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
}

/** Where a gateway is, and what is shown to it. */
export interface GatewayAddress {
  /** Without a slash at the end. */
  readonly url: string;
  readonly token: string | undefined;
}

/** From the first octet sent to the last one received. A gateway lets a change take 30 s. */
const DEADLINE_MS = 60_000;

/** The largest table, with room for what a list of revisions or faults may say. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/** Sends a request and reads the whole answer. What is no 2xx is a failure. A redirect is not followed: the token is for one host. */
export const askGateway = async (
  { url, token }: GatewayAddress,
  { method, path, headers, body }: GatewayRequest,
  fetch: World["fetch"],
): Promise<Result<GatewayAnswer, GatewayFailure>> => {
  const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(DEADLINE_MS);
  try {
    const response = await fetch(url + path, {
      method,
      // A command may work for seconds between two requests, and learn too late that its connection was closed meanwhile.
      headers: { accept: "application/json", connection: "close", ...credentials, ...headers },
      redirect: "manual",
      signal,
      ...(body === undefined ? {} : { body }),
    });
    const { status } = response;
    const header = (name: string): string | undefined => response.headers.get(name) ?? undefined;
    const octets = response.body === null ? new Uint8Array() : await octetsOf(response.body, ANSWER_BYTES_MAX);
    if (octets === undefined) return err({ reason: "strange", status, why: "the answer is larger than any table" });
    if (response.ok) return ok({ status, header, octets });
    const location = header("location");
    if (location !== undefined) return err({ reason: "redirected", status, location });
    return err(failureOf(status, header("content-type"), octets));
  } catch (error) {
    if (signal.aborted) return err({ reason: "late", seconds: DEADLINE_MS / 1000 });
    return err({ reason: isUnsent(error) ? "unreachable" : "cut", why: whyOf(error) });
  }
};

const failureOf = (status: number, contentType: string | undefined, octets: Uint8Array): GatewayFailure => {
  const members = contentType?.startsWith("application/problem+json") ? readObject(octets) : undefined;
  const { type, detail } = members ?? {};
  if (members === undefined || typeof type !== "string" || typeof detail !== "string") {
    return { reason: "strange", status, why: "no gateway says so: is the address that of one?" };
  }
  return { reason: "problem", problem: { status, slug: type.slice(type.lastIndexOf("/") + 1), detail, members } };
};

/** A JSON object; `undefined` for any other text. */
export const readObject = (octets: Uint8Array): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(octets));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
};

/** Of systems and of TLS, for connections that never came about. */
const UNSENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|(?:ERR_TLS|ERR_SSL|CERT|DEPTH|UNABLE|SELF_SIGNED)_.*)$/;

/** Without a code it was `fetch` that refused. */
const isUnsent = (error: unknown): boolean => {
  const { code } = deepestOf(error);
  return code === undefined || UNSENT.test(String(code));
};

/** What the system said, below the sentence of `fetch` that something went wrong. */
const whyOf = (error: unknown): string => {
  const { code, message } = deepestOf(error);
  return message === undefined || message === "" ? String(code ?? error) : String(message);
};

const deepestOf = (error: unknown): { readonly code?: unknown; readonly message?: unknown } => {
  const { cause } = error as { readonly cause?: unknown };
  return cause instanceof Error ? cause : (error as Error);
};
