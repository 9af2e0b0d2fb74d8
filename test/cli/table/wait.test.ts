import { describe, expect, it } from "vitest";
import type { GatewayClient } from "../../../src/cli/client/client.ts";
import type { GatewayFailure } from "../../../src/cli/client/http.ts";
import {
  formatHere,
  formatNotHere,
  formatNotPropagated,
  formatPropagation,
  type ReadyVersion,
  untilHere,
  waitUntilPropagated,
} from "../../../src/cli/client/propagation.ts";
import type { Runtime } from "../../../src/cli/runtime.ts";
import type { Status } from "../../../src/formats/table-api.ts";
import { err, ok, type Result } from "../../../src/ids/result.ts";

const digest = "0".repeat(64);
const statusOf = (revision: number, canary?: number, pending = false): Status => {
  const status = { revision, digest, canary: canary === undefined ? null : { revision: canary, digest, share: 5 } };
  return {
    controlPlane: { revision, digest },
    canary: status.canary,
    kv: { ...status, checkedAt: "2026-01-01T00:00:00.000Z" },
    isolate: { ...status, source: "memory", ageSeconds: 1 },
    pending,
    lastError: null,
  };
};
const status = (revision: number, canary?: number): ReadyVersion => ({ revision, canary, source: "memory" });

const secondsOf = (ms = Number.NaN): string => (ms / 1000).toFixed(2);

/** A gateway whose isolates have what `seenAt` says at a time, and a clock that only pauses and probes move. */
const stage = ({
  statusAt,
  seenAt,
  isReportWatched = false,
}: {
  readonly statusAt: (ms: number) => Status | GatewayFailure;
  readonly seenAt: (ms: number, probe: number) => ReadyVersion | GatewayFailure;
  readonly isReportWatched?: boolean;
}) => {
  const state = { ms: 0, probes: 0 };
  const reports: string[] = [];
  const answer = <Value extends object>(value: Value | GatewayFailure): Result<Value, GatewayFailure> =>
    "reason" in value ? err(value) : ok(value);
  const gateway = {
    url: "http://gw.test",
    status: async () => answer(statusAt(state.ms)),
    ready: async () => {
      state.ms += 1;
      state.probes += 1;
      return answer(seenAt(state.ms, state.probes));
    },
  } as unknown as GatewayClient;
  const runtime = {
    nowMs: () => state.ms,
    pause: async (ms: number) => {
      state.ms += ms;
    },
    report: (text: string) => reports.push(text),
    isReportWatched,
  } as unknown as Runtime;
  return {
    state,
    reports,
    here: () => untilHere(gateway, 0, runtime),
    wait: (probes = 10, seconds = 60) => waitUntilPropagated(gateway, { probes, seconds }, runtime),
  };
};

