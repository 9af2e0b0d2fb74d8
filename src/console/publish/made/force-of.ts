import type { IsolateTables } from "../../../formats/console-api.ts";
import { isBehind } from "../../../formats/machines.ts";
import type { Status } from "../../../formats/table-api.ts";

/** How far a change has come, by what the gateway reports of its isolates or machines. Pure. */

export interface Sent {
  /** The revision that the change made; absent for one that makes none, such as the end of a canary. */
  readonly revision?: number;
  readonly isCanary?: boolean;
}

export interface Force {
  /** The control plane holds it: `sent` is so for every change that was made. */
  readonly isHandedOn: boolean;
  readonly lastError: string | null;
  readonly inForce: number;
  readonly of: number;
  /** More of them are in force than could be counted. */
  readonly isLeast: boolean;
  readonly kind: "isolates" | "machines";
}

export function forceOf(sent: Sent, status: Status, isolates: IsolateTables | undefined): Force {
  const isHandedOn = !status.pending && status.kv !== null;
  const base = { isHandedOn, lastError: status.lastError };
  const { machines } = status;
  if (machines !== undefined && machines.edges.length > 0) {
    const { published } = machines;
    const isOfNumber = sent.revision !== undefined && sent.isCanary !== true;
    const inForce = machines.edges.filter((edge) =>
      isOfNumber ? edge.revision >= (sent.revision ?? 0) : published !== undefined && !isBehind(edge, published),
    ).length;
    return { ...base, inForce, of: machines.edges.length, isLeast: false, kind: "machines" };
  }
  const isHeld = ({ revision, canary }: { readonly revision: number; readonly canary: number | null }): boolean => {
    if (sent.revision === undefined) return canary === null;
    return sent.isCanary ? canary === sent.revision : revision >= sent.revision;
  };
  const { isolate } = status;
  const own = isHeld({ revision: isolate.revision, canary: isolate.canary?.revision ?? null });
  // Isolates report every few seconds, and one without requests not at all: the one that answers is known at once.
  if (isolates === undefined || isolates.count === 0)
    return { ...base, inForce: own ? 1 : 0, of: 1, isLeast: false, kind: "isolates" };
  const { count, shown } = isolates;
  const held = shown.filter(isHeld).length;
  const last = shown.at(-1);
  const hidden = count - shown.length;
  // Those that are furthest behind are shown: the others have at least the last one's revision.
  const areHidden =
    hidden > 0 && sent.isCanary !== true && sent.revision !== undefined && last !== undefined && isHeld(last);
  return {
    ...base,
    inForce: held + (areHidden ? hidden : 0),
    of: count,
    isLeast: hidden > 0 && !areHidden,
    kind: "isolates",
  };
}
