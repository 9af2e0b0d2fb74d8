import { computed, effect, signal } from "@preact/signals";
import { UNATTENDED_HEADER } from "../../formats/console-api.ts";
import { gatewayNow, learnTime } from "./clock.ts";

/** A failed call: the gateway's problem document, or that it could not be reached. */
export interface Problem {
  /** Last segment of its type; `unreachable` where no answer came. */
  readonly slug: string;
  readonly title: string;
  readonly detail: string;
  readonly status: number;
  readonly members: Readonly<Record<string, unknown>>;
}

export type Answer<Value> =
  | { readonly ok: true; readonly value: Value; readonly headers: Headers; readonly status: number }
  | { readonly ok: false; readonly problem: Problem };

/** Unix ms of the first request in a row that did not reach the gateway; `undefined` while it answers. */
export const unreachableSinceMs = signal<number | undefined>(undefined);

export const isReachable = computed(() => unreachableSinceMs.value === undefined);

/** While it is out of reach: Unix ms of the next attempt. */
export const nextAttemptMs = signal(0);

/** Requests in the order of their start. */
let started = 0;

/** The last start that was known when a request failed. */
let failedAfter = 0;

/** Set when a signed-in page was refused for want of a session. */
export const hasExpired = signal(false);

interface Request {
  readonly method?: string;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** The answer is not JSON. */
  readonly asText?: boolean;
  /** 401 is an answer and no end of a session. */
  readonly isSignIn?: boolean;
}

const DEADLINE_MS = 20_000;

/** A request later than this after the last key, click or turn of the wheel is the page's own. It does not renew the session. */
const ATTENDED_MS = 60_000;

let usedAtMs = Date.now();

export function watchUse(): void {
  for (const name of ["keydown", "pointerdown", "wheel"]) {
    addEventListener(name, () => {
      usedAtMs = Date.now();
    });
  }
}

/** One request to the gateway. Never throws. */
export async function call<Value>(path: string, request: Request = {}): Promise<Answer<Value>> {
  const { method = "GET", body, text, headers = {}, asText, isSignIn } = request;
  const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const isAttended = Date.now() - usedAtMs < ATTENDED_MS;
  started += 1;
  const own = started;
  try {
    const response = await fetch(path, {
      method,
      headers: {
        accept: "application/json",
        ...(sent && { "content-type": "application/json" }),
        ...(!isAttended && { [UNATTENDED_HEADER]: "1" }),
        ...headers,
      },
      ...(sent !== undefined && { body: sent }),
      credentials: "same-origin",
      redirect: "error",
      signal: request.signal ? AbortSignal.any([request.signal, deadline]) : deadline,
    });
    learnTime(response.headers.get("date"), Date.now());
    // An answer to a request from before the last failure says nothing of now.
    if (own > failedAfter) unreachableSinceMs.value = undefined;
    if (!response.ok) {
      if (response.status === 401 && isSignIn !== true) hasExpired.value = true;
      return { ok: false, problem: await problemIn(response) };
    }
    const value = response.status === 204 ? undefined : asText ? await response.text() : await response.json();
    return { ok: true, value: value as Value, headers: response.headers, status: response.status };
  } catch {
    if (request.signal?.aborted !== true) {
      failedAfter = started;
      unreachableSinceMs.value ??= gatewayNow();
    }
    return { ok: false, problem: UNREACHABLE };
  }
}

const UNREACHABLE: Problem = {
  slug: "unreachable",
  title: "The gateway does not answer",
  detail: "The request got no complete answer. Check the connection, then try again.",
  status: 0,
  members: {},
};

/**
 * For what is asked again and again: answers overtake each other. Call it before the question. The function that it gives says
 * whether the answer is news; one of a later question was taken otherwise.
 */
export function inOrder(): () => () => boolean {
  let asked = 0;
  let taken = 0;
  return () => {
    asked += 1;
    const own = asked;
    return () => {
      const isNews = own >= taken;
      if (isNews) taken = own;
      return isNews;
    };
  };
}

/** Last segment of the type of a problem. */
export const slugOf = (type = ""): string => type.slice(type.lastIndexOf("/") + 1);

async function problemIn(response: Response): Promise<Problem> {
  const { status } = response;
  const json: unknown = await response.json().catch(() => undefined);
  const members = typeof json === "object" && json !== null ? (json as Record<string, unknown>) : {};
  const textOf = (name: string, otherwise: string): string =>
    typeof members[name] === "string" ? (members[name] as string) : otherwise;
  const slug = slugOf(textOf("type", "")) || "unknown";
  return { slug, title: textOf("title", `Status ${status}`), detail: textOf("detail", ""), status, members };
}

const WAIT_MS = 8_000;
const SOON_MS = 1_000;

let attempt: ReturnType<typeof setTimeout> | undefined;

/** Asks whether the gateway is back, and again some seconds later while it is not. */
export async function askAgain(waitMs = WAIT_MS): Promise<void> {
  clearTimeout(attempt);
  await call("/-/health");
  if (!isReachable.peek()) askLater(waitMs);
}

function askLater(waitMs: number): void {
  clearTimeout(attempt);
  nextAttemptMs.value = gatewayNow() + waitMs;
  attempt = setTimeout(() => void askAgain(), waitMs);
}

export function watchConnection(): void {
  effect(() => {
    if (isReachable.value) return clearTimeout(attempt);
    askLater(WAIT_MS);
  });
  // The browser knows of the network, not of the gateway.
  addEventListener("offline", () => void askAgain());
  // It may still end requests because its network changed.
  addEventListener("online", () => void askAgain(SOON_MS));
}
