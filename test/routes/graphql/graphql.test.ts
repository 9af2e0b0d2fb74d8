import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, setUp } from "../harness.ts";
import { GRAPHQL, hostsOf, type Result, setUpGraphql } from "./world.ts";

const { orderKz, orderBr, orderDe, parcelEu, parcelUs } = IDS;
const GRAPHQL_TYPE = "application/graphql-response+json; charset=utf-8";

describe("an operation of one region", () => {
  it("goes there as it came", async () => {
    const { request, seen, lines } = setUpGraphql();
    const body = `{ "query" : "query Q { order(id: \\"${orderKz}\\") { id region } viewer { name } }",\n "x": 1.50 }`;
    const response = await request("/graphql?trace=1", {
      method: "POST",
      headers: { "content-type": "application/json; charset=utf-8", authorization: "Bearer a" },
      body,
    });
    expect(await response.json()).toEqual({
      data: { order: { id: orderKz, region: "ap" }, viewer: { name: "viewer of ap" } },
    });
    expect(seen).toHaveLength(1);
    expect(seen[0]?.body).toBe(body);
    expect(seen[0]?.url).toMatch(/^http:\/\/ap-[12]\.test\/graphql\?trace=1$/);
    expect(seen[0]?.headers.get("authorization")).toBe("Bearer a");
    expect(seen[0]?.headers.get("waybill-entity-id")).toBe(orderKz);
    expect(response.headers.get("waybill-region")).toBe("ap");
    expect(lines[0]).toMatchObject({ entity: "graphql", region: "ap", status: 200, outcome: "answered" });
  });

  it("by GET too", async () => {
    const { request, seen } = setUpGraphql();
    const query = encodeURIComponent("query($id: ID!) { order(id: $id) { region } }");
    const target = `/graphql?query=${query}&variables=${encodeURIComponent(JSON.stringify({ id: orderBr }))}`;
    const response = await request(target);
    expect(await response.json()).toEqual({ data: { order: { region: "us" } } });
    expect(seen[0]).toMatchObject({ method: "GET", url: `http://us.test/base${target}` });
  });

  it.each([
    ["a variable", "query($a: ID!) { order(id: $a) { region } }", { a: orderBr }, "us"],
    ["its default", `query($a: ID = "${orderBr}") { order(id: $a) { region } }`, {}, "us"],
    ["a member of an input", "query($w: Where!) { find(where: $w) { region } }", { w: { orderId: orderBr } }, "us"],
    ["a literal input", `{ find(where: { note: "a", orderId: "${orderKz}" }) { region } }`, {}, "ap"],
    ["node", `{ node(id: "${orderDe}") { id } }`, {}, "eu"],
    ["nodes", `{ nodes(ids: ["${parcelUs}", "${orderBr}"]) { id } }`, {}, "us"],
    ["a fragment", `{ ...F } fragment F on Query { order(id: "${orderBr}") { id } }`, {}, "us"],
    [
      "a field that is not skipped",
      `{ order(id: "${orderBr}") { id } a: order(id: "${orderKz}") @skip(if: true) { id } }`,
      {},
      "us",
    ],
    ["introspection", "{ __schema { queryType { name } } }", {}, "eu"],
  ])("finds the ID of %s", async (_, query, variables, region) => {
    const { post, seen } = setUpGraphql();
    const response = await post(query, variables);
    expect(response.headers.get("waybill-region")).toBe(region);
    expect((await response.json<Result>()).errors).toBeUndefined();
    expect(seen).toHaveLength(1);
  });

  it("a mutation too, and a query retries like a read", async () => {
    let failures = 1;
    const { post, seen } = setUpGraphql({
      origin: (request) => {
        if (failures-- > 0) throw new TypeError("connection reset");
        return new Response(`{"data":{"from":"${new URL(request.url).host}"}}`, {
          headers: { "content-type": "application/json" },
        });
      },
    });
    const query = await post(`{ order(id: "${orderBr}") { id } }`);
    expect([query.status, seen.length]).toEqual([200, 2]);
    failures = 1;
    const mutation = await post(`mutation { cancel(id: "${orderBr}") { id } }`);
    expect([mutation.status, seen.length]).toEqual([502, 3]);
    expect(await mutation.json()).toMatchObject({ errors: [{ extensions: { code: "origin-unreachable" } }] });
  });
});

