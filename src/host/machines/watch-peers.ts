import { get } from "node:http";
import { connect } from "node:net";
import { type Address, addressText, isWildcard } from "./addresses.ts";
import type { Clock } from "./supervise.ts";
import { WATCHDOG_START, WATCHDOG_TIMES, type WatchdogTimes, watch } from "./watchdog.ts";

/** How the watchdog sees the network. */
export interface Network {
  /** Whether a connection to an address ends in any answer. */
  readonly reaches: (address: Address, deadlineMs: number) => Promise<boolean>;
  /** Whether a node says on its cluster address that it serves and holds its lease. */
  readonly isReady: (address: Address, deadlineMs: number) => Promise<boolean>;
}

export interface WatchOptions {
  readonly own: Address;
  readonly peers: readonly Address[];
  readonly clock: Clock;
  readonly network: Network;
  readonly times?: WatchdogTimes;
  readonly hold: () => void;
  readonly release: () => void;
  readonly report: (sentence: string) => void;
}

/** Holds a node that is cut off from its peers, and releases it. Ends when `stopped` does. */
export async function watchPeers(options: WatchOptions, stopped: AbortSignal): Promise<void> {
  const { own, peers, clock, network, times = WATCHDOG_TIMES, report } = options;
  const names = peers.map(addressText).join(", ");
  let state = WATCHDOG_START;
  let isFirst = true;
  while (!stopped.aborted) {
    const beganMs = clock.nowMs();
    const [holdsLease, ...reached] = await Promise.all([
      network.isReady(own, times.deadlineMs),
      ...peers.map((peer) => network.reaches(peer, times.deadlineMs)),
    ]);
    if (stopped.aborted) return;
    const probe = { beganMs, endedMs: clock.nowMs(), reachesPeer: reached.includes(true), holdsLease };
    const { isHeld } = state;
    state = watch(state, probe, times);
    if (state.isHeld && (isFirst || !isHeld)) {
      const since = isFirst ? "" : ` for ${times.silenceMs / 1000} s`;
      report(`No peer (${names}) answers${since}: this node is cut off, and stays down until it reaches one.`);
    }
    if (state.isHeld && !isHeld) options.hold();
    if (!state.isHeld && isHeld) {
      if (!isFirst) report("A peer answers again: this node starts.");
      options.release();
    }
    isFirst = false;
    await clock.sleep(times.everyMs);
  }
}

/** A refusal is an answer too: the network leads to the peer, and its node is down or stopped by its own watchdog. */
export const network: Network = {
  reaches: ({ host, port }, deadlineMs) =>
    new Promise((resolve) => {
      const socket = connect({ host: bare(host), port });
      const end = (isReached: boolean) => {
        socket.destroy();
        resolve(isReached);
      };
      // After a pause of this process its timers come before the answers that arrived meanwhile.
      socket.setTimeout(deadlineMs, () => setImmediate(end, false));
      socket.once("connect", () => end(true));
      socket.once("error", ({ code }: NodeJS.ErrnoException) => end(code === "ECONNREFUSED" || code === "ECONNRESET"));
    }),
  isReady: ({ host, port }, deadlineMs) =>
    new Promise((resolve) => {
      const own = isWildcard(host) ? (host === "[::]" ? "::1" : "127.0.0.1") : bare(host);
      const signal = AbortSignal.timeout(deadlineMs);
      const request = get({ host: own, port, path: "/ready", agent: false, signal }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      request.once("error", () => resolve(false));
    }),
};

const bare = (host: string): string => host.replace(/^\[|\]$/g, "");
