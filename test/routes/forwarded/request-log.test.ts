import { describe, expect, it } from "vitest";
import { redactPath } from "../../../src/gateway/request.ts";
import { loadTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, publicKeysOf, setUp } from "../harness.ts";

const publicKeys = publicKeysOf(
  JSON.stringify({ sealed: [{ id: "2026", key: btoa("sealed IDs need 32 octets of key") }] }),
);

const { order, ride, parcel, person } = DECLARED_TABLE.entities;
const declared = {
  ...DECLARED_TABLE,
  entities: {
    order: { ...order, public: true },
    ride: { ...ride, public: true, any: "redirect" },
    parcel,
    person,
  },
};

async function mint(request: ReturnType<typeof setUp>["request"], entity: string): Promise<string> {
  const body = JSON.stringify({ entity, country: "DE" });
  const { ids } = await (await request("/mint", { method: "POST", body })).json<{ readonly ids: readonly [string] }>();
  return ids[0];
}

/** The path of the last request's line. */
async function shown(setup: ReturnType<typeof setUp>, path: string, init?: RequestInit): Promise<string> {
  await setup.request(path, { redirect: "manual", ...init });
  return setup.lines.at(-1)?.path ?? "no line";
}

const setup = setUp({ declared, publicKeys });
const publicOrder = await mint(setup.request, "order");
const publicRide = await mint(setup.request, "ride");
const secrets = [publicOrder, publicRide, IDS.orderDe, IDS.rideKz];

/** Every way in which a request can carry an ID of a public entity, and what a log shows of it. */
const CASES: readonly (readonly [path: string, shown: string, init?: RequestInit])[] = [
  [`/orders/${publicOrder}`, "/orders/:id"],
  [`/orders/${publicOrder}/rides/${publicRide}?ride=${publicRide}`, "/orders/:id/*"],
  [`/orders/${IDS.orderDe}`, "/orders/:id"],
  [`/orders/${publicRide}`, "/orders/:id"],
  [`/orders/${publicOrder}`, "/orders/:id", { method: "TRACE" }],
  [`/orders/${publicOrder}`, "/orders/:id", { headers: { "cdn-loop": "waybill" } }],
  [`/orders/${publicOrder}`, "/orders/:id", { headers: { host: "a b" } }],
  [`/orders/x${publicOrder}`, "/orders/:id"],
  [`/orders/${publicOrder}%2F..`, "/orders/:id"],
  [`/v2/rides/${publicRide}/stops`, "/v2/rides/:id/*"],
  [`/any/${publicOrder}`, "/any/:id"],
  [`/any/${publicOrder}/items/${publicOrder}`, "/any/:id/*"],
  [`/any/${publicRide}`, "/any/:id"],
  [`/any/${IDS.orderDe}`, "/any/:id"],
  [`/any/${IDS.rideKz}/x`, "/any/:id/*"],
  [`/any/${publicOrder}`, "/any/:id", { headers: { "id-layout": "nonsense" } }],
  [`/any/${publicOrder}`, "/any/:id", { headers: { host: "a b" } }],
  [`/any/${IDS.parcelEu}`, "/any/:id", { headers: { host: "a b" } }],
  [`/any/x${publicOrder}`, "/any/:id"],
  [`/parcels/${publicOrder}`, "/parcels/:id"],
  [`/parcels/${IDS.orderDe}/x`, "/parcels/:id/*"],
  [`/parcels/${publicRide}x`, "/parcels/:id"],
  [`/parcels/${publicOrder}`, "/parcels/:id", { headers: { host: "a b" } }],
  [`/any%2F${publicOrder}`, "/*"],
  [`/%61ny/${publicOrder}`, "/*"],
  [`/-/ids/${publicOrder}`, "/*"],
  [`/-/ids/${IDS.orderDe}`, "/*"],
  [`/-/ids%2F${IDS.orderDe}`, "/*"],
  [`/-/${IDS.orderDe}`, "/*"],
  [`/-/problems/${IDS.orderDe}`, "/*"],
  [`/-/table/${IDS.orderDe}`, "/*"],
  [`/-/table/${publicOrder}`, "/*"],
  [`/-/table/revisions/${publicOrder}`, "/*"],
  [`/nowhere/${publicOrder}`, "/*"],
  [`/${publicOrder}`, "/*"],
  [`//orders/${publicOrder}`, "/*"],
  [`/parcels/${IDS.parcelEu}/orders/${publicOrder}`, `/parcels/${IDS.parcelEu}/*`],
  [`/any/${IDS.parcelEu}/orders/${publicOrder}`, `/any/${IDS.parcelEu}/*`],
];

