import { expect, test } from "vitest";
import { CHECKOUT, sampleTable } from "../../routing/tables.ts";
import { waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const ORDER = "019e807a-ec00-8005-805e-2d8e9c7ac355";
const TABLE = {
  ...sampleTable(),
  withoutId: { checkout: CHECKOUT },
};

const explain = (...args: readonly string[]) =>
  waybill(["explain", ...args], {
    files: tableFiles(TABLE),
    stdin: `{"order":"${ORDER}"}`,
  });

test("a whole request, with every place and its ID", async () => {
  const url = ["--url", "https://us.example.com/checkout?a=1"];
  const found = await explain(...url, "--header", `X-Order: ${ORDER}`);
  expect(found).toMatchObject({ code: 0, stderr: "" });
  expect(found.stdout).toBe(
    [
      "GET https://us.example.com/checkout?a=1 → checkout → ap",
      `  header x-order                   order ${ORDER}  ap  iuid`,
      "  member /order of the body        not there",
      "  claim order of the bearer token  not there",
      "",
    ].join("\n"),
  );
  const unread = await explain(...url, "--header", `X-Order: ${ORDER}`, "--body", "x");
  expect(unread.stdout).toContain("header x-order                   not read");
  expect(unread.stderr).toContain("of this content-type; send application/json.");
  const bySource = await explain(...url);
  expect(bySource.stdout).toContain("→ checkout → us");
  expect(bySource.stdout).toContain("no ID: the region is by host *.example.com");
});

test("what each source says of a request without an ID", async () => {
  const mesh = {
    path: "/mesh",
    sources: [
      { headers: { version: "two", color: ["red", "blue"] }, region: "us" },
      { header: "version", values: { one: "eu" }, unlisted: "next" },
      { cookie: "home" },
      { clientCountry: { ap: ["KZ", "UZ"] }, unlisted: "refuse" },
    ],
  };
  const ask = (...args: readonly string[]) =>
    waybill(["explain", "--url", "/mesh", ...args], { files: tableFiles({ ...TABLE, withoutId: { mesh } }) });
  const found = await ask("--header", "Version: three", "--client-country", "UZ");
  expect(found).toMatchObject({ code: 0, stderr: "" });
  expect(found.stdout).toBe(
    [
      "GET /mesh → mesh → ap",
      "  headers version and color         says nothing → next source",
      "  header version             three  is not listed → next source",
      "  cookie home                       says nothing → next source",
      "  the client's country       UZ     decides",
      "  no ID: the region is by the client's country",
      "",
    ].join("\n"),
  );
  const json = await ask("--json", "--header", "version: three", "--header", "color: green");
  expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
    1,
    {
      owner: "mesh",
      sources: [
        { source: "headers version and color", value: "version: three, color: green", result: "unlisted" },
        { source: "header version", value: "three", result: "unlisted" },
        { source: "cookie home", result: "silent" },
        { source: "the client's country", result: "silent" },
      ],
      problem: { type: "/-/problems/region-unknown", unlisted: [{}, { source: "header version", value: "three" }] },
    },
  ]);
  const empty = await ask("--header", "version:", "--client-country", "UZ");
  expect([empty.code, empty.stdout]).toEqual([0, expect.stringMatching(/header version {2,}is not listed → next/)]);
  const refused = await ask("--client-country", "BR");
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringMatching(/country +BR +is refused\n$/)]);
});

test.each([
  [["--body-file", "-", "--header", "content-type: application/json"], "ap"],
  [["--body", `{"order":"${ORDER}"}`, "--header", "content-type: application/json"], "ap"],
  [["--body", `{"order":"${ORDER}"}`], "ap"],
  [["--claims", `{"order":"${ORDER}"}`], "ap"],
  [["--client-country", "KZ"], "ap"],
])("%j", async (args, region) => {
  const { stdout, code } = await explain("--url", "/checkout", "--json", ...args);
  expect([code, JSON.parse(stdout).region]).toEqual([0, region]);
});