describe("an operation of several regions", () => {
  it("is split, and put together in document order", async () => {
    const { post, seen, lines } = setUpGraphql();
    const response = await post(
      `query Q($a: ID!, $b: ID!, $w: Where!) {
        __typename
        b: order(id: $b) { id region total }
        a: order(id: $a) { ...O }
        p: parcel(id: "${parcelEu}") { region }
        x: find(where: $w) { region }
      }
      fragment O on Order { id fails }`,
      { a: orderKz, b: orderBr, w: { orderId: orderDe }, unknown: 1 },
      { authorization: "Bearer a", "content-digest": "sha-256=:x:", "if-none-match": '"a"', range: "bytes=0-1" },
      { operationName: "Q", extensions: { trace: 1.0 } },
    );
    expect(await response.text()).toBe(
      `{"errors":[{"message":"no total","path":["a","fails"]}],"data":{"__typename":"Query","b":{"id":"${orderBr}","region":"us","total":12.5},"a":{"id":"${orderKz}","fails":null},"p":{"region":"eu"},"x":{"region":"eu"}}}`,
    );
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(GRAPHQL_TYPE);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("waybill-region")).toBe("us, ap, eu");
    expect(response.headers.getSetCookie().toSorted()).toEqual(["at=ap; Path=/", "at=eu; Path=/", "at=us; Path=/"]);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://app.test");
    expect(seen).toHaveLength(3);
    const us = seen.find(({ url }) => url.startsWith("http://us.test"));
    expect(us).toMatchObject({ url: "http://us.test/base/graphql", method: "POST" });
    expect(JSON.parse(us?.body ?? "")).toEqual({
      query: "query Q($b: ID!) {\n  b: order(id: $b) {\n    id\n    region\n    total\n  }\n}",
      operationName: "Q",
      variables: { b: orderBr },
      extensions: { trace: 1 },
    });
    expect(us?.headers.get("authorization")).toBe("Bearer a");
    for (const name of ["content-digest", "if-none-match", "range"]) expect(us?.headers.get(name)).toBeNull();
    expect(us?.headers.get("accept-encoding")).toBe("identity");
    expect(us?.headers.get("waybill-entity-id")).toBe(orderBr);
    expect(lines[0]).toMatchObject({ entity: "graphql", status: 200, outcome: "answered", attempts: 3, asked: 3 });
  });

  it("nodes come in order, each ID is asked for once", async () => {
    const { post, seen } = setUpGraphql();
    const ids = [orderKz, orderBr, orderKz, parcelEu, IDS.orderUnknownCountry, "nonsense"];
    const response = await post("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", { ids });
    const { data, errors } = await response.json<Result>();
    expect(data).toEqual({
      nodes: [{ id: orderKz }, { id: orderBr }, { id: orderKz }, { id: parcelEu }, null, null],
    });
    expect(errors?.map(({ path, extensions }) => [path, extensions?.["code"]])).toEqual([
      [["nodes", 4], "unassigned-key"],
      [["nodes", 5], "malformed-id"],
    ]);
    const ap = seen.find(({ url }) => url.startsWith("http://ap"));
    expect(JSON.parse(ap?.body ?? "").query).toBe(`{\n  nodes(ids: ["${orderKz}"]) {\n    id\n  }\n}`);
  });

  // §3.11: an item of a list may be null.
  it.each<[string, string, object | undefined]>([
    ["in a literal", `{ orders(ids: ["${orderKz}", null, "${orderBr}", null]) { id } }`, undefined],
    ["in a variable", "query($ids: [ID]) { orders(ids: $ids) { id } }", { ids: [orderKz, null, orderBr, null] }],
    ["in a default", `query($ids: [ID] = ["${orderKz}", null, "${orderBr}", null]) { orders(ids: $ids) { id } }`, {}],
    [
      "in the place of variables",
      `query($a: ID, $b: ID) { orders(ids: ["${orderKz}", $a, "${orderBr}", $b]) { id } }`,
      { a: null },
    ],
  ])("null stays null %s", async (_, query, variables) => {
    const graphql = { ids: [...GRAPHQL.ids, { argument: "ids", field: "orders", entity: "order", plural: true }] };
    const { post, seen } = setUpGraphql({ graphql });
    const { data, errors } = await (await post(query, variables)).json<Result>();
    expect([data, errors]).toEqual([{ orders: [{ id: orderKz }, null, { id: orderBr }, null] }, undefined]);
    expect(hostsOf(seen)).toEqual(["ap", "us"]);
    const ap = seen.find(({ url }) => url.startsWith("http://ap"));
    expect(JSON.parse(ap?.body ?? "").query).toContain(`orders(ids: ["${orderKz}", null])`);
  });

  it("a region that fails is null with an error at its fields", async () => {
    const { post } = setUpGraphql({
      graphql: { nonNull: ["parcel"] },
      origin: (request) => {
        const { host } = new URL(request.url);
        if (host.startsWith("ap")) return new Response("<h1>502</h1>", { status: 502 });
        const data = host === "eu.test" ? '{"e":{"id":1e400}}' : '{"u":{"id":"u"},"parcel":{"id":"p"}}';
        return new Response(`{"data":${data}}`, { headers: { "content-type": "application/json" } });
      },
    });
    const response = await post(
      `{ u: order(id: "${orderBr}") { id } a: order(id: "${orderKz}") { id } e: order(id: "${orderDe}") { id } }`,
    );
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(
      '{"errors":[{"message":"The origin of region \\"ap\\" answered with the status 502 and no result of GraphQL.","path":["a"],"extensions":{"code":"invalid-response","region":"ap"}}],"data":{"u":{"id":"u"},"a":null,"e":{"id":1e400}}}',
    );
  });

  it("a declared non-null field that fails leaves nothing", async () => {
    const { post } = setUpGraphql({
      graphql: { nonNull: ["order"] },
      origin: (request) => {
        if (new URL(request.url).host.startsWith("ap")) throw new TypeError("connection reset");
        return graphqlOk('{"u":{"id":"u"}}');
      },
    });
    const response = await post(`{ u: order(id: "${orderBr}") { id } a: order(id: "${orderKz}") { id } }`);
    expect(await response.json()).toMatchObject({
      data: null,
      errors: [{ path: ["a"], extensions: { code: "origin-unreachable" } }],
    });
  });

  it.each([
    ["that is too long", () => graphqlOk(`{"a":"${"x".repeat(3000)}"}`), "more than 2048 bytes"],
    ["that is not JSON", () => graphqlOk("{"), "no object of JSON"],
    ["of another type", () => new Response("{}", { headers: { "content-type": "text/html" } }), "no result of GraphQL"],
  ])("an answer %s fails its region", async (_, origin, why) => {
    const { post } = setUpGraphql({ graphql: { limits: { answerBytesMax: 2048 } }, origin });
    const response = await post(`{ u: order(id: "${orderBr}") { id } a: order(id: "${orderKz}") { id } }`);
    const { data, errors } = await response.json<Result>();
    expect(data).toEqual({ u: null, a: null });
    expect(errors?.map(({ message }) => message.includes(why))).toEqual([true, true]);
  });

  const TWO = `{ u: order(id: "${orderBr}") { id } a: order(id: "${orderKz}") { id } }`;
  /** As `us` and `ap` answer. */
  const answers = (us: () => Response, ap: () => Response) => (request: Request) =>
    new URL(request.url).host.startsWith("us") ? us() : ap();
  const refusal =
    (status: number, type: string, fields: HeadersInit = [], body = `{"errors":[{"message":"no"}]}`) =>
    () =>
      new Response(body, { status, headers: [["content-type", type], ...new Headers(fields)] });

  // RFC 9110 §11.6.1 and §15.5: a challenge is for the client.
  it.each([
    ["application/graphql-response+json", 401],
    ["application/json", 401],
    ["text/html", 401],
    ["application/problem+json", 403],
    ["application/json", 402],
    ["application/json", 404],
    ["application/graphql-response+json", 429],
    ["application/json", 400],
  ])("what every region refuses, as %s with %i, is answered as the first one did", async (type, status) => {
    const us = () => {
      const response = refusal(
        status,
        type,
        { "www-authenticate": 'Bearer realm="us"', "retry-after": "7", "x-a": "b" },
        "us",
      )();
      response.headers.append("set-cookie", "session=; Max-Age=0");
      response.headers.append("set-cookie", "__Host-waybill-session=x; Path=/");
      response.headers.append("connection", "x-hop");
      response.headers.append("x-hop", "1");
      return response;
    };
    const ap = refusal(401, "application/json", { "www-authenticate": 'Bearer realm="ap"' }, "ap");
    const { post, lines } = setUpGraphql({ origin: answers(us, ap) });
    const response = await post(TWO);
    expect([response.status, await response.text()]).toEqual([status, "us"]);
    expect(response.headers.get("content-type")).toBe(type);
    const { headers } = response;
    expect(
      ["www-authenticate", "retry-after", "x-a", "waybill-region", "x-hop"].map((name) => headers.get(name)),
    ).toEqual(['Bearer realm="us"', "7", "b", "us", null]);
    expect(headers.getSetCookie()).toEqual(["session=; Max-Age=0"]);
    expect(lines[0]).toMatchObject({ entity: "graphql", region: "us", status, outcome: "answered", attempts: 2 });
  });

  it.each([
    [
      "a field without an ID",
      `{ viewer { name } u: order(id: "${orderBr}") { id } a: order(id: "${orderKz}") { id } }`,
      "eu",
    ],
    ["a list", `{ nodes(ids: ["${orderKz}", "${orderBr}"]) { id } }`, "ap"],
    [
      "a list with another region's ID before it",
      `{ a: order(id: "${orderBr}") { id } nodes(ids: ["${orderKz}", "${orderBr}"]) { id } }`,
      "us",
    ],
    [
      "an ID that leads nowhere",
      `{ x: order(id: "nonsense") { id } a: order(id: "${orderKz}") { id } u: order(id: "${orderBr}") { id } }`,
      "ap",
    ],
  ])("the first region in document order is that of %s", async (_, query, region) => {
    const origin = ({ url }: Request) => refusal(401, "text/plain", {}, new URL(url).host.slice(0, 2))();
    const { post } = setUpGraphql({ origin });
    const response = await post(query, undefined, { "x-home": "eu" });
    expect([response.status, await response.text()]).toEqual([401, region]);
  });

  it.each([
    ["one that answers", () => graphqlOk('{"a":{"id":"a"}}'), { u: null, a: { id: "a" } }],
    ["one that fails", () => new Response("", { status: 503 }), { u: null, a: null }],
  ])("beside %s a refusal fails its own fields", async (_, ap, data) => {
    const { post } = setUpGraphql({ origin: answers(refusal(401, "application/json"), ap) });
    const response = await post(TWO);
    expect([response.status, (await response.json<Result>()).data]).toEqual([200, data]);
  });

  it("a refusal in a coding that cannot be decoded goes on as it came", async () => {
    const us = refusal(401, "application/json", { "content-encoding": "zstd" }, "coded");
    const { post } = setUpGraphql({ origin: answers(us, us) });
    const response = await post(TWO);
    expect([response.status, response.headers.get("content-encoding"), await response.text()]).toEqual([
      401,
      "zstd",
      "coded",
    ]);
  });

  it("what an origin finds wrong in its part is the answer", async () => {
    const { post } = setUpGraphql();
    const response = await post(`{ u: order(id: "${orderBr}") { id } a: order(id: "${orderKz}") { nonsense } }`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ message: /nonsense/ }] });
  });
});

