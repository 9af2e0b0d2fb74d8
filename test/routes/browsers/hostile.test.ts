import fc from "fast-check";
import { expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { runs } from "../../setup/property-runs.ts";
import { IDS, setUp } from "../harness.ts";

/** Whatever a page asks for: no operators' page has CORS headers, and nothing of an origin's answer changes. */

const APP = "https://app.example.com";
const cors = { origins: [APP, "https://*.shop.example"], credentials: true };
const declared = { ...DECLARED_TABLE, cors };

const ORIGINS = [
  APP,
  "https://a.shop.example",
  "null",
  "*",
  "https://evil.test",
  `${APP}, ${APP}`,
  "",
  "a".repeat(4_000),
];
const PATHS = [
  "/-/",
  "/-",
  "/-/health",
  "/-/table",
  "/-/ids/17",
  "/-/directory/slug/a",
  "/-/problems",
  "/-/problems/malformed-id",
  "/-/problemsX",
  "/-/problems/../table",
  "/%2d/table",
  "//-/table",
  "/-//problems",
  "/-/Problems",
  "/mint",
  "/any",
  "/any/17",
  `/any/${IDS.orderKz}`,
  `/orders/${IDS.orderKz}`,
  "/orders/17",
  `/orders/${IDS.rideKz}/x`,
  "/nothing",
  "/",
];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"];
const OWN = { "access-control-allow-origin": "https://origin.test", vary: "accept" };

it("holds for every path, method and origin", async () => {
  const { request, seen, defects } = setUp({
    declared,
    origin: () => new Response(null, { status: 204, headers: OWN }),
  });
  const asked = fc.record({
    path: fc.constantFrom(...PATHS),
    method: fc.constantFrom(...METHODS),
    origin: fc.option(fc.constantFrom(...ORIGINS), { nil: undefined }),
    isPreflight: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ path, method, origin, isPreflight }) => {
      const before = seen.length;
      const headers = new Headers(isPreflight ? { "access-control-request-method": "PUT" } : {});
      if (origin !== undefined) headers.set("origin", origin);
      const answer = await request(path, { method, headers });
      const found = Object.fromEntries([...answer.headers].filter(([name]) => /^access-|^vary$/.test(name)));
      const isAllowed = origin === APP || origin === "https://a.shop.example";
      const shown = new URL(`http://gw.test${path}`).pathname;
      if (seen.length > before) expect(found).toEqual(OWN);
      else if (/^\/-(?:$|\/(?!problems(?:$|\/)))/.test(shown)) expect(found).toEqual({});
      else {
        // A page that reads `accept` says so too (RFC 9110 §12.5.5).
        const readsAccept = /^\/-\/problems\/./.test(shown) && (method === "GET" || method === "HEAD");
        expect(found["vary"]).toBe(readsAccept ? "accept, origin" : "origin");
        expect(found["access-control-allow-origin"]).toBe(isAllowed ? origin : undefined);
        expect(found["access-control-allow-credentials"]).toBe(isAllowed ? "true" : undefined);
      }
      if (method !== "OPTIONS" || !isPreflight || !isAllowed) {
        expect(found["access-control-allow-methods"]).toBeUndefined();
      }
      expect(defects).toEqual([]);
    }),
    { numRuns: runs(300) },
  );
});
