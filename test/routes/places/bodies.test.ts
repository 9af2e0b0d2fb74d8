import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, problemOf, setUp, slug } from "../harness.ts";

const { orderBr, orderDe } = IDS;
const WITHIN = 1_000;

const declared = (more: object = {}) => ({
  ...DECLARED_TABLE,
  withoutId: {
    checkout: {
      path: "/checkout",
      idIn: [
        { entity: "order", json: "/id", withinBytes: WITHIN },
        { entity: "order", form: "id", withinBytes: WITHIN },
      ],
      sources: [{ region: "eu" }],
      ...more,
    },
  },
});

/** A body of unknown length, in chunks of some bytes each. */
const streamOf = (text: string, chunkBytes: number, pauseMs = 0): ReadableStream<Uint8Array> => {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      if (at >= bytes.length) {
        controller.close();
        controller.byobRequest?.respond(0);
        return;
      }
      controller.enqueue(bytes.slice(at, at + chunkBytes));
      at += chunkBytes;
    },
  });
};

const post = (body: BodyInit, type = "application/json"): RequestInit => ({
  method: "POST",
  body,
  headers: { "content-type": type },
});

/** JSON with the ID so many bytes after its beginning, and so many bytes behind it. */
const jsonOf = (before: number, after: number, id: string = orderBr) =>
  `{"a":"${"é".repeat(before)}","id":"${id}","z":"${"x".repeat(after)}"}`;

describe("a body is sent on whole, as it came", () => {
  const sizes = [
    ["nothing but the ID", 0, 0],
    ["more than is read", 100, 5_000],
    ["more than is kept", 100, 100_000],
  ] as const;
  for (const [name, before, after] of sizes) {
    for (const chunkBytes of [0, 1, 7, 999, 1_000, 1_001, 70_000]) {
      if (chunkBytes === 1 && after > 5_000) continue;
      it(`${name}, in chunks of ${chunkBytes}`, async () => {
        const { request, seen } = setUp({ declared: declared() });
        const text = jsonOf(before, after);
        const response = await request("/checkout", post(chunkBytes === 0 ? text : streamOf(text, chunkBytes)));
        expect(response.headers.get("waybill-region")).toBe("us");
        expect(seen).toHaveLength(1);
        expect(seen[0]?.body).toBe(text);
      });
    }
  }
});

describe("an ID that is late", () => {
  it.each([
    ["ends with the last byte that is read", WITHIN - '{"a":"","id":""'.length - orderBr.length, "us"],
    ["ends one byte behind it", WITHIN - '{"a":"","id":""'.length - orderBr.length + 2, "id-not-in-time"],
    ["begins behind it", WITHIN, "id-not-in-time"],
  ])("%s", async (_, bytes, expected) => {
    for (const chunkBytes of [0, 13, 5_000]) {
      const { request, seen } = setUp({ declared: declared() });
      const text = jsonOf(0, 500).replace('""', `"${"x".repeat(bytes)}"`);
      const response = await request("/checkout", post(chunkBytes === 0 ? text : streamOf(text, chunkBytes)));
      if (response.ok) expect(response.headers.get("waybill-region")).toBe(expected);
      else {
        const problem = await problemOf(response);
        expect([slug(problem), problem["withinBytes"]]).toEqual([expected, WITHIN]);
        expect(seen).toEqual([]);
      }
    }
  });

  it("of a form", async () => {
    const { request } = setUp({ declared: declared() });
    const type = "application/x-www-form-urlencoded";
    const late = `a=${"x".repeat(2_000)}&id=${orderBr}`;
    expect(slug(await problemOf(await request("/checkout", post(late, type))))).toBe("id-not-in-time");
    const cut = `id=${orderBr}&a=${"x".repeat(940)}&id=${orderDe}`;
    expect(slug(await problemOf(await request("/checkout", post(cut, type))))).toBe("id-not-in-time");
    const early = `id=${orderBr}&a=${"x".repeat(2_000)}`;
    expect((await request("/checkout", post(streamOf(early, 100), type))).headers.get("waybill-region")).toBe("us");
  });
});

it("a body without an ID goes by the sources, and is whole too", async () => {
  const { request, seen } = setUp({ declared: declared() });
  for (const body of ["{}", `${" ".repeat(30)}{"other":1}`]) {
    const response = await request("/checkout", post(streamOf(body, 5)));
    expect(response.headers.get("waybill-region")).toBe("eu");
    expect(seen.at(-1)?.body).toBe(body);
  }
});

it("a short body of unknown length can be sent again", async () => {
  let calls = 0;
  const origin = () => {
    calls += 1;
    if (calls === 1) throw Object.assign(new Error("Network connection lost."), { retryable: true });
    return new Response("ok");
  };
  const { request, seen } = setUp({ declared: declared({ replayBytesMax: 1_000 }), origin });
  const init = post(streamOf(jsonOf(0, 10), 5));
  const response = await request("/checkout", { ...init, headers: { ...init.headers, "idempotency-key": "k" } });
  expect(response.status).toBe(200);
  expect(seen.map(({ body }) => body)).toEqual([jsonOf(0, 10), jsonOf(0, 10)]);
});

it("a client that stops before the ID gets its answer in time", async () => {
  const { request, seen } = setUp({ declared: declared(), deadlines: { idleMs: 50 } });
  const stream = new ReadableStream({
    type: "bytes",
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"id":'));
    },
  });
  expect(slug(await problemOf(await request("/checkout", post(stream))))).toBe("request-timeout");
  expect(seen).toEqual([]);
});

it("a client that breaks off before the ID is no fault of an origin", async () => {
  const { request, seen } = setUp({ declared: declared() });
  const stream = new ReadableStream({
    type: "bytes",
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"id":'));
      controller.error(new Error("gone"));
    },
  });
  expect(slug(await problemOf(await request("/checkout", post(stream))))).toBe("malformed-request");
  expect(seen).toEqual([]);
});
