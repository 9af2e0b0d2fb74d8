import type { Revision } from "./gateway-answers.ts";
import type { ChangeRequest, GatewayClient } from "./gateway-client.ts";
import type { Runtime } from "./world.ts";

/** A change that was sent. */
export interface PendingChange {
  readonly kind: "publish" | "rollback" | "canary" | "promote" | "abort";
  readonly request: ChangeRequest;
  /** SHA-256 of the text that it is to put into force, where that is known here. */
  readonly digest?: string | undefined;
}

/**
 * What the history says of a change whose answer did not come. `revision`: what it made, or what is in force after an abort; or
 * the one that came instead of it, after which it cannot be made any more.
 */
export type ChangeOutcome =
  | { readonly outcome: "made" | "outrun"; readonly revision: Revision }
  | { readonly outcome: "open" };

/** The object may still be at work when the gateway no longer waits for it. */
const ATTEMPTS_MAX = 15;
const POLL_INTERVAL_MS = 1_000;

/** More than can come between two looks. */
const ENTRIES = 20;

/** Asks the history what became of a change, until it says so or some seconds are over. */
export const findOutcome = async (
  gateway: GatewayClient,
  change: PendingChange,
  runtime: Runtime,
): Promise<ChangeOutcome> => {
  for (let attempt = 1; ; attempt++) {
    const found = await (change.kind === "abort" ? findEnd(gateway, change) : findRevision(gateway, change));
    if (found.outcome !== "open" || attempt === ATTEMPTS_MAX) return found;
    await runtime.pause(POLL_INTERVAL_MS);
  }
};

const OPEN: ChangeOutcome = { outcome: "open" };

/** The next revision is this change's, or another's: nobody's change is made on top of one that he has not named. */
const findRevision = async (gateway: GatewayClient, change: PendingChange): Promise<ChangeOutcome> => {
  const { kind, digest, request } = change;
  const listed = await gateway.revisions({ limit: ENTRIES });
  const later = listed.ok ? listed.value.filter(({ revision }) => revision > request.expectedRevision) : [];
  const isOurs = (made: Revision) =>
    made.kind === kind && made.note === request.note && (digest === undefined || made.digest === digest);
  const ours = later.findLast(isOurs);
  if (ours !== undefined) return { outcome: "made", revision: ours };
  const [last] = later;
  return last === undefined ? OPEN : { outcome: "outrun", revision: last };
};

/** An abort makes no revision; who ended which canary is in the audit. */
const findEnd = async (gateway: GatewayClient, { request }: PendingChange): Promise<ChangeOutcome> => {
  const [audit, listed] = [await gateway.audit({ limit: ENTRIES }), await gateway.revisions({ limit: ENTRIES })];
  const inForce = listed.ok ? listed.value.find(({ kind }) => kind !== "canary") : undefined;
  if (!audit.ok || inForce === undefined) return OPEN;
  const ended = audit.value.find(
    ({ action, revision, outcome }) =>
      action === "abort" && revision === request.expectedRevision && outcome === "done",
  );
  if (ended !== undefined) return { outcome: "made", revision: inForce };
  const later = listed.ok ? listed.value.find(({ revision }) => revision > request.expectedRevision) : undefined;
  return later === undefined ? OPEN : { outcome: "outrun", revision: later };
};
