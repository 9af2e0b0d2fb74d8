import type { ClientIdWindow, StaleClientId } from "../../ids/index.ts";
import { type ProblemsOf, shorten } from "../../problems/feature.ts";
import type { CreateKeyError } from "./table/request.ts";

export type CreateError =
  | CreateKeyError
  /** `count` and `max`: absent without a list. */
  | {
      readonly reason: "create-count";
      readonly entity: string;
      readonly count: number | undefined;
      readonly max: number | undefined;
    }
  | { readonly reason: "create-regions"; readonly entity: string; readonly regions: readonly string[] }
  | {
      readonly reason: "stale-client-id";
      readonly id: string;
      readonly entity: string;
      readonly stale: StaleClientId;
      /** A public ID hides its time. */
      readonly isPublic?: boolean;
    };

export const createProblems: ProblemsOf<CreateError> = {
  "create-key-missing": {
    status: 400,
    title: "No key for the new ID",
    detail: ({ entity, field }) => `Nothing says the ${field} of the new "${entity}".`,
    members: ["field", "sources"],
  },
  "create-key-invalid": {
    status: 400,
    title: "Invalid key for the new ID",
    detail: ({ field, source, value }) =>
      `"${shorten(value)}" of ${source} is no ${field}${field === "country" ? " of the routing table" : ""}.`,
    members: ["field", "source"],
  },
  "create-count": {
    status: 400,
    title: "Not so many entities at once",
    detail: ({ entity, count, max }) =>
      max === undefined
        ? `A request creates one "${entity}".`
        : `A request creates 1 to ${max} of "${entity}"; the body has ${count ?? "no such list"}.`,
    members: ["count", "max"],
  },
  "create-regions": {
    status: 409,
    title: "The new entity would be in several regions",
    detail: ({ entity, regions }) => `The new "${entity}" would be in ${regions.join(" and ")}.`,
    members: ["regions"],
  },
  "stale-client-id": {
    status: 422,
    title: "Stale client ID",
    detail: ({ id, stale, isPublic }) => staleDetail(shorten(id), stale, isPublic),
    members: ({ id, entity, stale, isPublic }) => ({
      id: shorten(id),
      entity,
      ...staleMembers(stale, isPublic),
    }),
  },
};

/** `id`: safe to repeat. */
const staleDetail = (id: string, stale: StaleClientId, hidesTime = false): string => {
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
const staleMembers = (stale: StaleClientId, hidesTime = false) => ({
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
