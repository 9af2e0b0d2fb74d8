import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import type { PackUploads } from "../../../src/features/packs/edge/uploads.ts";
import { packKey, pageKey } from "../../../src/features/packs/table/pack.ts";
import { declaredOf, makePack, RANGES, storePack } from "./files.ts";
import { upload, whole, withCopy } from "./upload-object.ts";

const { TABLE_KV } = env as Env;

beforeEach(() => reset());

describe("packs that are uploaded", () => {
  it("are whole as soon as KV has taken all, though it does not show them yet", () =>
    withCopy(async ({ copy, state, restart }) => {
      const pack = await makePack(RANGES);
      const { sha256, header, pages } = pack;
      // Somebody asked before anything was there, and the location remembers that.
      expect(await copy.faultOf(declaredOf(pack))).toBe(`KV has no ${packKey(sha256)}`);
      expect(await copy.status(sha256)).toEqual({
        ok: true,
        value: { sha256, header: false, pages: null, missing: null, complete: false },
      });
      const receipt = await copy.putHeader(sha256, header);
      expect(receipt).toMatchObject({
        value: { isNew: true, completes: false, pack: { pages: 2, missing: [0, 1], complete: false } },
      });
      for (const [number, page] of pages.entries()) await copy.putPage(sha256, number, page);
      for (const each of [copy, restart()]) {
        expect(await each.status(sha256)).toEqual({ ok: true, value: whole(sha256) });
        expect(await each.faultOf(declaredOf(pack))).toBeUndefined();
      }
      expect(state.reads.filter((key) => key.startsWith(`${packKey(sha256)}.`))).toEqual([]);
    }));

  it("have their header in KV after the last page, in whatever order they come", () =>
    withCopy(async ({ copy }) => {
      const { sha256, header, pages } = await makePack(RANGES);
      await copy.putHeader(sha256, header);
      await copy.putPage(sha256, 1, pages[1] ?? new Uint8Array());
      expect(await TABLE_KV.get(packKey(sha256))).toBeNull();
      expect(await copy.status(sha256)).toMatchObject({ value: { missing: [0], complete: false } });
      const last = await copy.putPage(sha256, 0, pages[0] ?? new Uint8Array());
      expect(last).toEqual({ ok: true, value: { isNew: true, completes: true, pack: whole(sha256) } });
      expect(new Uint8Array((await TABLE_KV.get(packKey(sha256), "arrayBuffer")) ?? new ArrayBuffer())).toEqual(header);
    }));

  it("may come twice, and go on after a day", () =>
    withCopy(async ({ copy, state, restart }) => {
      const { sha256, header, pages } = await makePack(RANGES);
      const [first = new Uint8Array(), second = new Uint8Array()] = pages;
      await copy.putHeader(sha256, header);
      await copy.putPage(sha256, 0, first);
      expect(await copy.putPage(sha256, 0, first)).toMatchObject({ value: { isNew: false } });
      expect(await copy.putHeader(sha256, header)).toMatchObject({ value: { isNew: false } });
      state.nowMs += 86_400_000;
      expect(await restart().status(sha256)).toMatchObject({ value: { missing: [1] } });
      expect(await restart().putPage(sha256, 1, second)).toMatchObject({ value: { pack: whole(sha256) } });
    }));

  it("are read again later: what was deleted or spoilt since is missing", () =>
    withCopy(async ({ copy, state }) => {
      const pack = await makePack(RANGES);
      const { sha256, pages } = pack;
      await upload(copy, pack);
      await TABLE_KV.delete(pageKey(sha256, 0));
      await TABLE_KV.put(pageKey(sha256, 1), new Uint8Array(16));
      state.nowMs += 600_000;
      expect(await copy.faultOf(declaredOf(pack))).toBe(`KV has no ${pageKey(sha256, 0)}`);
      expect(await copy.status(sha256)).toMatchObject({ value: { missing: [0, 1], complete: false } });
      for (const [number, page] of pages.entries()) {
        expect(await copy.putPage(sha256, number, page)).toMatchObject({ value: { completes: number === 1 } });
      }
      expect(await copy.status(sha256)).toEqual({ ok: true, value: whole(sha256) });
    }));

  it("become whole once, however late and how often at once their parts come again", () =>
    withCopy(async ({ copy, state }) => {
      const { sha256, header, pages } = await makePack(RANGES);
      const [first = new Uint8Array(), second = new Uint8Array()] = pages;
      await copy.putHeader(sha256, header);
      const completed = async (puts: readonly ReturnType<PackUploads["putPage"]>[]) =>
        (await Promise.all(puts)).filter((put) => put.ok && put.value.completes).length;
      const both = () => [copy.putPage(sha256, 0, first), copy.putPage(sha256, 1, second)];
      expect(await completed([...both(), ...both(), ...both()])).toBe(1);
      state.nowMs += 86_400_000;
      expect(await completed([...both(), copy.putHeader(sha256, header), ...both()])).toBe(0);
    }));

  it("may come to KV another way, and are verified then", () =>
    withCopy(async ({ copy }) => {
      const pack = await storePack(TABLE_KV, RANGES);
      expect(await copy.status(pack.sha256)).toEqual({ ok: true, value: whole(pack.sha256) });
      expect(await copy.faultOf(pack)).toBeUndefined();
      const other = { ...pack, regions: ["us", "eu"] };
      expect(await copy.faultOf(other)).toBe('the table says regions ["us","eu"], and it has ["eu","us"]');
      await TABLE_KV.put(packKey(pack.sha256), new Uint8Array(100));
      expect(await copy.faultOf(pack)).toBe("it is not a pack: its signature is missing");
    }));
});

