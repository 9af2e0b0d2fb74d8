import { describe, expect, it } from "vitest";
import {
  type BodyError,
  type PublicResponseOptions,
  publicResponse,
} from "../../../src/features/public-ids/serve/response.ts";
import { requestIdentityEncoding } from "../../../src/proxy/origin-request.ts";
import { bytes, compiled, entityFields } from "../public-ids/documents.ts";

const JSON_TYPE = { "content-type": "application/json" };
const options: PublicResponseOptions = {
  paths: compiled(entityFields("/id")),
  toPublic: (_, text) => (text.startsWith("id-") ? `pub-${text.slice(3)}` : undefined),
  toPublicReference: (reference) => (reference.includes("secret") ? undefined : reference.replace("id-", "pub-")),
  otherBodies: "pass",
  onBroken: (error) => {
    throw new Error(error.reason);
  },
};

const turned = (answer: Response, more: Partial<PublicResponseOptions> = {}): Response => {
  const result = publicResponse(answer, { ...options, ...more });
  if (!result.ok) throw new Error(result.error);
  return result.value;
};

describe("a JSON body", () => {
  it.each([
    "application/json",
    "Application/JSON; charset=utf-8",
    "application/problem+json",
    "text/json",
    "text/plain, application/json",
  ])("of type %s is rewritten", async (type) => {
    const answer = turned(new Response('{"id":"id-1"}', { headers: { "content-type": type } }));
    expect(await answer.text()).toBe('{"id":"pub-1"}');
    expect(answer.headers.get("content-type")).toBe(type);
  });

  it("of lines is rewritten line by line", async () => {
    const headers = { "content-type": "application/x-ndjson" };
    expect(await turned(new Response('{"id":"id-1"}\n{"id":"id-2"}\n', { headers })).text()).toBe(
      '{"id":"pub-1"}\n{"id":"pub-2"}\n',
    );
  });

  it("keeps status and other fields, and loses those that describe its octets", () => {
    const gone = ["content-length", "accept-ranges", "content-digest", "repr-digest", "digest", "content-md5"];
    const headers = new Headers([...Object.entries(JSON_TYPE), ...gone.map((name): [string, string] => [name, "1"])]);
    headers.append("set-cookie", "a=1");
    headers.append("set-cookie", "b=2");
    const answer = turned(new Response("{}", { status: 422, statusText: "Odd", headers }));
    expect([answer.status, answer.statusText]).toEqual([422, "Odd"]);
    for (const name of gone) expect(answer.headers.has(name)).toBe(false);
    expect(answer.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  });

  it("streams: what has come goes out before the rest comes", async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const answer = turned(new Response(readable, { headers: JSON_TYPE }));
    const writer = writable.getWriter();
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    const text = async () => new TextDecoder().decode((await reader.read()).value);
    const first = writer.write(bytes('{"a":1,"id":"id-'));
    expect(await text()).toBe('{"a":1,"id":');
    const second = writer.write(bytes('7","b":2}'));
    expect(await text()).toBe('"pub-7","b":2}');
    await Promise.all([first, second, writer.close()]);
    expect((await reader.read()).done).toBe(true);
  });

  it.each([
    ['{"id":"id-1"', { reason: "truncated" }],
    ['{"id":"id-1"}}', { reason: "malformed", at: 13 }],
  ])("%s is broken off, and reported", async (text, error) => {
    const seen: BodyError[] = [];
    const answer = turned(new Response(text, { headers: JSON_TYPE }), { onBroken: (one) => seen.push(one) });
    await expect(answer.text()).rejects.toThrow(/not JSON/);
    expect(seen).toEqual([error]);
  });

  it("leaving cancels the origin's body", async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(bytes("[1,")),
      cancel: () => {
        cancelled = true;
      },
    });
    await turned(new Response(body, { headers: JSON_TYPE })).body?.cancel();
    expect(cancelled).toBe(true);
  });
});