describe("the path in a request's line, where entities have public IDs", () => {
  for (const [path, expected, init] of CASES) {
    it(`${path} is shown as ${expected}`, async () => {
      expect(await shown(setup, path, init)).toBe(expected);
      const line = JSON.stringify(setup.lines.at(-1));
      for (const secret of secrets) expect(line).not.toContain(secret);
    });
  }

  it.each([
    `/parcels/${IDS.parcelEu}`,
    `/any/${IDS.parcelEu}`,
    "/mint",
    "/-/ready",
    "/-/problems/malformed-id",
    "/-/table/rollback",
    "/-/table/revisions/41",
  ])("is whole when it holds none: %s", async (path) => {
    expect(await shown(setup, `${path}?q=1`)).toBe(path);
  });

  it("is not shown when no table says whether it holds one", async () => {
    const broken = setUp({ declared: {} });
    expect(await shown(broken, `/orders/${publicOrder}`)).toBe("/*");
    expect(await shown(broken, "/-/health")).toBe("/-/health");
  });
});

describe("the path in a request's line, where no entity has public IDs", () => {
  it.each([`/orders/${IDS.orderDe}/a/b`, `/any/${IDS.orderDe}`, "/nowhere/at/all", `/-/ids/${IDS.orderDe}`])(
    "is whole: %s",
    async (path) => {
      expect(await shown(setUp(), `${path}?secret=1`)).toBe(path);
    },
  );
});

/** Paths as workerd hands them on; a test's own `Request` would have them resolved. */
const RAW_CASES: readonly (readonly [path: string, shown: string])[] = [
  ["/any/ID/..", "/any/:id/*"],
  ["/any/ID/../x", "/any/:id/*"],
  ["/any/ID/%2e%2e/x", "/any/:id/*"],
  ["/any/a\\ID", "/any/:id"],
  ["/any/..", "/any/:id"],
  ["/any\\ID", "/*"],
  ["/a\\ID", "/*"],
  ["/orders/ID/..", "/orders/:id/*"],
  ["/orders/./ID", "/orders/:id/*"],
  ["/parcels/ID/../x", "/parcels/:id/*"],
  ["/parcels/a\\ID", "/parcels/:id"],
  ["/parcels/..", "/parcels/:id"],
  ["/%2e%2e/ID", "/*"],
  ["/../orders/ID", "/*"],
  ["/", "/*"],
];

describe("the path of a request that is refused before anybody reads its ID", () => {
  const loaded = loadTable(declared, 1);
  const table = loaded.ok ? loaded.value : undefined;
  const plain = loadTable(DECLARED_TABLE, 1);
  const plainTable = plain.ok ? plain.value : undefined;

  it.each(RAW_CASES)("%s is shown as %s", (path, expected) => {
    expect(redactPath(path.replace("ID", publicOrder), { table, canary: undefined, isPlainId: false })).toBe(
      expected.replace("ID", publicOrder),
    );
  });

  it("is masked by the owner on the request's host", async () => {
    const own = { order: { ...order, path: "/o/:id/x", hosts: ["a.test"], public: true } };
    const others = { ride, parcel: { ...parcel, path: ["/parcels/:id", "/o/*/:id"] }, person };
    const { lines, request } = setUp({ declared: { ...DECLARED_TABLE, entities: { ...own, ...others } }, publicKeys });
    await request(`/o/${publicOrder}/x`, { headers: { host: "a.test" } });
    expect(lines.at(-1)).toMatchObject({ entity: "order", path: "/o/:id/*" });
  });

  it("is masked too where only the canary has public entities", () => {
    const path = `/any/${publicOrder}`;
    expect(redactPath(path, { table: plainTable, canary: table, isPlainId: false })).toBe("/any/:id");
    expect(redactPath(path, { table: plainTable, canary: undefined, isPlainId: false })).toBe(path);
  });
});

const TRACE_ID = "64656d6fc0ffee000000000000000001";

it.each([
  ["a redirect", `/any/${publicRide}`],
  ["a problem", "/nowhere"],
  ["a page of the gateway", "/-/health"],
  ["what an origin was told", `/parcels/${IDS.parcelEu}`],
])("a line has the client's trace ID: %s", async (_, path) => {
  const traced = async (traceparent: string) => {
    await setup.request(path, { redirect: "manual", headers: { traceparent } });
    return setup.lines.at(-1)?.trace;
  };
  expect(await traced(`00-${TRACE_ID}-00f067aa0ba902b7-01`)).toBe(TRACE_ID);
  // A malformed one is nobody's (W3C Trace Context §3.2.2).
  expect(await traced(`00-${TRACE_ID}-0000000000000000-01`)).toBeUndefined();
});
