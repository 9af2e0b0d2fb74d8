import { effect, signal } from "@preact/signals";
import type { IsolateTables, MetricsHistory } from "../../formats/console-api.ts";
import { isBehind } from "../../formats/machines.ts";
import type { Status } from "../../formats/table-api.ts";
import { call, hasExpired, inOrder, isReachable } from "./api.ts";
import { gatewayNow } from "./clock.ts";
import { knownTable, loadTable, mayView, reader, type Session, session } from "./session.ts";
import { durationText, plural, wholeText } from "./words.ts";

/** The revision in force, and on how many isolates or machines. */
export interface Force {
  readonly revision: number;
  readonly canary?: { readonly revision: number; readonly percent?: number; readonly words: string };
  /** Those that have it, of all that reported lately; absent where none did, and for those who may not see it. */
  readonly count?: {
    readonly inForce: number;
    readonly of: number;
    readonly kind: "isolates" | "machines";
    /** More may be behind than are named. */
    readonly isAtMost: boolean;
  };
  /** Unix ms of its publication. */
  readonly sinceMs?: number;
  /** The last change is not yet written to KV. */
  readonly isPending: boolean;
  /** Unix ms: when it was asked. */
  readonly atMs: number;
}

export const force = signal<Force | undefined>(undefined);

export function forceOf(status: Status, isolates: IsolateTables | undefined, nowMs: number): Force {
  const { controlPlane, canary, machines, pending } = status;
  const { revision, time } = controlPlane;
  const count = machines === undefined ? countOfIsolates(isolates, revision) : countOfMachines(machines);
  return {
    revision,
    ...(canary !== null && { canary: { revision: canary.revision, ...audienceOf(canary) } }),
    ...(count !== undefined && { count }),
    ...(time !== undefined && { sinceMs: Date.parse(time) }),
    isPending: pending,
    atMs: nowMs,
  };
}

function countOfIsolates(isolates: IsolateTables | undefined, revision: number): Force["count"] {
  if (isolates === undefined || isolates.count === 0) return undefined;
  const { count, shown } = isolates;
  const behind = shown.filter((each) => each.revision < revision).length;
  const isAtMost = behind === shown.length && count > shown.length;
  return { inForce: count - behind, of: count, kind: "isolates", isAtMost };
}

function countOfMachines({ edges, published }: NonNullable<Status["machines"]>): Force["count"] {
  if (edges.length === 0) return undefined;
  const behind = edges.filter((edge) => isBehind(edge, published)).length;
  return { inForce: edges.length - behind, of: edges.length, kind: "machines", isAtMost: false };
}

const audienceOf = ({ share, countries, entities }: NonNullable<Status["canary"]>) => {
  if (share !== undefined) return { percent: share, words: `${share} %` };
  if (countries !== undefined) return { words: plural(countries.length, "country", "countries") };
  return { words: plural(entities?.length ?? 0, "entity", "entities") };
};

interface ForceWords {
  /** All have it, some do, or it is not known. */
  readonly icon: "good" | "testing" | "none";
  readonly text: string;
  readonly title: string;
}

const KINDS = { isolates: ["instance", "instances"], machines: ["machine", "machines"] } as const;

/** `2 of 3 instances`. */
export const countWords = ({ inForce, of, kind, isAtMost }: NonNullable<Force["count"]>): string =>
  `${isAtMost ? "at most " : ""}${wholeText(inForce)} of ${wholeText(of)} ${KINDS[kind][of === 1 ? 0 : 1]}`;

/** Nothing here is called in force everywhere that was not counted. */
export function forceWords({ count, sinceMs, isPending }: Force, nowMs: number): ForceWords {
  const since = sinceMs === undefined ? "" : `, ${durationText(nowMs - sinceMs)}`;
  if (count === undefined) {
    const title = "No instance has reported its revision in the last minute.";
    return { icon: "none", text: `instances not known${since}`, title };
  }
  const { inForce, of, kind } = count;
  const all = countWords(count);
  const isAll = inForce === of && !isPending;
  const title = isPending
    ? "The last change is not yet written to KV."
    : `${all} reported this revision or a newer one in the last ${kind === "isolates" ? "minute" : "10 minutes"}.`;
  return { icon: isAll ? "good" : "testing", text: `in force on ${all}${since}`, title };
}

/** Asks for it now, such as after a publication. */
export async function refreshForce(): Promise<void> {
  if (mayView.peek()) await refreshWhole();
  else if (session.peek()) await refreshOwn();
}

const ask = inOrder();

async function refreshWhole(): Promise<void> {
  const isNews = ask();
  const from = Math.floor(gatewayNow() / 1000);
  const [status, history] = await Promise.all([
    call<Status>("/-/table/status"),
    call<MetricsHistory>(`/-/metrics/history?span=hour&from=${from}`),
  ]);
  if (!status.ok || !isNews()) return;
  force.value = forceOf(status.value, history.ok ? history.value.isolates : undefined, gatewayNow());
  // Another may have published: IDs are read by the table in force.
  if (knownTable.peek() !== undefined && knownTable.peek()?.revision !== force.value.revision) await loadTable();
}

/** Support learns the revision of the isolate that answers. */
async function refreshOwn(): Promise<void> {
  const isNews = ask();
  const answer = await call<Session>("/-/console/session");
  if (!answer.ok || typeof answer.value.revision !== "number" || !isNews()) return;
  force.value = { revision: answer.value.revision, isPending: false, atMs: gatewayNow() };
  const known = reader.peek().revision;
  if (known !== undefined && known !== answer.value.revision) await loadTable();
}

const AGAIN_MS = 10_000;

export function watchForce(): void {
  effect(() => {
    // Once the gateway answers again it is asked at once.
    if (!session.value || hasExpired.value || !isReachable.value) return undefined;
    void refreshForce();
    const timer = setInterval(() => void refreshForce(), AGAIN_MS);
    return () => clearInterval(timer);
  });
}