const graphqlOk = (data: string) =>
  new Response(`{"data":${data}}`, { headers: { "content-type": "application/graphql-response+json" } });

describe("what is refused", () => {
  const two = `{ u: order(id: "${orderBr}") { id } a: order(id: "${orderKz}") { id } }`;
  const code = async (response: Response) => {
    const { errors, data } = await response.json<Result>();
    expect(data).toBeUndefined();
    return errors?.[0]?.extensions?.["code"];
  };

  it.each([
    [
      "a mutation of several regions",
      `mutation { a: cancel(id: "${orderKz}") { id } b: cancel(id: "${orderBr}") { id } }`,
      422,
      "ids-disagree",
    ],
    ["a mutation with an ID that leads nowhere", 'mutation { cancel(id: "x") { id } }', 400, "malformed-id"],
    [
      "a subscription of several regions",
      `subscription { a: order(id: "${orderKz}") { id } b: order(id: "${orderBr}") { id } }`,
      422,
      "ids-disagree",
    ],
    [
      "@defer over several regions",
      `{ u: order(id: "${orderBr}") { ... @defer { id } } a: order(id: "${orderKz}") { id } }`,
      422,
      "ids-disagree",
    ],
    ["no operation", "fragment F on Query { viewer { name } }", 400, "GRAPHQL_VALIDATION_FAILED"],
    ["a document that does not parse", "{ order(", 400, "GRAPHQL_PARSE_FAILED"],
    ["20,000 braces", "{a".repeat(20_000), 400, "TOO_MANY_TOKENS"],
    ["depth", `${"{a".repeat(60)}${"}".repeat(60)}`, 400, "TOO_DEEP"],
    [
      "aliases",
      `{ ${Array.from({ length: 20 }, (_, at) => `a${at}: viewer { name }`).join(" ")} }`,
      400,
      "TOO_MANY_ALIASES",
    ],
    [
      "a bomb of fragments",
      `{ ...A ...A } ${[..."ABCDEFGH"].map((name, at) => `fragment ${name} on Query { x: viewer { name } ...${"BCDEFGHI"[at]} ...${"BCDEFGHI"[at]} }`).join(" ")} fragment I on Query { y: viewer { name } }`,
      400,
      "TOO_MANY_ALIASES",
    ],
    ["a cycle", "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }", 400, "GRAPHQL_VALIDATION_FAILED"],
    [
      "many IDs",
      `{ nodes(ids: [${Array.from({ length: 150 }, () => `"${orderKz}"`).join()}]) { id } }`,
      400,
      "TOO_MANY_IDS",
    ],
    ["a list with what is no ID", `{ nodes(ids: ["${orderKz}", true]) { id } }`, 400, "GRAPHQL_VALIDATION_FAILED"],
  ])("%s", async (_, query, status, expected) => {
    const { post, seen } = setUpGraphql();
    const response = await post(query, undefined, {});
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe(GRAPHQL_TYPE);
    expect(await code(response)).toBe(expected);
    expect(seen).toEqual([]);
  });

  it.each([
    ["a list of operations", "[]", {}, 400],
    ["no JSON", "{", {}, 400],
    ["a key twice", '{"query":"{a}","query":"{b}"}', {}, 400],
    ["a key of a variable twice", '{"query":"{a}","variables":{"a":{"id":1,"id":2}}}', {}, 400],
    ["variables that are none", '{"query":"{a}","variables":[]}', {}, 400],
    ["no query", "{}", {}, 400],
    ["another type", "{}", { "content-type": "application/graphql" }, 415],
    ["a form", "{}", { "content-type": "multipart/form-data; boundary=a" }, 415],
    ["another charset", "{}", { "content-type": "application/json; charset=utf-16" }, 415],
    ["a coded body", "{}", { "content-encoding": "gzip" }, 415],
    ["too much", `{"query":"${"x".repeat(300_000)}"}`, {}, 413],
  ])("%s", async (_, body, headers, status) => {
    for (const accept of ["application/json", "application/graphql-response+json"]) {
      const { request, seen } = setUpGraphql();
      const init = { method: "POST", body, headers: { "content-type": "application/json", accept, ...headers } };
      const response = await request("/graphql", init);
      expect([response.status, response.headers.get("content-type")]).toEqual([status, `${accept}; charset=utf-8`]);
      expect((await response.json<Result>()).errors).toHaveLength(1);
      expect(seen).toEqual([]);
    }
  });

  it("by status and type as the client accepts", async () => {
    const { post, request } = setUpGraphql();
    const wrong = "{ order(";
    expect((await post(wrong, undefined, { accept: "application/json" })).status).toBe(200);
    expect((await post(wrong, undefined, { accept: "*/*" })).status).toBe(400);
    const split = await post(two, undefined, { accept: "text/html" });
    expect([split.status, split.headers.get("content-type")]).toEqual([406, "application/json; charset=utf-8"]);
    const either = await post(two, undefined, { accept: "text/html, application/json;q=0.5, */*;q=0.1" });
    expect(either.headers.get("content-type")).toBe("application/json; charset=utf-8");
    const byGet = await request(`/graphql?query=${encodeURIComponent(`mutation { cancel(id: "${orderKz}") { id } }`)}`);
    expect([byGet.status, byGet.headers.get("allow")]).toEqual([405, "POST"]);
    expect((await request("/graphql", { method: "DELETE" })).status).toBe(405);
  });

  it.each(["/graphql/", "//graphql", "/%67raphql", "/GraphQL", "/graphql;a=1"])("other spellings: %s", async (path) => {
    const { request, seen } = setUpGraphql({
      table: { withoutId: { all: { path: "/**", sources: [{ region: "eu" }] } } },
    });
    const response = await request(path, {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" },
    });
    expect(await code(response)).toBe("unrouted-path");
    expect(seen).toEqual([]);
  });

  it("parameters in two places", async () => {
    const { request, seen } = setUpGraphql();
    const body = JSON.stringify({ query: two });
    const init = { method: "POST", body, headers: { "content-type": "application/json" } };
    expect((await request("/graphql?query=%7Ba%7D", init)).status).toBe(400);
    expect((await request("/graphql?query=%7Ba%7D&query=%7Bb%7D")).status).toBe(400);
    expect(seen).toEqual([]);
  });
});

