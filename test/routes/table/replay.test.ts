import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { destinationOf } from "../../../src/features/replay/serve.ts";
import { loadTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { runs } from "../../setup/property-runs.ts";
import { IDS, problemOf, setUp, slug } from "../harness.ts";

/** All that no entity has goes to `ap`, so that whatever a path is mistaken for has somewhere to go. */
const DECLARED = {
  ...DECLARED_TABLE,
  entities: {
    ...DECLARED_TABLE.entities,
    pod: { path: ["/pods/:id", "/v/*/:id"], ids: [{ layout: "iuid", service: 3 }] },
  },
  withoutId: {
    rest: { path: "/**", sources: [{ region: "ap" }] },
    login: { path: "/login", methods: ["POST"], sources: [{ region: "us" }] },
    home: { path: "/home", sources: [{ header: "x-home" }, { region: "eu" }] },
    far: { path: "/far", sources: [{ header: "x-home" }] },
  },
};

function compiled() {
  const table = loadTable(DECLARED, 1);
  if (!table.ok) throw new Error(JSON.stringify(table.error));
  return table.value;
}

const METHODS = ["GET", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"];

const firsts = [
  "orders",
  "parcels",
  "person",
  "v",
  "any",
  "Any",
  "%61ny",
  "%61%6Ey",
  "mint",
  "m%69nt",
  "-",
  "%2d",
  "%2D",
  "login",
  "home",
  "far",
  "",
  "x",
];
const ids = [...Object.values(IDS), IDS.orderKz.toUpperCase(), "x", "", "%30", `${IDS.orderKz}%2f`, `${IDS.orderKz};a`];
const path = fc
  .array(
    fc.oneof(fc.constantFrom(...firsts), fc.constantFrom(...ids), fc.constantFrom("a", "b;c", "%00", "%2f", "%5C")),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .chain((segments) => fc.constantFrom("", "/", "?q=1").map((end) => `/${segments.join("/")}${end}`))
  // The gateway would see another path: a script's request is resolved before it is sent.
  .filter((text) => new Request(`http://gw.test${text}`).url === `http://gw.test${text}`);

const typical = fc.constantFrom(
  ...firsts.flatMap((first) => ["", "/", "/x"].map((end) => `/${first}${end}`)),
  ...["orders", "any", "person", "%61ny"].flatMap((first) => ids.map((id) => `/${first}/${id}`)),
);

describe("where replay says that a request goes", () => {
  it("is where the gateway sends it, whatever its path and method", async () => {
    const table = compiled();
    const { request, seen } = setUp({ declared: DECLARED });
    const counts = { region: 0, refused: 0, own: 0, open: 0 };
    const refusals = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...METHODS), fc.oneof(path, typical), async (method, target) => {
        seen.length = 0;
        const answer = await request(target, { method });
        const said = destinationOf(table, { method, path: target }, Date.now());
        counts[said.kind]++;
        if (said.kind === "region") {
          expect([answer.status < 400, answer.headers.get("waybill-region")]).toEqual([true, said.region]);
        }
        if (said.kind === "refused") {
          expect(slug(await problemOf(answer))).toBe(said.reason);
          refusals.add(said.reason);
        }
        if (said.kind !== "region" && said.kind !== "open") expect(seen).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(runs(2));
    expect([...refusals]).toEqual(expect.arrayContaining(["unrouted-path", "method-not-allowed", "malformed-id"]));
  });
});
