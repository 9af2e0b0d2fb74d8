import { expect } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

export const TABLE = {
  ...DECLARED_TABLE,
  regions: { ...DECLARED_TABLE.regions, us: { origins: [{ url: "http://us.test" }] } },
  withoutId: {
    list: { path: ["/orders", "/rides"], methods: ["GET", "POST"], sources: [{ header: "x-home" }] },
    files: { path: "/files/**", sources: [{ region: "eu" }] },
  },
};

/** A document that agrees with the table in everything. */
export const AGREEING = `
openapi: 3.1.0
info: { title: Orders, version: "1" }
paths:
  /orders:
    get: {}
    post: {}
  /orders/{orderId}:
    parameters: [{ $ref: "#/components/parameters/OrderId" }]
    get: {}
  /orders/{orderId}/lines/{line_id}:
    delete: {}
  /rides:
    get: {}
  /rides/{id}:
    get: {}
  /v2/rides/{id}:
    get: {}
  /parcels/{parcel}:
    get: {}
  /person/{id}:
    get: {}
  /files/{name}:
    get: {}
components:
  parameters:
    OrderId: { name: orderId, in: path, schema: { $ref: "#/components/schemas/Id" } }
  schemas:
    Id: { type: string, format: uuid }
`;

export const contract = (document: string, ...args: readonly string[]) => {
  const files = tableFiles(TABLE);
  files.write("openapi.yaml", document);
  return waybill(["contract", "openapi.yaml", ...args], { files });
};

/** Kind and path of each finding. */
export const findings = async (document: string, ...args: readonly string[]) => {
  const { stdout, code } = await contract(document, "--json", ...args);
  const found = stdout === "" ? [] : objectsOf(stdout);
  expect(code).toBe(found.length === 0 ? 0 : 2);
  return found.map(({ kind, path }) => `${kind} ${path}`);
};