describe("an answer that is not shown", () => {
  const refused = (answer: Response, more: Partial<PublicResponseOptions> = {}) =>
    publicResponse(answer, { ...options, ...more });

  it.each([
    ["no-transform", 200, { "cache-control": "private, no-transform" }, "it is marked no-transform"],
    ["a part", 206, { "content-range": "bytes 0-1/9" }, "it is a partial document"],
    ["zstd", 200, { "content-encoding": "zstd" }, "its coding zstd cannot be decoded"],
    ["coded twice", 200, { "content-encoding": "gzip, br" }, "its coding br cannot be decoded"],
  ])("%s", (_, status, fields, error) => {
    const answer = new Response("{}", { status, headers: { ...JSON_TYPE, ...fields }, encodeBody: "manual" });
    expect(refused(answer)).toEqual({ ok: false, error });
  });

  it("another type, where the table says so", () => {
    const answer = () => new Response("<p>id-1</p>", { headers: { "content-type": "text/html" } });
    expect(refused(answer(), { otherBodies: "refuse" })).toEqual({
      ok: false,
      error: "it is not JSON",
    });
    expect(refused(answer())).toMatchObject({ ok: true });
  });
});

describe("where other bodies are refused", () => {
  const refusing = { otherBodies: "refuse" } as const;
  const emptyStream = () => new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });

  it.each([
    ["201 of no octets", 201, { "content-length": "0", "content-type": "text/plain" }],
    ["404 without a type", 404, {}],
    ["302 without a type", 302, { location: "/orders/id-1" }],
  ])("an empty body passes: %s", async (_, status, headers) => {
    const answer = turned(new Response(emptyStream(), { status, headers }), refusing);
    expect([answer.status, await answer.text()]).toEqual([status, ""]);
  });

  it.each([{}, { "content-length": "0", "content-type": "text/plain" }])(
    "one that comes all the same is broken off, and reported: %j",
    async (headers) => {
      const seen: string[] = [];
      const answer = turned(new Response(new Blob(["id-1"]).stream(), { headers }), {
        ...refusing,
        onBroken: ({ reason }) => seen.push(reason),
      });
      await expect(answer.text()).rejects.toThrow(/not JSON/);
      expect(seen).toEqual(["not-json"]);
    },
  );
});

describe("other answers", () => {
  it("bodies of other types go by with their length", async () => {
    const headers = { "content-type": "text/plain", "content-length": "14" };
    const answer = turned(new Response('{"id":"id-1"}\n', { headers }));
    expect(await answer.text()).toBe('{"id":"id-1"}\n');
    expect(answer.headers.get("content-length")).toBe("14");
  });

  it("without declared fields, bodies go by", async () => {
    const answer = turned(new Response('{"id":"id-1"}', { headers: JSON_TYPE }), { paths: undefined });
    expect(await answer.text()).toBe('{"id":"id-1"}');
  });

  it.each([204, 304])("%i has no body, and its tag is weak", (status) => {
    const answer = turned(new Response(null, { status, headers: { ...JSON_TYPE, etag: '"a"' } }));
    expect(answer.status).toBe(status);
    expect(answer.body).toBeNull();
    expect(answer.headers.get("etag")).toBe('W/"a"');
  });

  it("the answer to HEAD does not tell the length of a body that would change", () => {
    const answer = turned(new Response(null, { headers: { ...JSON_TYPE, "content-length": "13" } }));
    expect(answer.headers.has("content-length")).toBe(false);
  });

  it("a tag that is weak, or no tag, stays as it is", () => {
    for (const etag of ['W/"a"', "a"])
      expect(turned(new Response("x", { headers: { etag } })).headers.get("etag")).toBe(etag);
  });
});

describe.each(["location", "content-location"])("%s", (name) => {
  it.each([
    ["/orders/id-1", "/orders/pub-1"],
    ["http://[", "http://["],
    ["/secret/id-1", null],
  ])("%s becomes %s", (reference, expected) =>
    expect(turned(new Response(null, { status: 201, headers: { [name]: reference } })).headers.get(name)).toBe(
      expected,
    ),
  );
});

describe("the request to the origin", () => {
  it("asks for the whole answer, uncoded", () => {
    const fields = { "accept-encoding": "br", range: "bytes=0-", "if-range": '"a"', accept: "application/json" };
    requestIdentityEncoding(fields);
    expect(fields).toEqual({ "accept-encoding": "identity", accept: "application/json" });
  });

  it.each([
    ['W/"a"', '"a"'],
    ['W/"a", "b",W/"c"', '"a", "b","c"'],
    ['"a,W/"', '"a,W/"'],
    ["*", "*"],
  ])("if-match %s names %s at the origin", (value, expected) => {
    const fields = { "if-match": value };
    requestIdentityEncoding(fields);
    expect(fields["if-match"]).toBe(expected);
  });
});