/** A KV that hangs is waited for in real time, and one that answers must not be late. */
const SHORT = { readDeadlineMs: 500, writeDeadlineMs: 500 };

describe("a KV that fails", () => {
  it.each(["put throws", "put hangs"] as const)(
    "while parts come (%s) leaves them missing, until it takes them",
    (fault) =>
      withCopy(async ({ copy, state }) => {
        const { sha256, header, pages } = await makePack(RANGES);
        const [first = new Uint8Array(), second = new Uint8Array()] = pages;
        await copy.putHeader(sha256, header);
        await copy.putPage(sha256, 0, first);
        state.fault = fault;
        expect(await copy.putPage(sha256, 1, second)).toMatchObject({ error: { reason: "control-plane-unavailable" } });
        state.fault = undefined;
        expect(await copy.status(sha256)).toMatchObject({ value: { missing: [1] } });
        expect(await copy.putPage(sha256, 1, second)).toMatchObject({ value: { pack: whole(sha256) } });
      }, SHORT),
  );

  it.each(["get throws", "get hangs"] as const)(
    "while it is read (%s) is no answer, and a fault for who publishes",
    (fault) =>
      withCopy(async ({ copy, state }) => {
        const pack = await storePack(TABLE_KV, RANGES);
        state.fault = fault;
        expect(await copy.status(pack.sha256)).toMatchObject({ error: { reason: "control-plane-unavailable" } });
        expect(await copy.putPage(pack.sha256, 0, new Uint8Array())).toMatchObject({
          error: { reason: "control-plane-unavailable" },
        });
        expect(await copy.faultOf(pack)).toMatch(/^KV did not give pack\./);
        state.fault = undefined;
        expect(await copy.status(pack.sha256)).toEqual({ ok: true, value: whole(pack.sha256) });
      }, SHORT),
  );

  it("that took the pages and not the header is brought to it by the header", () =>
    withCopy(async ({ copy, state }) => {
      const { sha256, header, pages } = await makePack(RANGES.slice(1));
      const [page = new Uint8Array()] = pages;
      await copy.putHeader(sha256, header);
      state.fault = "header is not taken";
      expect(await copy.putPage(sha256, 0, page)).toMatchObject({ error: { reason: "control-plane-unavailable" } });
      state.fault = undefined;
      expect(await copy.status(sha256)).toMatchObject({ value: { missing: [], complete: false } });
      expect(await copy.putHeader(sha256, header)).toMatchObject({ value: { isNew: true, pack: { complete: true } } });
    }));
});
