import { describe, expect, it } from "vitest";
import { readDocument } from "../../../src/cli/commands/contract/document.ts";
import { pathsOf } from "../../../src/cli/commands/contract/paths.ts";
import { contract } from "./documents.ts";

describe("hostile documents", () => {
  const read = (text: string) => {
    const document = readDocument(new TextEncoder().encode(text));
    if (!document.ok) return document.error;
    const paths = pathsOf(document.value, []);
    return paths.ok ? paths.value.paths : paths.error;
  };

  it("thousands of servers before thousands of paths are refused at once, and counted for nothing beside a given base", async () => {
    const servers = Array.from({ length: 3_000 }, (_, at) => ({ url: `/v${at}` }));
    const paths = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`/p${at}`, { get: {} }]));
    const text = JSON.stringify({ openapi: "3.0.0", servers, paths });
    expect(read(text)).toBe("/p0 has more than 100 servers; name the base path with --base-path");
    const { stderr, code } = await contract(text);
    expect({ stderr, code }).toEqual({
      stderr: "error: openapi.yaml: /p0 has more than 100 servers; name the base path with --base-path\n",
      code: 1,
    });
    const given = pathsOf({ servers, paths }, [], "/v1");
    expect(given.ok && given.value.paths.length).toBe(3_000);
  });

  it("references in a circle lead nowhere", () => {
    const text = `openapi: 3.0.0
paths:
  /a/{id}: { $ref: "#/paths/~1b~1{id}" }
  /b/{id}: { $ref: "#/paths/~1a~1{id}" }
  /c/{x}: { get: { parameters: [{ $ref: "#/components/parameters/P" }] } }
  /d/{x}: { get: { parameters: [{ name: x, in: path, schema: { $ref: "#/components/schemas/S" } }] } }
  /e: { $ref: "other.yaml#/paths/~1e" }
  /f: { $ref: "#/%zz" }
components: { parameters: { P: { $ref: "#/components/parameters/P" } }, schemas: { S: { $ref: "#/components/schemas/S" } } }`;
    const unread = (pointer: string, reference: string, why: string) => [{ pointer, reference, why }];
    const parameters = [{ name: "x", format: undefined }];
    expect(read(text)).toEqual([
      expect.objectContaining({ path: "/a/{id}", methods: [], unread: [expect.anything()] }),
      expect.objectContaining({ path: "/b/{id}", methods: [], unread: [expect.anything()] }),
      expect.objectContaining({
        parameters,
        unread: unread("/paths/~1c~1{x}/get/parameters/0", "#/components/parameters/P", "circle"),
      }),
      expect.objectContaining({
        parameters,
        unread: unread("/paths/~1d~1{x}/get/parameters/0", "#/components/schemas/S", "circle"),
      }),
      expect.objectContaining({ path: "/e", unread: unread("/paths/~1e", "other.yaml#/paths/~1e", "elsewhere") }),
      expect.objectContaining({ path: "/f", unread: unread("/paths/~1f", "#/%zz", "nowhere") }),
    ]);
  });

  it("an object may have members of any name", () => {
    const paths = `{ "/a/{__proto__}": { "get": {} }, "/b": { "__proto__": { "get": {} } }, "__proto__": { "/c": { "get": {} } } }`;
    for (const text of [`{"openapi":"3.0.0","paths":${paths}}`, `openapi: 3.0.0\npaths: ${paths}`]) {
      expect(read(text)).toEqual([expect.objectContaining({ path: "/a/{__proto__}" })]);
    }
    expect(
      read(`openapi: 3.0.0\npaths: { "/a": { constructor: {}, toString: {} }, "/b": 4, "/c": null, "/d": [1] }`),
    ).toEqual([]);
    expect(read(`{"__proto__":{"openapi":"3.0.0"}}`)).toBe("it has no `openapi` with a version");
  });

  it("aliases that repeat each other are not expanded", () => {
    const lines = ["a0: &a0 { allOf: [{ type: string }] }"];
    for (let at = 1; at < 60; at++) lines.push(`a${at}: &a${at} { allOf: [*a${at - 1}, *a${at - 1}, *a${at - 1}] }`);
    const path = `paths: { "/x/{x}": { get: { parameters: [{ name: x, in: path, schema: *a59 }] } } }`;
    expect(read(`openapi: 3.0.0\n${lines.join("\n")}\n${path}\n`)).toEqual([
      expect.objectContaining({ path: "/x/{x}", parameters: [{ name: "x", format: undefined }] }),
    ]);
  });

  it.each(["[", "{ a: ", "- ", '{"a":['])("%j a thousand times is too deep, or no YAML", (part) => {
    expect(typeof read(`openapi: 3.0.0\nx: ${part.repeat(1_000)}`)).toBe("string");
    expect(typeof read(part.repeat(1_000))).toBe("string");
  });

  it("a server's variable whose default is no text stays as it is", () => {
    const servers = '[{ url: "/{v}", variables: { v: { default: { toString: 1 } } } }]';
    expect(read(`openapi: 3.0.0\nservers: ${servers}\npaths: { /a: { get: {} } }`)).toEqual([
      expect.objectContaining({ path: "/{v}/a" }),
    ]);
  });

  it("bytes that are no text are rejected", () => {
    expect(readDocument(new Uint8Array([0xff, 0xfe, 0x00]))).toMatchObject({ ok: false });
  });
});

