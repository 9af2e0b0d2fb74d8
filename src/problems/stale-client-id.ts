import type { ClientIdWindow, StaleClientId } from "../ids/index.ts";

/** The text of the problem `stale-client-id`: the ID, the expected time, and the clocks. */

/** `id`: safe to repeat. */
export const staleDetail = (id: string, stale: StaleClientId, hidesTime = false): string => {
  const { expected, idTime, idInterval, gatewayTime, clientTime } = staleMembers(stale, hidesTime);
  const { from, to, fromInterval, toInterval } = expected;
  const clocks =
    clientTime === undefined
      ? `The gateway's clock reads ${gatewayTime}.`
      : `The client's clock reads ${clientTime}, the gateway's ${gatewayTime}.`;
  if (stale.reason === "clock-too-far")
    return `The client's clock is too far off: expected is ${from} to ${to}. ${clocks}`;
  const age = stale.reason === "too-old" ? "too old" : "too new";
  if (hidesTime) return `"${id}" is ${age}; expected is ${from} to ${to}. ${clocks}`;
  return idInterval === undefined
    ? `"${id}" is ${age}: it was made at ${idTime}; expected is ${from} to ${to}. ${clocks}`
    : `"${id}" is ${age}: it was made in interval ${idInterval}; expected is ${fromInterval} to ${toInterval}. ${clocks}`;
};

/** The members after `id` and `entity`. */
export const staleMembers = (stale: StaleClientId, hidesTime = false) => ({
  why: stale.reason,
  expected: expectedOf(windowOf(stale)),
  ...(hidesTime ? {} : saidBy(stale)),
  gatewayTime: nameTime(stale.nowMs),
  ...(stale.clientNowMs === undefined ? {} : { clientTime: nameTime(stale.clientNowMs) }),
});

interface Expected {
  readonly from: string;
  readonly to: string;
  readonly fromInterval?: string;
  readonly toInterval?: string;
}

const windowOf = (stale: StaleClientId): ClientIdWindow => {
  if (stale.reason !== "clock-too-far") return stale.window;
  const { nowMs, clockSkewMaxMs } = stale;
  return { fromMs: nowMs - clockSkewMaxMs, toMs: nowMs + clockSkewMaxMs };
};

/** A window as problems show it. */
export const expectedOf = ({ fromMs, toMs, ring }: ClientIdWindow): Expected => ({
  from: nameTime(fromMs),
  to: nameTime(toMs),
  ...(ring === undefined ? {} : { fromInterval: nameInterval(ring.from), toInterval: nameInterval(ring.to) }),
});

const saidBy = (stale: StaleClientId): { readonly idTime?: string; readonly idInterval?: string } => {
  if (stale.reason === "clock-too-far") return {};
  const { said } = stale;
  return "interval" in said ? { idInterval: nameInterval(said.interval) } : { idTime: nameTime(said.mintedAtMs) };
};

const nameTime = (unixMs: number | undefined): string => {
  if (unixMs === undefined) return "a Unix millisecond beyond 2^53 - 1";
  const date = new Date(unixMs);
  return Number.isNaN(date.getTime()) ? `Unix millisecond ${unixMs}` : date.toISOString();
};

/** As in the text of a short COMB. */
const nameInterval = (interval: number): string => interval.toString(16).padStart(4, "0");