describe("without an ID", () => {
  it("the sources say where to", async () => {
    const { post } = setUpGraphql();
    const response = await post("{ viewer { name } }", undefined, { "x-home": "us" });
    expect(await response.json()).toEqual({ data: { viewer: { name: "viewer of us" } } });
  });

  it("without a source it is an error", async () => {
    const { post, seen } = setUpGraphql();
    const response = await post("{ viewer { name } }");
    expect(await response.json()).toMatchObject({
      data: { viewer: null },
      errors: [{ path: ["viewer"], extensions: { code: "region-unknown" } }],
    });
    expect(seen).toEqual([]);
  });

  it("declared fields go there whatever stands beside them", async () => {
    const { post, seen } = setUpGraphql({ graphql: { bySource: ["viewer"] } });
    const response = await post(`{ viewer { name } order(id: "${orderKz}") { region } }`, undefined, {
      "x-home": "us",
    });
    expect(await response.json()).toEqual({ data: { viewer: { name: "viewer of us" }, order: { region: "ap" } } });
    expect(hostsOf(seen)).toEqual(["ap", "us"]);
  });

  it("a field without an ID beside several regions goes home", async () => {
    const { post } = setUpGraphql();
    const query = `{ viewer { name } a: order(id: "${orderKz}") { region } b: order(id: "${orderBr}") { region } }`;
    const response = await post(query, undefined, { "x-home": "eu" });
    expect(await response.json()).toMatchObject({ data: { viewer: { name: "viewer of eu" } } });
  });

  it("introspection is refused where no region is declared", async () => {
    const { path, ids } = GRAPHQL;
    const { request, seen } = setUp({ declared: { ...DECLARED_TABLE, graphql: { path, ids } } });
    const response = await request(`/graphql?query=${encodeURIComponent("{ __schema { queryType { name } } }")}`);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: "INTROSPECTION_DISABLED" } }] });
    expect(seen).toEqual([]);
  });
});