/** A document that counts how often its members are read. */
const counting = (value: unknown) => {
  const count = { reads: 0 };
  const proxies = new WeakMap<object, unknown>();
  const wrap = (inner: unknown): unknown => {
    if (typeof inner !== "object" || inner === null) return inner;
    const before = proxies.get(inner);
    if (before !== undefined) return before;
    const proxy = new Proxy(inner, {
      get: (target, key, receiver) => {
        count.reads++;
        return wrap(Reflect.get(target, key, receiver));
      },
    });
    proxies.set(inner, proxy);
    return proxy;
  };
  return { document: wrap(value) as Record<string, unknown>, count };
};

describe("work on shared parts", () => {
  /** `n` paths that share one item, with `n` parameters, whose schemas are a chain and a lattice. */
  const shared = (n: number) => {
    const chain = Object.fromEntries(
      Array.from({ length: n }, (_, at) => [`c${at}`, { $ref: `#/components/schemas/c${at + 1}` }]),
    );
    const part = (at: number) => ({ $ref: `#/components/schemas/l${at}` });
    const lattice = Object.fromEntries(
      Array.from({ length: n }, (_, at) => [`l${at}`, { allOf: [part(at + 1), part((at + 2) % n), part(0)] }]),
    );
    const list = Array.from({ length: n }, (_, at) => ({ name: `p${at}`, in: "path", schema: part(at % n) }));
    const schema = { $ref: "#/components/schemas/c0" };
    return {
      openapi: "3.1.0",
      paths: Object.fromEntries(Array.from({ length: n }, (_, at) => [`/a${at}/{p${at}}/{id}`, { $ref: "#/x" }])),
      x: { parameters: [...list, { name: "id", in: "path", schema }], get: { parameters: list } },
      components: { schemas: { ...chain, [`c${n}`]: { format: "uuid" }, ...lattice } },
    };
  };

  const readsOf = (value: unknown): number => {
    const { document, count } = counting(value);
    const read = pathsOf(document, []);
    expect(read.ok && read.value.paths.length).toBeGreaterThan(0);
    return count.reads;
  };

  it("grows as the document does: each part is read once, however many paths name it", () => {
    const small = readsOf(shared(200));
    const large = readsOf(shared(2_000));
    expect(large / small).toBeLessThan(11);
    expect(large).toBeLessThan(200 * 2_000);
  });

  it("still finds the format at the end of a chain", () => {
    const read = pathsOf(shared(50), []);
    const formats = read.ok ? read.value.paths.map(({ parameters }) => parameters.at(-1)?.format) : [];
    expect(formats).toEqual(new Array(50).fill("uuid"));
  });
});
