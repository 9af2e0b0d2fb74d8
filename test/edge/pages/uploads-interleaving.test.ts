import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { packKey, pageKey } from "../../../src/features/packs/table/pack.ts";
import { declaredOf, makePack, RANGES } from "./files.ts";
import { upload, whole, withCopy } from "./upload-object.ts";

const { TABLE_KV } = env as Env;

beforeEach(() => reset());

describe("parts that KV takes while it is read", () => {
  it("are there, though who looks was told that the header is not", () =>
    withCopy(async ({ copy, hold, restart }) => {
      const pack = await makePack(RANGES);
      const { sha256, header, pages } = pack;
      await copy.putHeader(sha256, header);
      await copy.putPage(sha256, 0, pages[0] ?? new Uint8Array());
      const { reached, release } = hold(`get ${packKey(sha256)}`);
      const status = copy.status(sha256);
      await reached;
      const last = await copy.putPage(sha256, 1, pages[1] ?? new Uint8Array());
      expect(last).toMatchObject({ value: { pack: whole(sha256) } });
      release();
      expect(await status).toEqual({ ok: true, value: whole(sha256) });
      expect(await restart().faultOf(declaredOf(pack))).toBeUndefined();
    }));

  it("are there, though who publishes was told that there is no such pack", () =>
    withCopy(async ({ copy, hold }) => {
      const pack = await makePack(RANGES);
      const { reached, release } = hold(`get ${packKey(pack.sha256)}`);
      const fault = copy.faultOf(declaredOf(pack));
      await reached;
      await upload(copy, pack);
      release();
      expect(await fault).toBeUndefined();
    }));

  it("are there, though who looks was told that a page is not", () =>
    withCopy(async ({ copy, hold, restart }) => {
      const pack = await makePack(RANGES);
      const { sha256, header, pages } = pack;
      await TABLE_KV.put(packKey(sha256), header);
      await TABLE_KV.put(pageKey(sha256, 0), pages[0] ?? new Uint8Array());
      const { reached, release } = hold(`get ${pageKey(sha256, 1)}`);
      const status = copy.status(sha256);
      await reached;
      await copy.putPage(sha256, 1, pages[1] ?? new Uint8Array());
      release();
      expect(await status).toEqual({ ok: true, value: whole(sha256) });
      expect(await restart().faultOf(declaredOf(pack))).toBeUndefined();
    }));

  it.each(["header", "page"] as const)("are there when they come again after KV lost them: %s", (part) =>
    withCopy(async ({ copy, state, hold, restart }) => {
      const pack = await makePack(RANGES);
      const key = part === "header" ? packKey(pack.sha256) : pageKey(pack.sha256, 1);
      await upload(copy, pack);
      await TABLE_KV.delete(key);
      state.nowMs += 600_000;
      const { reached, release } = hold(`get ${key}`);
      const fault = copy.faultOf(declaredOf(pack));
      await reached;
      await upload(copy, pack);
      release();
      expect(await fault).toBeUndefined();
      expect(await restart().faultOf(declaredOf(pack))).toBeUndefined();
    }),
  );

  it.each(["put", "get"] as const)("are not kept when their header is no longer (%s of a page)", (operation) =>
    withCopy(async ({ copy, hold, sql }) => {
      const { sha256, header, pages } = await makePack(RANGES);
      await copy.putHeader(sha256, header);
      if (operation === "get") {
        await TABLE_KV.put(packKey(sha256), header);
        await TABLE_KV.put(pageKey(sha256, 0), pages[0] ?? new Uint8Array());
      }
      const { reached, release } = hold(`${operation} ${pageKey(sha256, 0)}`);
      const first = operation === "put" ? copy.putPage(sha256, 0, pages[0] ?? new Uint8Array()) : copy.status(sha256);
      await reached;
      for (let from = 0; from < 256; from++) {
        const other = await makePack([{ from, to: from, region: "eu" }]);
        await copy.putHeader(other.sha256, other.header);
      }
      release();
      expect(await first).toMatchObject(
        operation === "put" ? { error: { reason: "unknown-pack" } } : { value: { missing: [1] } },
      );
      expect(sql.exec("SELECT sha256 FROM packs WHERE sha256 = ?", sha256).toArray()).toEqual([]);
      expect(sql.exec("SELECT sha256, page FROM pack_pages").toArray()).toEqual([]);
    }),
  );
});
