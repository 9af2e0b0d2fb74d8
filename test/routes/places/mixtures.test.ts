import fc from "fast-check";
import { expect, it } from "vitest";
import { ok } from "../../../src/ids/result.ts";
import { MIXED_TABLE, mixture } from "../../routing/places/mixtures.ts";
import { runs } from "../../setup/property-runs.ts";
import { problemOf, setUp } from "../harness.ts";

it("a gateway sends requests with IDs in any places to one region, or to none", async () => {
  let said: Readonly<Record<string, unknown>> = {};
  const { request, seen } = setUp({ declared: MIXED_TABLE, gateway: { clientClaims: async () => ok(said) } });
  await fc.assert(
    fc.asyncProperty(mixture, fc.boolean(), async ({ method, url, headers, body, claims, region }, isStreamed) => {
      said = claims;
      const before = seen.length;
      const bytes = new TextEncoder().encode(body);
      const sent = isStreamed ? new Blob([bytes]).stream() : bytes;
      const fields = headers.map(([name, value]): [string, string] => [name, value.replace("é", "\u00e9")]);
      const response = await request(url, {
        method,
        headers: new Headers(fields),
        ...(body === "" ? {} : { body: sent }),
      });
      const asked = { method, url, headers: Object.fromEntries(fields), body };
      const explained = await (await request("/-/explain", { method: "POST", body: JSON.stringify(asked) })).json<{
        region?: string;
        problem?: { type: string };
      }>();
      if (region === undefined) {
        const problem = await problemOf(response);
        expect(explained.problem).toEqual(problem);
        expect(seen.length).toBe(before);
      } else {
        expect(explained.region).toBe(region);
        expect(response.headers.get("waybill-region")).toBe(region);
        expect(seen.length).toBe(before + 1);
        expect(seen.at(-1)?.body).toBe(body);
        expect(seen.at(-1)?.url.endsWith(url)).toBe(true);
      }
    }),
    { numRuns: runs(100) },
  );
});
