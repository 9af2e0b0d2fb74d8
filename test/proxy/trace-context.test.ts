import { describe, expect, it } from "vitest";
import { isTraceparent, newTraceparent } from "../../src/proxy/origin-request.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";

describe("traceparent (W3C Trace Context §3.2)", () => {
  it.each([
    `00-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-00`,
    `cc-${TRACE}-${PARENT}-01`,
    `cc-${TRACE}-${PARENT}-01-what-the-future-brings`,
  ])("%s is passed on", (value) => expect(isTraceparent(value)).toBe(true));

  it.each([
    "",
    `ff-${TRACE}-${PARENT}-01`,
    `00-${"0".repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-extra`,
    `00-${TRACE}-${PARENT}-01x`,
    `00-${TRACE}-${PARENT}-1`,
    `00-${TRACE}-${PARENT}`,
    ` 00-${TRACE}-${PARENT}-01`,
    `00-${TRACE}x-${PARENT}-01`,
  ])("%j is replaced", (value) => expect(isTraceparent(value)).toBe(false));

  it.each([0, 1, 0x7fffffff, 0xffffffff])("a new one is well-formed, also when every random word is %i", (word) =>
    expect(isTraceparent(newTraceparent(() => word))).toBe(true),
  );

  it("a new one holds the random words in order", () => {
    let next = 0;
    const value = newTraceparent(() => ++next);
    expect(value).toBe("00-00000001000000020000000300000005-0000000500000007-00");
  });
});
