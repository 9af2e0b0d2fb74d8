import type { ConsolePort, ConsoleSessions } from "../../ports/console.ts";
import type { Clock } from "../../ports/gateway.ts";
import { loadable } from "../../problems/loadable.ts";
import { SESSION_COOKIE } from "../../proxy/headers.ts";
import type { AdminToken } from "../auth/settings.ts";
import type { ConsolePreview } from "./settings.ts";

export interface ConsoleOptions {
  /** As declared; `undefined`: there is no console. */
  readonly host: string | undefined;
  readonly preview: ConsolePreview;
  readonly environment: string | undefined;
  readonly tokens: readonly AdminToken[];
  readonly clock: Clock;
  /** Its files, where they were built. */
  readonly files: Pick<Fetcher, "fetch"> | undefined;
}

const sealed = loadable("console-sessions", () => import("./sessions.ts"));

/** The console of a deployment. Nothing of it is made before a request asks for it. */
export function edgeConsole({
  host,
  preview,
  environment,
  tokens,
  clock,
  files,
}: ConsoleOptions): (ConsolePort & ConsoleSessions) | undefined {
  if (host === undefined) return undefined;
  const hasPort = host.includes(":");
  let made: ReturnType<typeof import("./sessions.ts")["consoleSessions"]> | undefined;
  const sessions = async () => {
    const { consoleSessions } = sealed.loaded ?? (await sealed.load());
    made ??= consoleSessions({
      tokens,
      host,
      clock,
      subtle: crypto.subtle,
      fillRandom: (bytes) => crypto.getRandomValues(bytes),
    });
    return made;
  };
  return {
    host,
    environment,
    isAt: (asked) => (hasPort || !asked.includes(":") ? asked : asked.replace(/:\d*$/, "")).toLowerCase() === host,
    // The host of this URL is any: the binding has one service.
    file: (name) => files?.fetch(`http://console/${name}`),
    read: async (cookies) => (cookies.includes(SESSION_COOKIE) ? (await sessions()).read(cookies) : undefined),
    openSession: async (caller) => (await sessions()).open(caller),
    renewSession: async (caller) => (caller.session === undefined ? undefined : (await sessions()).renew(caller)),
    mayPreview: (entity) => preview === "all" || preview.includes(entity),
  };
}
