import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { problemOf, setUp, slug } from "../harness.ts";

/** IDs in declared alphabets, from the path to the origin, and minted. */

const ROWS = [
  { field: "mintedAt", bits: 42, role: "time", unit: "ms", epoch: "2020-01-01T00:00:00Z" },
  { field: "shardKey", bits: 8, role: "key" },
  { field: "random", bits: 78, role: "random" },
] as const;

const declared = {
  ...DECLARED_TABLE,
  fields: "full",
  entities: {
    ...DECLARED_TABLE.entities,
    user: { path: "/users/:id", ids: [{ layout: "user-id" }] },
    file: { path: "/files/:id", ids: [{ layout: "file-id" }] },
    key: { path: "/keys/:id", ids: [{ layout: "key-id" }] },
  },
  layouts: {
    ...DECLARED_TABLE.layouts,
    "user-id": { like: "uuid-v7", text: [{ alphabet: "crockford-lower", prefix: "user_" }, "uuid"] },
    "file-id": { like: "uuid-v4", text: { alphabet: "base64url", fill: "end", suffix: "==" } },
    "key-id": { rows: [...ROWS], text: { alphabet: "!$&'()*+,;=:@~._", groups: [16, 16], separator: "-" } },
  },
  routes: [
    ...DECLARED_TABLE.routes,
    { when: { entity: "user" }, region: "eu" },
    { when: { entity: "file" }, region: "us" },
    { when: { layout: "key-id", shardKey: "0-99" }, region: "ap" },
    { when: { layout: "key-id" }, region: "us" },
  ],
  moved: { user_01h455vb4pex5vsknk084sn02r: "us" },
} as const;

const TYPE_ID = "user_01h455vb4pex5vsknk084sn02q";
const ITS_UUID = "01890a5d-ac96-774b-bcce-b302099a8057";
const FILE = "pEUh0A-4St6AAjOFVFwzGA==";

describe("IDs in declared alphabets", () => {
  it.each([
    [`/users/${TYPE_ID}`, `http://eu.test/users/${TYPE_ID}`, TYPE_ID],
    [`/any/${TYPE_ID}/posts?n=1`, `http://eu.test/users/${TYPE_ID}/posts?n=1`, TYPE_ID],
    [`/users/${ITS_UUID}`, `http://eu.test/users/${ITS_UUID}`, TYPE_ID],
    ["/users/user_01h455vb4pex5vsknk084sn02r", "http://us.test/base/users/user_01h455vb4pex5vsknk084sn02r", undefined],
    [
      "/users/01890a5d-ac96-774b-bcce-b302099a8058",
      "http://us.test/base/users/01890a5d-ac96-774b-bcce-b302099a8058",
      undefined,
    ],
    [`/files/${FILE}`, `http://us.test/base/files/${FILE}`, FILE],
  ])("%s goes to %s", async (path, url, canonical) => {
    const { request, seen } = setUp({ declared });
    expect((await request(path)).status).toBe(200);
    expect(seen.map((one) => one.url)).toEqual([url]);
    if (canonical !== undefined) expect(seen[0]?.headers.get("waybill-entity-id")).toBe(canonical);
  });

  it.each([
    `/users/${TYPE_ID.toUpperCase()}`,
    `/users/${TYPE_ID.replace("01h", "01H")}`,
    `/users/${TYPE_ID.slice("user_".length)}`,
    `/users/team${TYPE_ID.slice("user".length)}`,
    // IDs are read as they stand in the path: an escape is another text.
    `/files/${encodeURIComponent(FILE)}`,
    `/files/${FILE.slice(0, -2)}`,
  ])("%s is no ID", async (path) => {
    const { request, seen } = setUp({ declared });
    expect(slug(await problemOf(await request(path)))).toBe("malformed-id");
    expect(seen).toEqual([]);
  });

  it.each([
    [{ entity: "user", count: 3 }, /^user_[0-7][0-9a-hjkmnp-tv-z]{25}$/, "eu"],
    [{ entity: "file", count: 3 }, /^[\w-]{21}[AQgw]==$/, "us"],
    [{ entity: "key", shardKey: 7, count: 3 }, /^[!$&'()*+,;=:@~._]{16}-[!$&'()*+,;=:@~._]{16}$/, "ap"],
    [{ layout: "key-id", shardKey: 200 }, /^[!$&'()*+,;=:@~._]{16}-[!$&'()*+,;=:@~._]{16}$/, "us"],
  ])("POST /mint with %j prints the canonical text, which goes to its region", async (body, text, region) => {
    const { request, seen } = setUp({ declared });
    const headers = { "content-type": "application/json" };
    const response = await request("/mint", { method: "POST", headers, body: JSON.stringify(body) });
    expect(response.status).toBe(201);
    const minted = await response.json<{ ids: readonly string[]; region: string }>();
    expect(minted.region).toBe(region);
    for (const id of minted.ids) {
      expect(id).toMatch(text);
      expect((await request(`/any/${id}`)).headers.get("waybill-region")).toBe(region);
      expect(seen.at(-1)?.headers.get("waybill-entity-id")).toBe(id);
    }
    const many = await request("/any", { method: "POST", headers, body: JSON.stringify(minted.ids) });
    const { results } = await many.json<{ results: readonly { region?: string; problem?: unknown }[] }>();
    expect(results.map((one) => one.region ?? one.problem)).toEqual(minted.ids.map(() => region));
  });
});
