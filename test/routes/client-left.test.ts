import { describe, expect, it } from "vitest";
import { SLOW_MS } from "../../src/proxy/attempt.ts";
import { IDS, setUp } from "./harness.ts";

const PATH = `/orders/${IDS.orderDe}`;
const NEVER = new Promise<Response>(() => undefined);

/** A gateway whose first request waits for ever, at a clock that the test moves. */
function waiting() {
  let nowMs = Date.now();
  let isFirst = true;
  const gateway = setUp({
    gateway: { clock: { nowMs: () => nowMs } },
    origin: () => {
      const answer = isFirst ? NEVER : new Response("ok");
      isFirst = false;
      return answer;
    },
  });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { ...gateway, pass };
}

describe("a client that leaves", () => {
  it("soon after its request is logged with a later request", async () => {
    const { request, lines, pass } = waiting();
    await request("/unknown");
    void request(PATH);
    pass(1_900);
    await request(PATH);
    expect(lines.map(({ outcome }) => outcome)).toEqual(["unrouted-path", "answered"]);
    pass(2_000);
    await request(PATH);
    expect(lines.map(({ outcome, ms, region }) => [outcome, ms, region])).toEqual([
      ["unrouted-path", 0, undefined],
      ["answered", 0, "eu"],
      ["client-left", SLOW_MS, "eu"],
      ["answered", 0, "eu"],
    ]);
  });

  it("is not taken for one that waits longer", async () => {
    const { request, lines, pass } = waiting();
    void request(PATH);
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS + 100));
    pass(10_000);
    await request(PATH);
    expect(lines.map(({ outcome }) => outcome)).toEqual(["answered"]);
  });
});
