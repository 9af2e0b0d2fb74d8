import { effect, signal } from "@preact/signals";
import type { MetricsHistory } from "../../../formats/console-api.ts";
import type { Status } from "../../../formats/table-api.ts";
import { call, hasExpired, type Problem } from "../../app/api.ts";
import { gatewayNow } from "../../app/clock.ts";
import { refreshForce } from "../../app/force.ts";
import { loadTable, session } from "../../app/session.ts";
import { MADE_KEY } from "../../app/windows.ts";
import { post, revisionsBefore, sendContext, settle } from "../send.ts";
import { type Force, forceOf } from "./force-of.ts";

/** The last change that was made in this tab: how far it has come, and the way back for ten minutes. */

export interface MadeChange {
  /** Absent for one that makes none, such as the end of a canary. */
  readonly revision?: number;
  readonly isCanary?: boolean;
  /** `Revision 43 is published`. */
  readonly title: string;
  /** The revision that an undo puts back in force; absent where there is no undo. */
  readonly before?: number;
  readonly author: string;
  readonly atMs: number;
}

export interface Followed extends MadeChange {
  readonly force?: Force;
  /** The isolate that answers this page has it. */
  readonly isHere: boolean;
  /** Until it was in force here, and on all; ms. */
  readonly hereAfterMs?: number;
  readonly allAfterMs?: number;
}

export const made = signal<Followed | undefined>(undefined);

export const UNDO_MS = 10 * 60_000;

const ASK_MS = 500;

/** Takes up a change that was made before a reload, and keeps the last one until its way back is over. */
export function keepMade(): void {
  const kept = read();
  if (made.peek() === undefined && kept !== undefined) void follow(kept);
  effect(() => {
    const own = made.value;
    try {
      if (own === undefined) sessionStorage.removeItem(MADE_KEY);
      else {
        const { force: _, isHere: __, hereAfterMs: ___, allAfterMs: ____, ...change } = own;
        sessionStorage.setItem(MADE_KEY, JSON.stringify(change));
      }
    } catch {
      // A tab without storage has it until a reload.
    }
  });
}

/** One of the same person, and not older than its way back. */
function read(): MadeChange | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(MADE_KEY) ?? "null") as MadeChange | null;
    const isOwn = kept?.author === session.peek()?.name;
    return kept !== null && isOwn && gatewayNow() - kept.atMs < UNDO_MS ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** Watches a change until it is in force everywhere, whether or not its window is open. */
export async function follow(change: MadeChange): Promise<void> {
  let last: Followed = { ...change, isHere: false };
  made.value = last;
  const sinceMs = () => gatewayNow() - change.atMs;
  while (session.peek() && sinceMs() < UNDO_MS) {
    const next = hasExpired.peek() ? undefined : await asked(last, sinceMs());
    // A later change is watched instead.
    if (made.peek() !== last) return;
    if (next !== undefined) {
      const isNew = next.isHere && !last.isHere;
      last = next;
      made.value = last;
      if (isNew) await Promise.all([loadTable(), refreshForce()]);
    }
    if (last.allAfterMs !== undefined) return void refreshForce();
    await new Promise((resolve) => setTimeout(resolve, ASK_MS));
    if (made.peek() !== last) return;
  }
}

async function asked(last: Followed, afterMs: number): Promise<Followed | undefined> {
  const [status, history] = await Promise.all([
    call<Status>("/-/table/status"),
    // The isolates alone: no step is newer than now.
    call<MetricsHistory>(`/-/metrics/history?span=hour&from=${Math.floor(gatewayNow() / 1_000)}`),
  ]);
  if (!status.ok) return undefined;
  const isolates = history.ok && history.value.source === "all" ? history.value.isolates : undefined;
  const force = forceOf(last, status.value, isolates);
  const isHere = force.isHandedOn && forceOf(last, { ...status.value, machines: undefined }, undefined).inForce === 1;
  const isAll = isHere && !force.isLeast && force.inForce === force.of;
  return {
    ...last,
    force,
    isHere,
    ...(isHere && { hereAfterMs: last.hereAfterMs ?? afterMs }),
    ...(isAll && { allAfterMs: afterMs }),
  };
}

export type Undone =
  | { readonly is: "undone" }
  /** Nothing was undone: another change came first. `by`: who, where it is known. */
  | { readonly is: "stale"; readonly revision?: number; readonly by?: string }
  | { readonly is: "failed"; readonly problem: Problem };

/** Puts the revision before back in force, if nothing came after the change. It is a change itself. */
export async function undo(change: MadeChange, onDoubt: () => void): Promise<Undone> {
  const { revision, before, isCanary, author } = change;
  if (revision === undefined || before === undefined) throw new Error("a change without a way back");
  const note = isCanary ? `Undo of canary ${revision}` : `Undo of revision ${revision}`;
  const send = () =>
    isCanary ? post("/-/table/abort", revision, { note }) : post("/-/table/rollback", revision, { to: before, note });
  const settled = await settle({ action: isCanary ? "abort" : "rollback", note, send }, sendContext(author, onDoubt));
  if (settled.is === "made") {
    const isNew = !isCanary && settled.revision !== undefined;
    const title = isCanary ? `Canary ${revision} is aborted` : `Revision ${revision} is undone: ${before} is back`;
    void follow({ title, author, atMs: settled.sentAtMs, ...(isNew && { revision: settled.revision }) });
    return { is: "undone" };
  }
  if (settled.is !== "stale") return { is: "failed", problem: settled.problem };
  const newest = await revisionsBefore(1);
  const other = newest.ok ? newest.value.revisions[0] : undefined;
  return { is: "stale", ...(other && { revision: other.revision, by: other.author }) };
}
