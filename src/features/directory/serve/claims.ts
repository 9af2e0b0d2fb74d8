import { err, ok, type Result } from "../../../ids/result.ts";
import type { Gateway } from "../../../ports/gateway.ts";
import type { GatewayError } from "../../../problems/index.ts";
import type { ChangeOutcome, Claim, ClaimOutcome, DirectoryEntry, DirectoryKey } from "../port.ts";

/** Claims of one or several keys. The truth alone decides; the copies of this isolate and location are dropped after each. */

export type ClaimAction =
  | { readonly action: "reserve"; readonly region: string; readonly leaseMs: number }
  | { readonly action: "confirm" | "release" };

type Ports = Pick<Gateway, "directory" | "directoryTruth">;

export interface ClaimedKey {
  readonly at: DirectoryKey;
  readonly entry: DirectoryEntry;
}

/** Keys of one entity: in one order for all callers, so that of two that want the same keys one gets all of them. */
export async function claimKeys(
  ports: Ports,
  keys: readonly DirectoryKey[],
  by: Pick<Claim, "owner" | "operation">,
  action: ClaimAction,
): Promise<Result<readonly ClaimedKey[], GatewayError>> {
  const claims = keys.toSorted(inOrder).map((at): Claim => ({ ...at, ...by }));
  const entries: ClaimedKey[] = [];
  for (const [index, claim] of claims.entries()) {
    const claimed = await claimOne(ports, claim, action);
    if (!claimed.ok) {
      // The one that failed may have been reserved all the same.
      if (action.action === "reserve") await releaseAll(ports, claims.slice(0, index + 1));
      return claimed;
    }
    if (claimed.value !== undefined) entries.push({ at: claim, entry: claimed.value });
  }
  return ok(entries);
}

const inOrder = (a: DirectoryKey, b: DirectoryKey): number => {
  const left = `${a.directory}\0${a.key}`;
  const right = `${b.directory}\0${b.key}`;
  return left < right ? -1 : left > right ? 1 : 0;
};

/** A claim that cannot be released ends with its lease. A key that is confirmed stays. */
async function releaseAll(ports: Ports, claims: readonly Claim[]): Promise<void> {
  await Promise.all(claims.map((claim) => claimOne(ports, claim, { action: "release" })));
}

async function claimOne(
  { directory, directoryTruth }: Ports,
  claim: Claim,
  action: ClaimAction,
): Promise<Result<DirectoryEntry | undefined, GatewayError>> {
  const { directory: name, key } = claim;
  if (action.action === "release") {
    const released = await directoryTruth.release(claim);
    if (!released.ok) return released;
    return released.value === "done" ? ok(undefined) : err({ reason: "key-taken", directory: name, key });
  }
  const { region, leaseMs } = action.action === "reserve" ? action : { region: "", leaseMs: 0 };
  const outcome =
    action.action === "reserve"
      ? await directoryTruth.reserve({ ...claim, region, leaseMs })
      : await directoryTruth.confirm(claim);
  await directory.forget(name, key);
  return outcome.ok ? entryOf(outcome.value, claim) : outcome;
}

function entryOf(outcome: ClaimOutcome, { directory, key }: DirectoryKey): Result<DirectoryEntry, GatewayError> {
  switch (outcome.state) {
    case "done":
      return ok(outcome.entry);
    case "taken":
      return err({ reason: "key-taken", directory, key });
    case "held":
      return err({ reason: "key-reserved", directory, key, retryAfterSeconds: outcome.retryAfterSeconds });
    case "lost":
      return err({ reason: "claim-lost", directory, key });
    case "full":
      return err({ reason: "directory-full", directory, key });
  }
}

/** A change of a key that is there, by its version. */
export type KeyChange = { readonly kind: "move"; readonly region: string } | { readonly kind: "remove" | "missing" };

export async function changeKey(
  { directory, directoryTruth }: Ports,
  at: DirectoryKey,
  version: number,
  change: KeyChange,
): Promise<Result<DirectoryEntry | undefined, GatewayError>> {
  const changed = await (change.kind === "move"
    ? directoryTruth.move(at, change.region, version)
    : change.kind === "remove"
      ? directoryTruth.remove(at, version)
      : directoryTruth.reportMissing(at, version));
  await directory.forget(at.directory, at.key);
  return changed.ok ? changedEntry(changed.value, at) : changed;
}

function changedEntry(outcome: ChangeOutcome, { directory, key }: DirectoryKey) {
  if (outcome.state === "done") return ok(outcome.entry);
  return outcome.state === "absent"
    ? err({ reason: "unknown-key", id: key, directory } as const)
    : err({ reason: "stale-key", directory, version: outcome.version } as const);
}