describe("registered documents", () => {
  const text = "query($id: ID!) { order(id: $id) { region } }";
  const HASH = "0".repeat(64);
  it("are not known without a declaration", async () => {
    const { post } = setUpGraphql();
    const response = await post("", undefined, {}, { query: undefined, documentId: `sha256:${HASH}` });
    expect(await response.json()).toMatchObject({
      errors: [{ extensions: { code: "PERSISTED_QUERY_NOT_SUPPORTED" } }],
    });
  });

  it("lead by their IDs", async () => {
    const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
    const hash = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    const { post, seen } = setUpGraphql({
      graphql: { persisted: { [hash]: text } },
      origin: () => graphqlOk('{"order":{"region":"us"}}'),
    });
    const persistedQuery = { version: 1, sha256Hash: hash };
    const variables = { id: orderBr };
    const byHash = await post("", variables, {}, { query: undefined, extensions: { persistedQuery } });
    expect(byHash.headers.get("waybill-region")).toBe("us");
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ variables, extensions: { persistedQuery } });
    const byId = await post("", variables, {}, { query: undefined, documentId: hash });
    expect(byId.headers.get("waybill-region")).toBe("us");
    const unknown = await post("", variables, {}, { query: undefined, documentId: HASH });
    expect(await unknown.json()).toMatchObject({ errors: [{ extensions: { code: "PERSISTED_QUERY_NOT_FOUND" } }] });
    const other = await post("{ viewer { name } }", variables, {}, { extensions: { persistedQuery } });
    expect(other.status).toBe(400);
    expect(seen).toHaveLength(2);
  });
});

