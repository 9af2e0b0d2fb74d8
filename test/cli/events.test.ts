import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import { fakeControlPlane, type Reply } from "./fake-control-plane.ts";
import { waybill } from "./fake-runtime.ts";

const event = (id: number, more: object = {}) => ({
  id,
  time: `2026-11-23T00:00:${String(id % 60).padStart(2, "0")}.000Z`,
  kind: "region",
  type: "region.down",
  words: `us is down. Number ${id}.`,
  evidence: { requests: id },
  region: "us",
  ...more,
});

interface Log {
  readonly events: readonly ReturnType<typeof event>[];
  readonly webhook?: object | null;
  readonly source?: string;
}

const BASE = "http://gateway.test";

/** A gateway's pages of a log, as `/-/events/log` has them. */
const pageOf = ({ events, webhook = null, source = "all" }: Log, url: string): Reply => {
  const { searchParams } = new URL(url, BASE);
  const limit = Number(searchParams.get("limit"));
  const before = Number(searchParams.get("before") ?? Number.MAX_SAFE_INTEGER);
  const page = events
    .filter(({ id }) => id < before)
    .slice(-limit)
    .toReversed();
  return { body: { source, events: page, next: page.length < limit ? null : page.at(-1)?.id, webhook } };
};

const run = async (log: Log, ...args: readonly string[]) => {
  const plane = fakeControlPlane(DECLARED_TABLE);
  plane.override = ({ url }) => pageOf(log, url);
  const outcome = await waybill(["events", ...args], plane.access);
  return { ...outcome, asked: plane.asked.map(({ url }) => new URL(url, BASE).search) };
};

const upTo = (count: number) => Array.from({ length: count }, (_, at) => event(at + 1));

describe.concurrent("waybill events", () => {
  it("prints the newest, the oldest of them first", async () => {
    const back = event(3, { type: "region.healthy", words: "us is healthy again, after 5 min down.", isOver: true });
    const { stdout, stderr, code } = await run({ events: [event(1), event(2), back] }, "--limit", "2");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(`2026-11-23T00:00:02.000Z  region.down     us is down. Number 2.
2026-11-23T00:00:03.000Z  region.healthy  us is healthy again, after 5 min down.
`);
  });

  it("reads page after page, and no more of them than it needs", async () => {
    const { stdout, asked } = await run({ events: upTo(250) }, "--limit", "150");
    expect(stdout.trim().split("\n")).toHaveLength(150);
    expect(stdout).toMatch(/^2026\S+ {2}region.down {2}us is down. Number 101\.\n/);
    expect(asked).toHaveLength(2);
    expect((await run({ events: upTo(30) }, "--limit", "1000")).stdout.trim().split("\n")).toHaveLength(30);
  });

  it("prints each with its figures as JSON, and no control characters of others as text", async () => {
    const strange = event(1, { words: "jane published revision 2: \u001b[2J", later: true });
    const { stdout } = await run({ events: [strange] }, "--json");
    expect(JSON.parse(stdout)).toEqual(strange);
    expect((await run({ events: [strange] })).stdout).not.toContain("\u001b");
  });

  it("says that there is nothing, that it cannot be read, or that the webhook does not take it", async () => {
    expect(await run({ events: [] })).toMatchObject({ code: 0, stdout: "", stderr: "no events yet\n" });
    const unreadable = await run({ events: [], source: "none" });
    expect([unreadable.code, unreadable.stderr]).toEqual([1, expect.stringContaining("REPORT_SECONDS=0")]);
    const webhook = { waiting: 12, lastFailure: "it answered 500", isGone: false };
    expect((await run({ events: upTo(1), webhook })).stderr).toBe(
      "note: 12 events waiting for the webhook: it answered 500\n",
    );
    expect((await run({ events: upTo(1), webhook: { ...webhook, isGone: true } })).stderr).toContain("410");
  });

  it("goes on with new ones, over a gateway that is away for a while, until Ctrl-C", async () => {
    const plane = fakeControlPlane(DECLARED_TABLE);
    const interrupt = new AbortController();
    let asks = 0;
    plane.override = ({ url }) => {
      asks++;
      if (asks === 3 || asks === 4) return new Error("gone");
      if (asks === 12) interrupt.abort();
      return pageOf({ events: upTo(asks < 6 ? 2 : 130) }, url);
    };
    const { stdout, stderr, code } = await waybill(["events", "--follow"], {
      ...plane.access,
      // An interrupted command goes no further.
      fetch: (...request) =>
        interrupt.signal.aborted ? new Promise<never>(() => undefined) : plane.access.fetch(...request),
      interrupt: interrupt.signal,
    });
    expect(code).toBe(130);
    const numbers = [...stdout.matchAll(/Number (\d+)\./g)].map(([, number]) => Number(number));
    expect(numbers).toEqual(upTo(130).map(({ id }) => id));
    expect(stderr.match(/waiting until it answers/g)).toHaveLength(1);
    expect(stderr).toContain("answers again");
  });
});
