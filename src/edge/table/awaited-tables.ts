import { waitUntil } from "cloudflare:workers";
import type { ControlPlaneApi, ServedTable, Tables } from "../../ports/admin.ts";
import type { Clock } from "../../ports/gateway.ts";
import type { Env } from "../env.ts";
import { tellOfNews } from "../events/tell.ts";
import { isToldHere } from "./told-tables.ts";

/** A gateway of one process needs a twentieth of it. */
const WAIT_MS = 2_000;
const POLL_MS = 10;

interface WaitOptions {
  readonly tables: Tables;
  readonly clock: Clock;
  readonly pause: (ms: number) => Promise<void>;
  /** Whose log of events is told. */
  readonly env: Pick<Env, "TRAFFIC">;
}

type IsServed = (served: ServedTable, revision: number) => boolean;

const isAlone: IsServed = ({ table, canary }, revision) => canary === undefined && table.revision === revision;
const isCanary: IsServed = ({ canary }, revision) => canary?.table.revision === revision;

/** Changes that end when this isolate serves them, within bounds. Where the object is elsewhere, they end when they are stored. */
export function awaitedHere(
  api: ControlPlaneApi,
  { tables, clock, pause, env }: WaitOptions,
): Pick<ControlPlaneApi, "publish" | "rollback" | "promote" | "abort" | "startCanary"> {
  const untilServed = async (isServed: IsServed, revision: number): Promise<void> => {
    const endMs = clock.nowMs() + WAIT_MS;
    while (isToldHere() && clock.nowMs() < endMs) {
      const served = tables.peek(waitUntil);
      if (served !== undefined && isServed(served, revision)) return;
      if (served === undefined && !(await tables.load()).ok) return;
      await pause(POLL_MS);
    }
  };
  const awaited =
    <Values extends readonly unknown[]>(
      change: (...values: Values) => ReturnType<ControlPlaneApi["abort"]>,
      isServed: IsServed,
    ) =>
    async (...values: Values) => {
      const made = await change(...values);
      if (made.ok) {
        waitUntil(tellOfNews(env));
        await untilServed(isServed, made.value.revision);
      }
      return made;
    };
  return {
    publish: awaited(api.publish, isAlone),
    rollback: awaited(api.rollback, isAlone),
    promote: awaited(api.promote, isAlone),
    abort: awaited(api.abort, isAlone),
    startCanary: awaited(api.startCanary, isCanary),
  };
}
