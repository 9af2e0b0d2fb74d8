import { loadTable } from "../../src/routing/index.ts";
import type { Fault } from "../../src/routing/schema/faults.ts";
import type { DeclaredTable } from "../../src/routing/schema/table.ts";
import type { CompiledTable } from "../../src/routing/table.ts";

/** The time of all tests here. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12);

export type TableOfEntities = DeclaredTable & Required<Pick<DeclaredTable, "entities">>;

/** A path without an ID of its own, which an order's ID in any place of the request routes. */
export const CHECKOUT = {
  path: "/checkout",
  idIn: [
    { entity: "order", header: "x-order" },
    { entity: "order", json: "/order" },
    { entity: "order", jwtClaim: "order" },
  ],
  sources: [{ hostLabel: "*.example.com" }, { clientCountry: { KZ: "ap" } }],
};

/** A small table without fault that has every part. */
export const sampleTable = (): TableOfEntities => ({
  gateway: { hosts: ["api.example.com"] },
  regions: {
    eu: { origins: [{ url: "https://eu.internal.example.com", weight: 100 }], failover: ["us"] },
    us: { origins: [{ url: "https://us.internal.example.com/base/" }] },
    ap: { origins: [{ url: "http://127.0.0.1:8790" }, { url: "https://ap2.example.com", weight: 0 }] },
  },
  countries: { KZ: 5, UZ: 6, BR: 7 },
  entities: {
    order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] },
    ride: { path: ["/rides/:id", "/v2/*/rides/:id"], ids: [{ layout: "iuid", service: 2 }] },
    parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
    person: { path: "/person/:id", ids: [{ layout: "luuid", class: "com.example.Person" }], any: "redirect" },
  },
  layouts: { hotguid: { slices: { m49: { offset: 0, bits: 10, codes: "m49" }, partition: [10, 22] } } },
  routes: [
    { when: { layout: "iuid", country: "KZ", mintedBefore: "2026-06-01T00:00:00Z" }, region: "eu" },
    { when: { layout: "iuid", country: ["KZ", "UZ"] }, region: "ap" },
    { when: { layout: "hotguid", shardKey: "0-1023" }, region: "eu" },
    { when: { slices: { m49: ["143", 32] } }, region: "ap" },
    { when: { entity: "person" }, region: "eu" },
  ],
  moved: {
    "0192f0c1-7a30-8005-8040-8f3b2a1c9d77": "us",
    "00000023-122e-6d0b-a789-28ef27ab7c62": "us",
  },
});

export const load = (declared: unknown, revision = 1): CompiledTable => {
  const table = loadTable(declared, revision);
  if (!table.ok) throw new Error(JSON.stringify(table.error, undefined, 2));
  return table.value;
};

export const faultsOf = (declared: unknown): readonly Fault[] => {
  const table = loadTable(declared, 1);
  return table.ok ? [] : table.error;
};
