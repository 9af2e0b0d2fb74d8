/**
 * A node that is cut off from its peers, but not from the bucket, goes on renewing its lease: its objects answer no edge, and
 * no peer may take them over. So it stops until it reaches a peer again.
 */
export interface WatchdogState {
  readonly isHeld: boolean;
  /** When the first of the probes began that no peer has answered since. */
  readonly silentSinceMs?: number | undefined;
  /** How many these are. */
  readonly silent: number;
  /** When the last probe ended. */
  readonly lastMs?: number | undefined;
}

/** A probe of all peers and of the node itself. */
export interface Probe {
  readonly beganMs: number;
  readonly endedMs: number;
  /** Whether the network leads to a peer. */
  readonly reachesPeer: boolean;
  /** Whether the node says that it holds its lease. One that does not blocks no takeover. */
  readonly holdsLease: boolean;
}

export interface WatchdogTimes {
  /** A node that reached no peer for this time is cut off. */
  readonly silenceMs: number;
  /** Between two probes. */
  readonly everyMs: number;
  /** For one answer. */
  readonly deadlineMs: number;
}

export const WATCHDOG_TIMES: WatchdogTimes = { silenceMs: 5_000, everyMs: 500, deadlineMs: 1_000 };

/** A machine that stood still has asked no peer meanwhile: few probes are no proof, however long they took. */
const SILENT_PROBES_MIN = 3;

/** Nodes wait for a peer before they start, too: a start that is cut off must take nothing. */
export const WATCHDOG_START: WatchdogState = { isHeld: true, silent: 0 };

/** Whether workerd may run after a probe. */
export function watch(state: WatchdogState, probe: Probe, { silenceMs }: WatchdogTimes): WatchdogState {
  const { beganMs, endedMs: lastMs, reachesPeer, holdsLease } = probe;
  if (reachesPeer) return { isHeld: false, silent: 0, lastMs };
  if (state.isHeld) return { ...state, lastMs };
  const stoodStill = state.lastMs !== undefined && beganMs - state.lastMs > silenceMs;
  if (!holdsLease || stoodStill) return { isHeld: false, silent: 0, lastMs };
  const silentSinceMs = state.silentSinceMs ?? beganMs;
  const silent = state.silent + 1;
  const isHeld = silent >= SILENT_PROBES_MIN && lastMs - silentSinceMs >= silenceMs;
  return { isHeld, silentSinceMs, silent, lastMs };
}
