import { afterAll, beforeAll, expect, it } from "vitest";
import { type Answer, ask } from "./hostile/ask.ts";
import { type HostileStack, originOf, startHostileStack } from "./hostile/gateway.ts";
import type { Field } from "./hostile/message.ts";

/** Changes that the runtime makes, as docs/reference/http.md says them. */

const STANDARD = ["accept-encoding", "etag", "if-none-match", "last-modified", "location", "range", "vary"];
const OTHERS = ["prefer", "priority", "x-own"];

const lines = (names: readonly string[], ...values: readonly string[]): string =>
  names.flatMap((name) => values.map((value) => `${name}: ${value}\r\n`)).join("");
const response = (fields: string): string => `HTTP/1.1 200 OK\r\ncontent-length: 2\r\n${fields}\r\nok`;
const TWICE = lines([...STANDARD, ...OTHERS], "a", "b");
const EARLY =
  "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" +
  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n2\r\nok\r\n0\r\nx-sum: 1\r\n\r\n";

let stack: HostileStack;
beforeAll(async () => {
  stack = await startHostileStack([
    { name: "empty", origin: { steps: [response(lines([...STANDARD, ...OTHERS], ""))] } },
    { name: "twice", origin: { steps: [response(TWICE + lines(["set-cookie"], "a=1", "b=2"))] } },
    { name: "early", origin: { steps: [EARLY] } },
  ]);
});
afterAll(() => stack?.stop());

const send = (method: string, region: string, fields = "", body = ""): Promise<Answer> => {
  const head = `${method} ${stack.pathTo(region)} HTTP/1.1\r\nhost: gw\r\nconnection: close\r\n${fields}\r\n`;
  return ask(stack.gateway.port, head + body, { patienceMs: 5000 });
};
const received = (region: string): readonly Field[] => originOf(stack.origins, region).requests.at(-1)?.fields ?? [];
const valuesOf = (fields: readonly Field[] = [], names: readonly string[]): readonly Field[] =>
  names.flatMap((wanted) => fields.filter(([name]) => name === wanted));

it("standard headers without a value vanish, others stay", async () => {
  const { status, message } = await send("GET", "empty", lines([...STANDARD, ...OTHERS], ""));
  expect(status).toBe(200);
  for (const fields of [received("empty"), message?.fields]) {
    expect(valuesOf(fields, [...STANDARD, ...OTHERS])).toEqual(OTHERS.map((name) => [name, ""]));
  }
});

it("repeated headers are joined: all of a request, the standard ones of a response", async () => {
  const { message } = await send("GET", "twice", TWICE + lines(["cookie"], "a=1", "b=2"));
  const joined = [...STANDARD, ...OTHERS].map((name) => [name, "a, b"]);
  expect(valuesOf(received("twice"), [...STANDARD, ...OTHERS])).toEqual(joined);
  expect(valuesOf(received("twice"), ["cookie"])).toEqual([["cookie", "a=1, b=2"]]);
  expect(valuesOf(message?.fields, STANDARD)).toEqual(STANDARD.map((name) => [name, "a, b"]));
  expect(valuesOf(message?.fields, OTHERS).map(([, value]) => value)).toEqual(["a", "b", "a", "b", "a", "b"]);
  expect(valuesOf(message?.fields, ["set-cookie"]).map(([, value]) => value)).toEqual(["a=1", "b=2"]);
});

it("trailers and 1xx responses are dropped", async () => {
  const chunked = "transfer-encoding: chunked\r\ntrailer: x-sum\r\n";
  const answer = await send("POST", "early", chunked, "2\r\nhi\r\n0\r\nx-sum: 1\r\n\r\n");
  expect(answer).toMatchObject({ status: 200, end: "whole", surplus: "", message: { body: "ok" } });
  const dropped = ["link", "trailer", "x-sum"];
  expect([...valuesOf(answer.message?.fields, dropped), ...valuesOf(received("early"), dropped)]).toEqual([]);
  expect(originOf(stack.origins, "early").requests.at(-1)).toMatchObject({ body: "hi", isWhole: true });
});

it("an unknown method is 501 in plain text", async () => {
  const { status, message } = await send("SMUGGLE", "empty");
  expect([status, valuesOf(message?.fields, ["content-type"])]).toEqual([501, [["content-type", "text/plain"]]]);
});
