import { describe, expect, it } from "vitest";
import { isTraceparent, isTracestate } from "../../src/proxy/headers.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";

describe("a tracestate", () => {
  const member = (index: number) => `k${index}=v`;
  it.each([
    ["a=1", true],
    ["a=1, b=2 ,,c=3", true],
    ["rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", true],
    ["0tenant@sys=x y", true],
    [Array.from({ length: 32 }, (_, index) => member(index)).join(","), true],
    [Array.from({ length: 33 }, (_, index) => member(index)).join(","), false],
    ["a=1,a=2", false],
    ["A=1", false],
    ["1a=1", false],
    ["a", false],
    ["a=", false],
    ["=1", false],
    ["a=1=2", false],
    ["a=\u00e9", false],
    [`a=${"v".repeat(256)}`, true],
    [`a=${"v".repeat(257)}`, false],
    [`${"a".repeat(257)}=1`, false],
  ])("%j is valid: %s", (value, isValid) => expect(isTracestate(value)).toBe(isValid));
});

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
  ])("%j is removed", (value) => expect(isTraceparent(value)).toBe(false));
});
