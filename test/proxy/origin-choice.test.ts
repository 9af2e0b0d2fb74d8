import { describe, expect, it } from "vitest";
import type { Words } from "../../src/ids/layout/layout.ts";
import { candidatesFor, chooseOrigin } from "../../src/proxy/origins.ts";
import type { Region } from "../../src/routing/table.ts";

const region = (name: string, weights: readonly number[], failover: readonly string[] = []): Region => {
  const origins = weights.map((weight, index) => ({ url: `http://${name}-${index}.test`, weight, binding: undefined }));
  return {
    name,
    failover,
    failoverWrites: false,
    deadlines: { firstByteMs: undefined, idleMs: undefined, totalMs: undefined },
    wholeAnswers: undefined,
    breaker: undefined,
    health: undefined,
    origins,
    servers: origins,
  };
};

/** Neighbouring IDs, as one minter makes them. */
const id = (index: number): Words => [0x0192f0c1, 0x7a308005, 0x80408f3b, index >>> 0];

describe("the origin of a region", () => {
  it("is the only one there is", () => {
    expect(chooseOrigin(region("eu", [100]), id(1)).url).toBe("http://eu-0.test");
  });

  it("is the same one for the same ID", () => {
    const eu = region("eu", [1, 1, 1]);
    for (let index = 0; index < 100; index++) expect(chooseOrigin(eu, id(index))).toBe(chooseOrigin(eu, id(index)));
  });

  it("takes its share of the IDs by weight, also of neighbouring ones", () => {
    const eu = region("eu", [75, 25, 0]);
    const taken = new Map<string, number>();
    for (let index = 0; index < 20_000; index++) {
      const { url } = chooseOrigin(eu, id(index));
      taken.set(url, (taken.get(url) ?? 0) + 1);
    }
    expect(taken.get("http://eu-0.test")).toBeGreaterThan(14_700);
    expect(taken.get("http://eu-0.test")).toBeLessThan(15_300);
    expect(taken.get("http://eu-2.test")).toBeUndefined();
  });
});

describe("where a read may go", () => {
  const eu = region("eu", [1, 1, 0], ["us", "gone"]);
  const us = region("us", [1]);
  const regions = new Map([
    ["eu", eu],
    ["us", us],
  ]);

  it("is the ID's own origin first, then the region's other ones, then the failover regions; never a drained one", () => {
    const attempts = candidatesFor(eu, regions, id(7), true);
    expect(attempts[0]?.origin).toBe(chooseOrigin(eu, id(7)));
    expect(attempts.map((attempt) => attempt.region.name)).toEqual(["eu", "eu", "us"]);
    expect(attempts.map((attempt) => attempt.origin.weight)).toEqual([1, 1, 1]);
  });

  it("is the region's own origins alone where another region may not take it", () => {
    expect(candidatesFor(eu, regions, id(7), false).map((attempt) => attempt.region.name)).toEqual(["eu", "eu"]);
  });
});