describe("global IDs", () => {
  it.each([
    ["base64", { Order: "order" }, (id: string) => btoa(`Order:${id}`)],
    ["gid", { Order: "order" }, (id: string) => `gid://app/Order/${id}`],
    ["prefix", { order_: "order" }, (id: string) => `order_${id}`],
    ["prefix-base64url", { O_: "order" }, (id: string) => `O_${btoa(id).replace(/=+$/, "")}`],
  ])("of the form %s", async (form, types, write) => {
    const { post } = setUpGraphql({ graphql: { globalId: { form, types } }, origin: () => graphqlOk('{"node":null}') });
    const response = await post(`{ node(id: "${write(orderBr)}") { id } }`);
    expect(response.headers.get("waybill-region")).toBe("us");
    const plain = await post(`{ node(id: "${parcelUs}") { id } }`);
    expect(await plain.json()).toMatchObject({ errors: [{ path: ["node"], extensions: { code: "unknown-id" } }] });
  });
});

it("is described beside the other paths", async () => {
  const { request } = setUpGraphql();
  const { paths } = await (await request("/-/openapi.json")).json<{ paths: Record<string, object> }>();
  expect(paths["/graphql"]).toMatchObject({
    get: { operationId: "get_graphql" },
    post: { operationId: "post_graphql" },
  });
});
