import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { Env } from "../../src/edge/env.ts";
import { analyticsWriter } from "../../src/edge/log.ts";
import type { RequestLine } from "../../src/ports/gateway.ts";
import { NAME_LENGTH_MAX } from "../../src/routing/limits.ts";
import { REQUEST_LINE } from "../fixtures/request-line.ts";

const LINE: RequestLine = {
  ...REQUEST_LINE,
  atMs: 1_000,
  attempts: 2,
  trace: "0af7651916cd43dd8448eb211c80319c",
};

/** Workers Analytics Engine refuses a point with an index of more bytes. */
const INDEX_BYTES_MAX = 96;

it("writes one point a request, with each value at its place and no path in it", () => {
  const points: (AnalyticsEngineDataPoint | undefined)[] = [];
  const write = analyticsWriter({ writeDataPoint: (point) => points.push(point) });
  write(LINE);
  write({ ...LINE, entity: undefined, region: undefined, layout: undefined, revision: undefined, originMs: undefined });
  expect(points).toEqual([
    { indexes: ["order"], blobs: ["order", "eu", "iuid", "answered", "GET"], doubles: [200, 40, 30, 2, 3] },
    { indexes: [""], blobs: ["", "", "", "answered", "GET"], doubles: [200, 40, -1, 2, 0] },
  ]);
});

it("fits what the platform's own binding takes, with the longest name that a table can have", () => {
  const { ANALYTICS } = env as Env;
  if (ANALYTICS === undefined) throw new Error("the tests' configuration binds it");
  const entity = "e".repeat(NAME_LENGTH_MAX);
  expect(entity.length).toBeLessThanOrEqual(INDEX_BYTES_MAX);
  expect(() => analyticsWriter(ANALYTICS)({ ...LINE, entity })).not.toThrow();
});
