import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { type AuthenticateOptions, authenticator } from "../../../src/edge/auth/authenticate.ts";
import { parseAdminTokens } from "../../../src/edge/auth/settings.ts";
import { edgeConsole } from "../../../src/edge/console/console.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { setUp } from "../harness.ts";

export const HOST = "console.test";
export const OWN = { origin: `http://${HOST}`, "sec-fetch-site": "same-origin" };

const SCOPES = ["operator", "viewer", "support", "mint"] as const;
export type TestScope = (typeof SCOPES)[number];
export const tokenOf = (scope: string) => `waybill_${scope.padEnd(43, "x")}`;

const sha256 = async (text: string) =>
  Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toString("hex");

export const ENTRIES = await Promise.all(
  SCOPES.map(async (scope) => ({ name: `${scope}.1`, scope: scope as string, sha256: await sha256(tokenOf(scope)) })),
);

const FILES: Readonly<Record<string, string>> = {
  "shell.html": "<!doctype html><title>console</title>",
  "main.ABCDEFG2.js": "plain",
  "main.ABCDEFG2.js.gz": "coded",
  "secret.txt": "not of the page",
};

interface Options extends Omit<NonNullable<Parameters<typeof setUp>[0]>, "nowMs"> {
  readonly entries?: readonly object[];
  readonly host?: string | undefined;
  readonly preview?: readonly string[] | "all";
  readonly environment?: string;
  readonly auth?: Partial<AuthenticateOptions>;
  readonly isBuilt?: boolean;
}

/** A gateway with a console of its own host, and a clock that the test moves. */
export function setUpConsole({
  entries = ENTRIES,
  host = HOST,
  preview = [],
  environment,
  auth,
  isBuilt = true,
  ...rest
}: Options = {}) {
  const time = { nowMs: Date.UTC(2026, 10, 23) };
  const clock = { nowMs: () => time.nowMs };
  const tokens = parseAdminTokens(JSON.stringify(entries)) ?? [];
  const asked: string[] = [];
  const files = {
    fetch: async (target: unknown) => {
      const name = new URL(String(target)).pathname.slice(1);
      asked.push(name);
      const text = FILES[name];
      return text === undefined ? new Response(null, { status: 404 }) : new Response(text);
    },
  } as unknown as Fetcher;
  const home = edgeConsole({ host, preview, environment, tokens, clock, files: isBuilt ? files : undefined });
  const authenticate = authenticator({
    settings: { openPages: false, tokens, access: undefined, isFaulty: false },
    sessions: home,
    clock,
    fetch: () => Promise.reject(new Error("no network")),
    subtle: crypto.subtle,
    reportRefused: () => undefined,
    reportKeyFailure: () => undefined,
    ...auth,
  });
  const world = setUp({
    declared: { ...DECLARED_TABLE, withoutId: { rest: { path: "/**", sources: [{ region: "eu" }] } } },
    ...rest,
    gateway: { authenticate, console: home, clock, ...rest.gateway },
  });
  const ask = (path: string, init?: RequestInit, at = `http://${HOST}`): Promise<Response> =>
    Promise.resolve(
      world.app.fetch(new Request(at + path, { redirect: "manual", ...init }), env, createExecutionContext()),
    );
  /** The `cookie` header of a new session. */
  const signIn = async (scope: TestScope): Promise<string> => {
    const body = JSON.stringify({ token: tokenOf(scope) });
    const response = await ask("/-/console/session", { method: "POST", headers: OWN, body });
    return (response.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
  };
  return { ...world, ask, signIn, time, asked };
}
