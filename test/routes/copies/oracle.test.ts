import fc from "fast-check";
import { expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { runs } from "../../setup/property-runs.ts";
import { IDS, setUp } from "../harness.ts";

/** Where each ID is, where it is read from, and what a client must see, against a few plain sentences. */

const NEAREST: Readonly<Record<string, string>> = { NA: "us", AS: "ap", EU: "eu" };
const OWNER = { [IDS.orderDe]: "eu", [IDS.orderBr]: "us", [IDS.orderKz]: "ap" } as const;
const MOVED = IDS.orderKz.replace(/1$/, "2");

const declared = {
  ...DECLARED_TABLE,
  regions: Object.fromEntries(
    Object.keys(DECLARED_TABLE.regions).map((name) => [name, { origins: [{ url: `http://${name}.test` }] }]),
  ),
  entities: {
    ...DECLARED_TABLE.entities,
    order: {
      ...DECLARED_TABLE.entities.order,
      readCopies: { clientContinent: NEAREST, lagSeconds: 5, owners: ["eu", "ap"] },
    },
  },
  moved: { [MOVED]: "eu" },
};

type Behaviour = "down" | 200 | 204 | 301 | 304 | 401 | 404 | 410 | 421 | 500 | 503;
const BEHAVIOURS: readonly Behaviour[] = ["down", 200, 204, 301, 304, 401, 404, 410, 421, 500, 503];

const behaviour = fc.constantFrom(...BEHAVIOURS);

interface Asked {
  readonly id: string;
  readonly continent: string | undefined;
  readonly method: string;
  readonly saysOwner: boolean;
  readonly regions: Readonly<Record<"eu" | "us" | "ap", Behaviour>>;
}

async function check({ id, continent, method, saysOwner, regions }: Asked): Promise<void> {
  const regionOf = (url: string) => new URL(url).host.slice(0, 2) as keyof typeof regions;
  const origin = ({ url }: Request): Response => {
    const does = regions[regionOf(url)];
    if (does === "down") throw new Error("Network connection lost.");
    return new Response(does === 204 || does === 304 ? null : regionOf(url), { status: does });
  };
  const { request: send, seen, defects } = setUp({ declared, origin });
  const headers: Record<string, string> = saysOwner ? { "waybill-read": "owner" } : {};
  const body = method === "PUT" || method === "POST" ? { body: "{}" } : {};
  const answer = await send(`/orders/${id}`, { method, headers, ...body, cf: { continent } as never });
  const asked = [...new Set(seen.map(({ url }) => regionOf(url)))];

  const owner = id === MOVED ? "eu" : OWNER[id as keyof typeof OWNER];
  const nearest = NEAREST[continent ?? ""] as keyof typeof regions | undefined;
  const mayCopy = (method === "GET" || method === "HEAD") && !saysOwner && id !== MOVED && owner !== "us";
  const copy = mayCopy && nearest !== undefined && nearest !== owner ? nearest : undefined;
  const said = copy && regions[copy];
  const counts = said !== undefined && said !== "down" && said !== 404 && said !== 421 && said < 500;
  const from = counts ? (copy as keyof typeof regions) : owner;

  expect(asked).toEqual(counts ? [copy] : copy === undefined ? [owner] : [copy, owner]);
  const does = regions[from];
  expect(answer.status).toBe(does === "down" ? 502 : does);
  expect(answer.headers.get("waybill-copy")).toBe(counts ? `of=${owner}; lag=5` : null);
  if (does !== "down") expect(answer.headers.get("waybill-region")).toBe(from);
  for (const one of seen) {
    expect(one.headers.get("waybill-copy-of")).toBe(regionOf(one.url) === owner ? null : owner);
    if (one.method !== "GET" && one.method !== "HEAD") expect(regionOf(one.url)).toBe(owner);
  }
  expect(defects).toEqual([]);
}

it("whatever copy and owner do, a client sees the copy's answer where it counts, else the owner's", async () => {
  for (const us of BEHAVIOURS) {
    for (const eu of BEHAVIOURS) {
      await check({
        id: IDS.orderDe,
        continent: "NA",
        method: "GET",
        saysOwner: false,
        regions: { eu, us, ap: "down" },
      });
    }
  }
});

it("of any ID, by any method, from anywhere", async () => {
  const request = fc.record({
    id: fc.constantFrom(IDS.orderDe, IDS.orderBr, IDS.orderKz, MOVED),
    continent: fc.constantFrom("NA", "AS", "EU", "OC", undefined),
    method: fc.constantFrom("GET", "GET", "GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"),
    saysOwner: fc.boolean(),
    regions: fc.record({ eu: behaviour, us: behaviour, ap: behaviour }),
  });
  await fc.assert(fc.asyncProperty(request, check), { numRuns: runs(100) });
});
