import { getIntrospectionQuery } from "graphql";
import { describe, expect, it, test } from "vitest";
import { GRAPHQL_RESPONSE, JSON_RESPONSE, statusWithout } from "../../src/features/graphql/document/answer.ts";
import { readDocument } from "../../src/features/graphql/document/document.ts";
import { type GlobalIds, readGlobalId } from "../../src/features/graphql/document/global-id.ts";
import { mergeAnswers, readAnswer } from "../../src/features/graphql/document/merge.ts";
import { planParts, rootFields } from "../../src/features/graphql/document/plan.ts";
import { hasParams, readBody, readQuery } from "../../src/features/graphql/document/request.ts";
import { itemsOf, membersOf, rawOf, sliceOf, textOf } from "../../src/features/graphql/document/slices.ts";
import { duplicateKey } from "../../src/routing/index.ts";
import { processorMs } from "../setup/processor-ms.ts";
import { ask } from "./world.ts";

const LIMITS = { tokensMax: 1000, depthMax: 20, aliasesMax: 15 };

describe("slices of JSON", () => {
  it("keep every character of a value", () => {
    const text = ' { "a" : -0 , "b\\u0022":[1e400, 12345678901234567890.10 ,"x\\\\\\"]" ] , "c":{ } } ';
    const members = membersOf(sliceOf(text) as never);
    expect([...(members ?? [])].map(([key, value]) => [key, rawOf(value)])).toEqual([
      ["a", "-0"],
      ['b"', '[1e400, 12345678901234567890.10 ,"x\\\\\\"]" ]'],
      ["c", "{ }"],
    ]);
    expect(itemsOf(members?.get('b"') as never).map(textOf)).toEqual(["1e400", "12345678901234567890.10", 'x\\"]']);
  });

  it.each(["", "{", "{a:1}", "[1,]", "nul", "1 2", "\ufeff1"])("are none of %j", (text) => {
    expect(sliceOf(text)).toBeUndefined();
  });

  it("take nesting that no stack holds", () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    expect(itemsOf(sliceOf(deep) as never)).toHaveLength(1);
  });
});

