import { describe, expect, it } from "vitest";
import { KV_CACHE_SECONDS, readBody, readPointer } from "../../../src/edge/table/kv.ts";
import { bodyKey, parsePointer } from "../../../src/formats/kv.ts";

const DIGEST = "0".repeat(64);
const POINTER = { revision: 7, digest: DIGEST, change: 3 };
const canaryFor = (audience: object) => ({ revision: 8, digest: "1".repeat(64), audience });

describe("a pointer of a later version of the code", () => {
  it.each([
    ["members that this one does not know", { gate: { since: 5 }, publishedBy: "ann" }],
    ["a canary for an audience that it does not know", { canary: canaryFor({ plan: "gold" }) }],
    ["a canary for an audience that says more than it knows", { canary: canaryFor({ share: 5, plan: "gold" }) }],
    ["a canary that is none for it", { canary: "later" }],
  ])("with %s names its table all the same, and no canary", (_, members) => {
    const pointer = parsePointer(JSON.stringify({ ...POINTER, ...members }));
    expect(pointer).toMatchObject({ ok: true, value: POINTER });
    expect(pointer.ok && pointer.value.canary).toBeUndefined();
  });

  it("with a canary that has members it does not know has that canary", () => {
    const canary = canaryFor({ share: 5 });
    const pointer = parsePointer(JSON.stringify({ ...POINTER, canary: { ...canary, since: "2027-01-01" } }));
    expect(pointer.ok && pointer.value.canary).toEqual(canary);
  });
});

describe("a pointer that cannot be read", () => {
  it.each([
    ["", "it is not JSON"],
    ["[]", "it is not an object"],
    ["null", "it is not an object"],
    [{ revision: 0 }, "revision must be a whole number from 1 to 999999999999999"],
    [{ revision: "7" }, "revision must be a whole number from 1 to 999999999999999"],
    [{ revision: 1e15 }, "revision must be a whole number from 1 to 999999999999999"],
    [{ digest: "A".repeat(64) }, "digest must be 64 hexadecimal digits in small letters"],
    [{ digest: `${DIGEST}0` }, "digest must be 64 hexadecimal digits in small letters"],
    [{ publishedAt: null }, "publishedAt must be a text"],
    [{ change: -1 }, "change must be a whole number from 0"],
    [{ change: null }, "change must be a whole number from 0"],
  ])("%j says why", (given, error) => {
    const text = typeof given === "string" ? given : JSON.stringify({ ...POINTER, ...given });
    expect(parsePointer(text)).toEqual({ ok: false, error });
  });
});

it("nothing is asked of KV that a location may take for missing longer than it must", async () => {
  const asked: unknown[] = [];
  const get = async (...parameters: unknown[]): Promise<null> => {
    asked.push(parameters);
    return null;
  };
  const kv = { get } as unknown as KVNamespace;
  expect(await readPointer(kv, 100)).toEqual({ ok: false, error: { reason: "not-published" } });
  expect(await readBody(kv, DIGEST, 100)).toEqual({ ok: false, error: { reason: "body-missing", digest: DIGEST } });
  expect(asked).toEqual([
    ["table.current", { type: "text", cacheTtl: KV_CACHE_SECONDS }],
    [bodyKey(DIGEST), { type: "arrayBuffer", cacheTtl: KV_CACHE_SECONDS }],
  ]);
  expect(KV_CACHE_SECONDS).toBe(30);
});
