import type { Revision } from "./gateway-answers.ts";
import type { GatewayClient, Wish } from "./gateway-client.ts";
import type { World } from "./world.ts";

/** A change that was sent. */
export interface SentChange {
  readonly kind: "publish" | "rollback" | "canary" | "promote" | "abort";
  readonly wish: Wish;
  /** SHA-256 of the text that it is to put into force, where that is known here. */
  readonly digest?: string | undefined;
}

/**
 * What the history says of a change whose answer did not come. `revision`: what it made, or what is in force after an abort; or
 * the one that came instead of it, after which it cannot be made any more.
 */
export type Found = { readonly outcome: "made" | "outrun"; readonly revision: Revision } | { readonly outcome: "open" };

/** The object may still be at work when the gateway no longer waits for it. */
const LOOKS = 15;
const LOOK_MS = 1_000;

/** More than can come between two looks. */
const ENTRIES = 20;

/** Asks the history what became of a change, until it says so or some seconds are over. */
export const findOutcome = async (gateway: GatewayClient, change: SentChange, world: World): Promise<Found> => {
  for (let look = 1; ; look++) {
    const found = await (change.kind === "abort" ? lookForEnd(gateway, change) : lookForRevision(gateway, change));
    if (found.outcome !== "open" || look === LOOKS) return found;
    await world.pause(LOOK_MS);
  }
};

const OPEN: Found = { outcome: "open" };

/** The next revision is this change's, or another's: nobody's change is made on top of one that he has not named. */
const lookForRevision = async (gateway: GatewayClient, change: SentChange): Promise<Found> => {
  const { kind, digest, wish } = change;
  const listed = await gateway.revisions({ limit: ENTRIES });
  const later = listed.ok ? listed.value.filter(({ revision }) => revision > wish.expect) : [];
  const isOurs = (made: Revision) =>
    made.kind === kind && made.note === wish.note && (digest === undefined || made.digest === digest);
  const ours = later.findLast(isOurs);
  if (ours !== undefined) return { outcome: "made", revision: ours };
  const [last] = later;
  return last === undefined ? OPEN : { outcome: "outrun", revision: last };
};

/** An abort makes no revision; who ended which canary is in the audit. */
const lookForEnd = async (gateway: GatewayClient, { wish }: SentChange): Promise<Found> => {
  const [audit, listed] = [await gateway.audit({ limit: ENTRIES }), await gateway.revisions({ limit: ENTRIES })];
  const inForce = listed.ok ? listed.value.find(({ kind }) => kind !== "canary") : undefined;
  if (!audit.ok || inForce === undefined) return OPEN;
  const ended = audit.value.find(
    ({ action, revision, outcome }) => action === "abort" && revision === wish.expect && outcome === "done",
  );
  if (ended !== undefined) return { outcome: "made", revision: inForce };
  const later = listed.ok ? listed.value.find(({ revision }) => revision > wish.expect) : undefined;
  return later === undefined ? OPEN : { outcome: "outrun", revision: later };
};
