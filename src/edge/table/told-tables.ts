import { waitUntil } from "cloudflare:workers";
import type { Pointer } from "../../formats/kv.ts";
import type { ControlPlaneApi, ServedTable, Tables } from "../../ports/admin.ts";
import type { Clock } from "../../ports/gateway.ts";

/** Tables in memory that take a pointer from the object that has written it to KV. */
export interface ToldTables {
  tell(pointer: Pointer): Promise<void>;
}

/**
 * The object that publishes often runs in an isolate that serves requests: always where one process is the gateway, by chance on
 * Cloudflare. There it tells the tables in memory. Other isolates see the change when they next read KV.
 */
let told: ToldTables | undefined;
let isObjectHere = false;

/** The object of this isolate tells these tables, of which an isolate has one. */
export function tellFromNowOn(tables: ToldTables): void {
  told = tables;
}

/** How an object of this isolate tells. From now on changes are awaited here. */
export function teller(): (pointer: Pointer) => void {
  isObjectHere = true;
  return (pointer) => void told?.tell(pointer);
}

/** A gateway of one process needs a twentieth of it. */
const WAIT_MS = 2_000;
const POLL_MS = 10;

interface WaitOptions {
  readonly tables: Tables;
  readonly clock: Clock;
  readonly pause: (ms: number) => Promise<void>;
}

type IsServed = (served: ServedTable, revision: number) => boolean;

const isAlone: IsServed = ({ table, canary }, revision) => canary === undefined && table.revision === revision;
const isCanary: IsServed = ({ canary }, revision) => canary?.table.revision === revision;

/** Changes that end when this isolate serves them, within bounds. Where the object is elsewhere, they end when they are stored. */
export function awaitedHere(
  api: ControlPlaneApi,
  { tables, clock, pause }: WaitOptions,
): Pick<ControlPlaneApi, "publish" | "rollback" | "promote" | "abort" | "startCanary"> {
  const untilServed = async (isServed: IsServed, revision: number): Promise<void> => {
    const endMs = clock.nowMs() + WAIT_MS;
    while (isObjectHere && clock.nowMs() < endMs) {
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
      if (made.ok) await untilServed(isServed, made.value.revision);
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