describe("a wait for the last change", () => {
  it("ends with the first whole row, and tells when the first and the last probe saw it", async () => {
    const { state, wait } = stage({
      statusAt: () => statusOf(42),
      // One isolate of two has it from 5 s on, the other one from 12 s on.
      seenAt: (ms, probe) => status(ms > (probe % 2 === 0 ? 5_000 : 12_000) ? 42 : 41),
    });
    const arrival = await wait(20);
    expect(arrival).toMatchObject({ isSeen: true, awaited: { revision: 42, canary: undefined }, failure: undefined });
    expect(arrival.firstSeenMs).toBeGreaterThan(5_000);
    expect(arrival.firstSeenMs).toBeLessThan(6_100);
    expect(arrival.lastSeenMs).toBeGreaterThan(12_000);
    expect(arrival.lastSeenMs).toBe(state.ms);
    expect(formatPropagation(arrival, { probes: 20, seconds: 60 })).toBe(
      `in force here after ${secondsOf(arrival.firstSeenMs)} s; 20 consecutive probes saw revision 42 after ${secondsOf(state.ms)} s\n`,
    );
  });

  it.each([
    ["the beginning of a canary", statusOf(41, 42), status(41), status(41, 42)],
    ["another canary in its place", statusOf(41, 43), status(41, 42), status(41, 43)],
    ["its end", statusOf(41), status(41, 42), status(41)],
    ["its promotion", statusOf(43), status(41, 42), status(43)],
  ])("is one for %s too", async (_, status, before, after) => {
    const { wait } = stage({ statusAt: () => status, seenAt: (ms) => (ms < 9_000 ? before : after) });
    const { isSeen, firstSeenMs = 0 } = await wait();
    expect([isSeen, firstSeenMs >= 9_000]).toEqual([true, true]);
  });

  it("waits for a change that lands meanwhile, and restarts the count", async () => {
    const { wait } = stage({
      statusAt: (ms) => statusOf(ms < 5_000 ? 42 : 43),
      seenAt: (ms, probe) => status(ms < 8_000 ? (probe % 3 === 0 ? 41 : 42) : 43),
    });
    const { isSeen, awaited, firstSeenMs = 0 } = await wait();
    expect([isSeen, awaited?.revision, firstSeenMs >= 8_000]).toEqual([true, 43, true]);
  });

  it("takes a failure that may pass for a probe that did not see it", async () => {
    const slow: GatewayFailure = { reason: "late", seconds: 10 };
    const { wait } = stage({
      statusAt: (ms) => (ms < 2_000 ? slow : statusOf(42)),
      seenAt: (ms) => (ms < 4_000 ? slow : status(42)),
    });
    expect(await wait()).toMatchObject({ isSeen: true, failure: undefined });
  });

  it("ends when the time is up, and at once with a token that does not count", async () => {
    const late = stage({ statusAt: () => statusOf(42), seenAt: () => status(41) });
    const arrival = await late.wait(10, 30);
    expect([arrival.isSeen, arrival.firstSeenMs, late.state.ms]).toEqual([
      false,
      undefined,
      expect.closeTo(30_008, -2),
    ]);
    expect(formatNotPropagated("http://gw.test", arrival, { probes: 10, seconds: 30 })).toBe(
      "error: 10 consecutive probes did not see revision 42 within 30 s; no probe saw it\n",
    );
    const problem = { slug: "unauthenticated", status: 401, detail: "No.", members: {} };
    const refused = stage({ statusAt: () => ({ reason: "problem", problem }), seenAt: () => status(42) });
    expect(await refused.wait()).toMatchObject({ isSeen: false, failure: { reason: "problem" } });
    expect(refused.state.ms).toBe(0);
  });

  it("shows a line on a terminal, and takes it away", async () => {
    const { reports, wait } = stage({
      statusAt: () => statusOf(41, 42),
      seenAt: (ms) => status(41, ms < 1_500 ? undefined : 42),
      isReportWatched: true,
    });
    await wait();
    expect(reports[0]).toBe("\r\u001b[Kwaiting for revision 41, canary 42: 0 of 10 probes, 0 s of 60 s");
    expect(reports.at(-2)).toBe("\r\u001b[Kwaiting for revision 41, canary 42: 10 of 10 probes, 2 s of 60 s");
    expect(reports.at(-1)).toBe("\r\u001b[K");
  });
});

describe("the isolate that answers", () => {
  const behind = (revision: number, pending = false, lastError: string | null = null): Status => {
    const { isolate } = statusOf(41);
    return { ...statusOf(revision, undefined, pending), isolate, lastError };
  };
  const never = () => expect.unreachable();

  it("is asked until it has the last change, and the time is that since it was sent", async () => {
    const { here } = stage({ statusAt: (ms) => (ms < 350 ? behind(42) : statusOf(42)), seenAt: never });
    const seen = await here();
    expect(seen.afterMs).toBe(400);
    expect(formatHere(400)).toBe("in force here after 0.40 s; on Cloudflare within 2 minutes everywhere\n");
  });

  it("is one of several machines where the status names them, and Cloudflare is not spoken of", () => {
    const machines = { edges: [], nodes: [] };
    expect(formatHere(400, { ...statusOf(42), machines })).toBe(
      "in force here after 0.40 s; within seconds on all edges\n",
    );
    expect(formatNotHere({ status: { ...behind(42), machines } })).toBe(
      "not yet in force here, 2 s after it was accepted; watch it with `waybill table status --wait`\n",
    );
  });

  const WATCH = "on Cloudflare within 2 minutes; watch it with `waybill table status --wait`\n";
  it.each([
    ["has another table", behind(42), "not yet in force here, 2 s after it was accepted; "],
    ["is before KV", behind(42, true), "stored, but not yet in KV, 2 s after it was accepted; "],
    [
      "is before a KV that fails",
      behind(42, true, "put-pointer: \u001b failed"),
      "stored, but not yet in KV (put-pointer: \\u{1b} failed), 2 s after it was accepted; ",
    ],
  ])("is asked for two seconds while it %s, and then that is said", async (_, status, said) => {
    const { here, state } = stage({ statusAt: () => status, seenAt: never });
    const seen = await here();
    expect([seen.afterMs, state.ms, formatNotHere(seen)]).toEqual([undefined, 2_000, said + WATCH]);
  });

  it("is not asked again by a token that does not count, and nothing is claimed", async () => {
    const problem = { slug: "unauthenticated", status: 401, detail: "No.", members: {} };
    const { here, state } = stage({ statusAt: () => ({ reason: "problem", problem }), seenAt: never });
    expect([formatNotHere(await here()), state.ms]).toEqual([
      "not yet known to be in force; watch it with `waybill table status --wait`\n",
      0,
    ]);
  });
});