describe("requests", () => {
  const fault = (text: string) => {
    const read = readBody(text, duplicateKey);
    return read.ok ? undefined : read.error.message;
  };

  it.each([
    '{"query":"{a}","QUERY":"{b}"}',
    '{"query":"{a}","variableſ":{}}',
    '{"query":"{a}","query":"{b}"}',
    '{"query":1}',
    '{"query":"{a}","operationName":1}',
    '{"query":"{a}","variables":"{}"}',
    '{"query":"{a}","extensions":[]}',
    '{"documentId":"abc"}',
    '{"extensions":{"persistedQuery":{"version":2,"sha256Hash":"abc"}}}',
    '"{a}"',
    "null",
  ])("are refused: %s", (text) => {
    expect(fault(text)).toBeDefined();
  });

  it("in a URL are decoded once, and each parameter comes once", () => {
    const read = readQuery(
      "?query=%7Ba%28b%3A+%22%2B%22%29%7D&variables=%7B%22a%22%3A1.0%7D&operationName=&x=%zz",
      duplicateKey,
    );
    expect(read.ok).toBe(false);
    const good = readQuery(
      "?query=%7Ba%28b%3A+%22%2B%22%29%7D&variables=%7B%22a%22%3A1.0%7D&operationName=&x=1&x=2",
      duplicateKey,
    );
    expect(good).toMatchObject({ ok: true, value: { query: '{a(b: "+")}', operationName: undefined } });
    expect(good.ok && rawOf(good.value.variables.get("a") as never)).toBe("1.0");
    for (const query of ["?query=a&query=b", "?variables=%7B&query=a", "?query=%ff", "?Query=%7Ba%7D"]) {
      expect(readQuery(query, duplicateKey).ok).toBe(false);
    }
    expect([hasParams("?a=1"), hasParams("?QUERY=1"), hasParams("?a=1&%76ariables={}"), hasParams("")]).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});

describe("documents", () => {
  const read = (query: string, limits = LIMITS) => readDocument(query, undefined, new Map(), limits);
  const code = (query: string, limits = LIMITS) => {
    const result = read(query, limits);
    return result.ok ? undefined : result.error.code;
  };

  it("introspection is within the limits", () => {
    expect(code(getIntrospectionQuery())).toBeUndefined();
  });

  it.each([
    ["braces", "{a".repeat(20_000), "TOO_MANY_TOKENS"],
    ["braces within the tokens", `${"{a".repeat(300)}${"}".repeat(300)}`, "TOO_DEEP"],
    ["lists in a value", `{ a(b: ${"[".repeat(400)}${"]".repeat(400)}) }`, "TOO_DEEP"],
    ["types of a variable", `query($a: ${"[".repeat(400)}Int${"]".repeat(400)}) { a }`, undefined],
    ["a cycle of itself", "{ ...A } fragment A on Query { a { ...A } }", "GRAPHQL_VALIDATION_FAILED"],
    ["two operations without a name", "{ a } { b }", "OPERATION_RESOLUTION_FAILURE"],
    ["types", "type A { b: Int } { a }", "GRAPHQL_VALIDATION_FAILED"],
    ["an unknown fragment", "{ ...A }", "GRAPHQL_VALIDATION_FAILED"],
    ["a fragment twice", "{ ...A } fragment A on Q { a } fragment A on Q { b }", "GRAPHQL_VALIDATION_FAILED"],
  ])("%s", (_, query, expected) => {
    expect(code(query)).toBe(expected);
  });

  it("braces that exceed the stack are refused, whatever the limit says", () => {
    const limits = { ...LIMITS, tokensMax: 1_000_000, depthMax: 1_000_000 };
    expect(code(`${"{a".repeat(50_000)}${"}".repeat(50_000)}`, limits)).toBe("TOO_DEEP");
  });

  it("bombs of fragments cost no more than their text", () => {
    const names = Array.from({ length: 30 }, (_, at) => `F${at}`);
    const bomb = names.map((name, at) => `fragment ${name} on Q { a ...F${at + 1} ...F${at + 1} }`).join(" ");
    const query = `{ ...F0 } ${bomb} fragment F30 on Q { x: a }`;
    const startedMs = processorMs();
    expect(code(query)).toBe("TOO_MANY_ALIASES");
    const harmless = read(query.replace("x: a", "a"));
    if (!harmless.ok) throw new Error(harmless.error.message);
    expect(rootFields(harmless.value, [], 10)).toMatchObject({ ok: true, value: [{ key: "a" }] });
    expect(processorMs() - startedMs).toBeLessThan(500);
  });

  it("names of objects' own members are fields like others", async () => {
    const operation = read("{ constructor toString __proto__ }");
    if (!operation.ok) throw new Error(operation.error.message);
    const fields = rootFields(operation.value, [], 10);
    expect(fields.ok && fields.value.map(({ key, kind }) => [key, kind])).toEqual([
      ["constructor", "field"],
      ["toString", "field"],
      ["__proto__", "field"],
    ]);
  });
});

describe("IDs", () => {
  const rules = [
    { argument: "id", fields: new Set(["order"]), type: undefined, entity: "order", isPlural: false },
    { argument: "key", fields: undefined, type: "OrderKey", entity: "order", isPlural: false },
    { argument: "ids", fields: new Set(["orders"]), type: undefined, entity: "order", isPlural: true },
  ];
  const read = (query: string, variables = "{}") => {
    const given = membersOf(sliceOf(variables) as never);
    const operation = readDocument(query, undefined, given ?? new Map(), LIMITS);
    if (!operation.ok) throw new Error(operation.error.message);
    return rootFields(operation.value, rules, 100);
  };
  const fieldsOf = (query: string) => {
    const fields = read(query);
    if (!fields.ok) throw new Error(fields.error.message);
    return fields.value;
  };
  const find = (query: string, variables?: string) => {
    const fields = read(query, variables);
    if (!fields.ok) return fields.error.code;
    return fields.value.flatMap(({ ids, list }) => [...ids, ...(list?.items ?? [])].map((id) => id?.text ?? null));
  };

  it.each([
    ["{ order(id: 12345678901234567890) { a } }", "{}", ["12345678901234567890"]],
    ["query($a: ID) { order(id: $a) { a } }", '{"a":12345678901234567890}', ["12345678901234567890"]],
    ["query($a: ID) { order(id: $a) { a } }", '{"a":null}', []],
    ['query($a: ID = "d") { order(id: $a) { a } }', "{}", ["d"]],
    ['query($a: ID = "d") { order(id: $a) { a } }', '{"a":"g"}', ["g"]],
    ['{ order(id: """\n  block\n""") { a } }', "{}", ["block"]],
    ["query($a: [OrderKey!]!) { any(key: $a) { a } }", '{"a":["x","y"]}', ["x", "y"]],
    ["query($a: Other) { any(key: $a) { a } }", '{"a":"x"}', []],
    ['{ any(key: "x") { a } }', "{}", "GRAPHQL_VALIDATION_FAILED"],
    ['{ me { any(in: { keys: 1, key: ["x"] }) { a } } }', "{}", "GRAPHQL_VALIDATION_FAILED"],
    ["{ any(key: null, other: 1) { a } }", "{}", []],
    ["query($w: W) { order(where: $w) { a } }", '{"w":{"or":[{"id":"x"},{"not":{"id":"y"}}]}}', ["x", "y"]],
    ['{ me { order(id: "n") { a } ...F } } fragment F on Me { order(id: "f") { a } }', "{}", ["n", "f"]],
    ['query($b: Boolean!) { me { order(id: "n") @include(if: $b) { a } } }', '{"b":false}', []],
    ['query($a: ID) { orders(ids: [$a, "y", 3]) { a } }', '{"a":"x"}', ["x", "y", "3"]],
    ['{ orders(ids: "one") { a } }', "{}", ["one"]],
    ["query($w: W) { order(where: $w) { a } }", `{"w":${'{"a":'.repeat(100)}1${"}".repeat(100)}}`, "TOO_DEEP"],
    ['{ orders(ids: ["x", null]) { a } }', "{}", ["x", null]],
    ['{ orders(ids: [null, "null"]) { a } }', "{}", [null, "null"]],
    ["{ orders(ids: null) { a } }", "{}", []],
    ["query($a: [ID]) { orders(ids: $a) { a } }", '{"a":[null,"x",1]}', [null, "x", "1"]],
    ['query($a: [ID] = [null, "x"]) { orders(ids: $a) { a } }', "{}", [null, "x"]],
    ['query($a: ID) { orders(ids: [$a, "y"]) { a } }', '{"a":null}', [null, "y"]],
    ['query($a: ID) { orders(ids: [$a, "y"]) { a } }', "{}", [null, "y"]],
    ["query($a: [ID]) { orders(ids: $a) { a } }", '{"a":[["x"]]}', "GRAPHQL_VALIDATION_FAILED"],
    ["query($a: [ID]) { orders(ids: $a) { a } }", '{"a":[{"id":"x"}]}', "GRAPHQL_VALIDATION_FAILED"],
    ["{ orders(ids: [true]) { a } }", "{}", "GRAPHQL_VALIDATION_FAILED"],
  ])("of %s", (query, variables, expected) => {
    expect(find(query, variables)).toEqual(expected);
  });

  it("fields that go home have no IDs of elsewhere", () => {
    const fields = fieldsOf('{ me { order(id: "a") { x } } you: me { order(id: "home") { x } } }');
    const home = () => ({ region: "home" });
    const plan = planParts(fields, {
      ofId: ({ text }) => ({ region: text }),
      home,
      introspection: home,
      alwaysHome: new Set(["me"]),
    });
    expect(plan.parts.map(({ region, fields: own }) => [region, [...own.keys()]])).toEqual([["home", ["you"]]]);
    expect(plan.failed.get("me")).toMatchObject({ code: "ids-disagree" });
    expect(find("{ a: __typename a: order(id: 1) { x } }")).toBe("GRAPHQL_VALIDATION_FAILED");
  });

  it("an ID that the whole cannot be split at fails its field alone", () => {
    const fields = fieldsOf('{ me { order(id: "a") { x } other: order(id: "b") { x } } order(id: "a") { x } }');
    const none = () => ({ failure: { code: "none", message: "", status: 400 } });
    const plan = planParts(fields, {
      ofId: ({ text }) => ({ region: text }),
      home: none,
      introspection: none,
      alwaysHome: new Set(),
    });
    expect(plan.parts.map(({ region, fields: own }) => [region, [...own.keys()]])).toEqual([["a", ["order"]]]);
    expect(plan.failed.get("me")).toMatchObject({ code: "ids-disagree" });
  });
});

it("a large variable that many fields use costs a bounded time", () => {
  const fields = Array.from({ length: 90 }, (_, at) => `f${at}(w: $w) { a }`).join(" ");
  const nested = "[".repeat(30) + Array.from({ length: 60_000 }, () => "1").join() + "]".repeat(30);
  const given = membersOf(sliceOf(`{"w":${nested}}`) as never);
  const startedMs = processorMs();
  const operation = readDocument(`query($w: W) { ${fields} }`, undefined, given ?? new Map(), LIMITS);
  if (!operation.ok) throw new Error(operation.error.message);
  const rules = [{ argument: "w", fields: undefined, type: undefined, entity: "a", isPlural: false }];
  expect(rootFields(operation.value, rules, 10_000_000)).toMatchObject({ ok: false, error: { code: "TOO_DEEP" } });
  expect(processorMs() - startedMs).toBeLessThan(1_000);
});

it("one entry at many positions makes no result without bound", () => {
  const operation = readDocument(
    "query($ids: [ID!]!) { nodes(ids: $ids) { id } }",
    undefined,
    membersOf(sliceOf(`{"ids":[${Array.from({ length: 500 }, () => '"a"').join()},"b"]}`) as never) ?? new Map(),
    LIMITS,
  );
  if (!operation.ok) throw new Error(operation.error.message);
  const fields = rootFields(
    operation.value,
    [{ argument: "ids", fields: new Set(["nodes"]), type: undefined, entity: "a", isPlural: true }],
    1000,
  );
  if (!fields.ok) throw new Error(fields.error.message);
  const none = () => ({ failure: { code: "none", message: "", status: 400 } });
  const plan = planParts(fields.value, {
    ofId: ({ text }) => ({ region: text }),
    home: none,
    introspection: none,
    alwaysHome: new Set(),
  });
  const large = `{"id":"${"x".repeat(10_000)}"}`;
  const error = '{"message":"no","path":["nodes",0,"id"]}';
  const answers = plan.parts.map((part) => {
    const answer = readAnswer(
      `{"errors":[${Array.from({ length: 1000 }, () => error).join()}],"data":{"nodes":[${large}]}}`,
    );
    if (!answer.ok) throw new Error(answer.error);
    return { part, answer };
  });
  const merged = mergeAnswers(plan, answers, { queryType: "Query", nonNull: new Set(), charactersMax: 1_000_000 });
  expect(JSON.parse(merged.body)).toMatchObject({ errors: [{ extensions: { code: "RESULT_TOO_LARGE" } }] });
});

describe("global IDs", () => {
  const ids = (form: GlobalIds["form"], ...types: readonly string[]): GlobalIds => ({
    form,
    entities: new Map(types.map((type) => [type, type.toLowerCase()])),
  });
  it.each([
    [ids({ form: "base64" }, "Order"), "T3JkZXI6MQ==", { entity: "order", id: "1" }],
    [ids({ form: "base64" }, "Order"), "T3JkZXI6MQ", { entity: "order", id: "1" }],
    [ids({ form: "base64" }, "Order"), "T3JkZXI6MR==", undefined],
    [ids({ form: "base64" }, "Order"), "T3JkZXI6", undefined],
    [ids({ form: "base64" }, "Other"), "T3JkZXI6MQ==", undefined],
    [ids({ form: "base64" }, "Order"), "T3JkZXI6MQ=", undefined],
    [ids({ form: "gid" }, "Order"), "gid://app/Order/1", { entity: "order", id: "1" }],
    [ids({ form: "gid" }, "Order"), "gid://app/Order/1/2", undefined],
    [ids({ form: "gid" }, "Order"), "gid://app/Order/1?item_id=2", { entity: "order", id: "1" }],
    [ids({ form: "gid" }, "Order"), "gid://app/Order/1?a=/b&c=?d", { entity: "order", id: "1" }],
    [ids({ form: "gid" }, "Order"), "gid://app/Order/1?", { entity: "order", id: "1" }],
    [ids({ form: "gid" }, "Order"), "gid://app/Order/?a=1", undefined],
    [ids({ form: "gid" }, "Order"), "gid://app/Order?a=/1", undefined],
    [ids({ form: "gid" }, "Order"), "gid://app/Order/1#a", undefined],
    [ids({ form: "gid" }, "Order"), "gid://app/Order/1?a#b", undefined],
    [ids({ form: "prefix", isCoded: false }, "o_", "o_x_"), "o_x_1", { entity: "o_x_", id: "1" }],
    [ids({ form: "prefix", isCoded: true }, "o_"), "o_MQ", { entity: "o_", id: "1" }],
    [ids({ form: "prefix", isCoded: false }, "o_"), "o_", undefined],
  ])("%j of %s", (globalIds, text, expected) => {
    expect(readGlobalId(globalIds, text)).toEqual(expected);
  });
});

describe("answers", () => {
  it("have a status by their media type", () => {
    expect(statusWithout(JSON_RESPONSE, 400, false)).toBe(200);
    expect(statusWithout(JSON_RESPONSE, 400, true)).toBe(400);
    expect(statusWithout(JSON_RESPONSE, 503, false)).toBe(503);
    expect(statusWithout(GRAPHQL_RESPONSE, 422, false)).toBe(422);
  });

  it.each([
    "",
    "[]",
    "{}",
    '{"data":[]}',
    '{"data":null}',
    '{"errors":{}}',
    '{"errors":[1]}',
    '{"data":{},"data":{}}',
    '{"data":{"a":1,"a":2}}',
  ])("of a region are none: %s", (text) => {
    expect(readAnswer(text).ok).toBe(false);
  });
});

test("a list of 1,000 IDs is split in time", async () => {
  const ids = Array.from({ length: 1000 }, (_, at) => `${at % 24}-${at % 14}`);
  const body = JSON.stringify({ query: "query($ids: [ID!]!) { nodes(ids: $ids) { id } }", variables: { ids } });
  const startedMs = processorMs();
  expect((await ask(body)).parts).toBe(3);
  expect(processorMs() - startedMs).toBeLessThan(2_000);
});
