import { describe, expect, it } from "vitest";
import { SLOW_MS } from "../../src/proxy/attempt.ts";
import { IDS, setUp } from "./harness.ts";

const PATH = `/orders/${IDS.orderDe}`;
const NEVER = new Promise<Response>(() => undefined);

/** A gateway whose origin answers all, or all but the first, at a clock that the test moves. */
function waiting(isFirst: boolean) {
  let nowMs = Date.now();
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

const WAITS = [
  { where: "for an origin", path: PATH, body: undefined, region: "eu" },
  { where: "at a page for its own body", path: "/mint", body: () => new ReadableStream(), region: undefined },
];

describe.each(WAITS)("a client that leaves while it waits $where", ({ path, body, region }) => {
  const init = () => (body === undefined ? {} : { method: "POST", body: body() });

  it("soon after its request is logged with a later request", async () => {
    const { request, lines, pass } = waiting(body === undefined);
    await request("/unknown");
    void request(path, init());
    pass(1_900);
    await request(PATH);
    expect(lines.map(({ outcome }) => outcome)).toEqual(["unrouted-path", "answered"]);
    pass(2_000);
    await request(PATH);
    expect(lines.map(({ outcome, ms, region }) => [outcome, ms, region])).toEqual([
      ["unrouted-path", 0, undefined],
      ["answered", 0, "eu"],
      ["client-left", SLOW_MS, region],
      ["answered", 0, "eu"],
    ]);
  });

  it("is not taken for one that waits longer", async () => {
    const { request, lines, pass } = waiting(body === undefined);
    void request(path, init());
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS + 100));
    pass(10_000);
    await request(PATH);
    expect(lines.map(({ outcome }) => outcome)).toEqual(["answered"]);
  });
});
