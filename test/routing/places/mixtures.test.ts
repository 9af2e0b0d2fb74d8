import fc from "fast-check";
import { expect, test } from "vitest";
import { explainRequest, wholeRequest } from "../../../src/features/places/serve/explain.ts";
import { ok } from "../../../src/ids/result.ts";
import { runs } from "../../setup/property-runs.ts";
import { load, NOW_MS } from "../tables.ts";
import { MIXED_TABLE, mixture } from "./mixtures.ts";

const table = load(MIXED_TABLE);
const input = {
  tables: { table, canary: undefined },
  ports: { publicIds: { open: () => ok(undefined) } },
  layoutName: undefined,
  nowMs: NOW_MS,
};

test("IDs in any places lead to one region, or are a problem", () => {
  let routed = 0;
  let refused = 0;
  fc.assert(
    fc.property(mixture, ({ region, claims, body, ...rest }) => {
      const text = { ...rest, body: new TextEncoder().encode(body), country: undefined, continent: undefined };
      const request = wholeRequest({ ...text, url: `http://gw.test${rest.url}` }, ok(claims));
      if (request === undefined) throw new Error("no request");
      const explained = explainRequest(input, request);
      expect(explained.kind).toBe("explained");
      const { problem, region: found } = explained as Exclude<typeof explained, { kind: "load" }>;
      expect(found).toBe(region);
      expect(problem === undefined).toBe(region !== undefined);
      if (region === undefined) refused += 1;
      else routed += 1;
    }),
    { numRuns: runs(500) },
  );
  expect(Math.min(routed, refused)).toBeGreaterThan(100);
});

test.each([
  ["/any", "`waybill locate FILE`"],
  ["/mint", "makes IDs here"],
])("%s has no region: the gateway serves it", (url, why) => {
  const text = { method: "POST", url: `http://gw.test${url}`, headers: [], body: new TextEncoder().encode('["x"]') };
  const request = wholeRequest({ ...text, country: undefined, continent: undefined }, ok(undefined));
  if (request === undefined) throw new Error("no request");
  expect(explainRequest(input, request)).toMatchObject({
    problem: { status: 400, detail: expect.stringContaining(why) },
  });
});