test.each([
  [[], "region-unknown"],
  [["--header", "x-order: 17"], "malformed-id"],
  [["--body", "x"], "id-unreadable"],
  [["--body", `{"order":{}}`, "--header", "content-type: application/json"], "id-unreadable"],
  [["--header", "authorization: Bearer x"], "authentication-unavailable"],
])("%j is a problem", async (args, reason) => {
  const { stdout, code } = await explain("--url", "/checkout", "--json", ...args);
  expect([code, JSON.parse(stdout).problem.type]).toEqual([1, `/-/problems/${reason}`]);
});

test("paths of entities, by any, of no entity, and what is no request", async () => {
  expect((await explain("--url", `/orders/${ORDER}/x`)).stdout).toBe(
    `GET /orders/${ORDER}/x → order → ap\n  path  order ${ORDER}  ap  iuid\n`,
  );
  expect((await explain("--url", "/any/00000023-122e-6d0b-a789-28ef27ab7c62")).stdout).toContain(
    "redirects to /person/",
  );
  const none = await explain("--url", "/nothing");
  expect([none.code, none.stderr]).toEqual([1, "error: No entity of the routing table matches this path.\n"]);
  expect((await explain("--url", "nothing")).code).toBe(64);
  expect((await explain(ORDER, "--url", "/x")).stderr).toBe("error: give IDs, or --url\n");
  expect((await explain("--method", "PUT")).stderr).toContain("give --url");
  expect((await explain("--url", "/x", "--header", "bad")).stderr).toContain("is no header");
});

test("a gateway is asked for what only it knows, and its problem is shown", async () => {
  const asked: unknown[] = [];
  const shown = {
    owner: "checkout",
    places: ["header x-order"],
    ids: [{ place: "header x-order", entity: "order", id: ORDER, region: "eu" }],
    region: "eu",
  };
  const ask = (answer: object, ...args: readonly string[]) =>
    waybill(["explain", "--gateway", "http://127.0.0.1:1", "--url", "/checkout", ...args], {
      fetch: async (url, init) => {
        asked.push([String(url), JSON.parse(String(init?.body))]);
        return Response.json(answer);
      },
    });
  const found = await ask(shown, "--header", `x-order: ${ORDER}`, "--header", "x-order: b", "--body", "{}");
  expect(found).toMatchObject({ code: 0, stderr: "" });
  expect(found.stdout).toContain("POST /checkout → checkout → eu");
  expect(asked).toEqual([
    [
      "http://127.0.0.1:1/-/explain",
      {
        method: "POST",
        url: "/checkout",
        headers: { "x-order": [ORDER, "b"], "content-type": ["application/json"] },
        body: "{}",
      },
    ],
  ]);
  const audience = { countries: ["KZ", "PL"] };
  const tableCanary = { decides: true, revision: 2, inForce: 1, audience, otherwise: { problem: "unassigned-key" } };
  expect((await ask({ ...shown, tableCanary })).stdout).toContain(
    "canary: revision 2 (canary) decides: it has IDs of KZ, PL; revision 1 (in force) would refuse it (unassigned-key)\n",
  );
  expect((await ask({ ...shown, tableCanary: {} })).code).toBe(1);
  const problem = { type: "/-/problems/x", title: "X", status: 422, detail: "No." };
  expect(await ask({ ...shown, problem })).toMatchObject({ code: 1, stderr: "error: No.\n" });
  expect((await ask(shown, "--claims", "{}")).code).toBe(64);
});

test.each([
  [["--method", "POST"], 1, "error: "],
  [["--method", "POST", "--client-country", "KZ"], 0, ""],
  [["--method", "POST", "--client-country", "XX"], 1, "error: "],
])("a create exits as the gateway would answer: %j", async (args, code, stderr) => {
  const order = { ...TABLE.entities["order"], create: { key: { country: { clientCountry: true } } } };
  const declared = { ...TABLE, entities: { ...TABLE.entities, order } };
  const found = await waybill(["explain", "--url", "/orders", ...args], { files: tableFiles(declared) });
  expect(found.code).toBe(code);
  expect(found.stdout).toContain("creates a new order: its region follows from its key");
  expect(found.stderr.startsWith(stderr)).toBe(true);
});
