import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { encodePack } from "../../../src/features/packs/table/format.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { fakeControlPlane, type Override, problem } from "../fake-control-plane.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const digest = (bytes: Uint8Array) => Promise.resolve(createHash("sha256").update(bytes).digest());

/** A pack of three pages, and the table that names it. */
const makeTable = async () => {
  const ranges = [0, 1000, 2000].map((from) => ({ from, to: from + 9, region: "us" }));
  const encoded = await encodePack(ranges, { fieldBits: 32, sha256: digest, rangesPerPage: 1 });
  if (!encoded.ok) throw new Error(encoded.error.reason);
  const { sha256, header, pages, bytes, regions } = encoded.value;
  const shards = { sha256, bytes, ranges: 3, bits: 32, regions };
  const routes = [{ when: { layout: "hotguid" }, pack: "shards" }, ...DECLARED_TABLE.routes];
  return {
    sha256,
    bytes,
    file: Buffer.concat([header, ...pages]),
    table: { ...DECLARED_TABLE, packs: { shards }, routes },
  };
};

/** A control plane that keeps one pack, and a folder with the table and the pack. */
const setUp = async () => {
  const { sha256, bytes, file, table } = await makeTable();
  const plane = fakeControlPlane(DECLARED_TABLE);
  const files = tableFiles(table);
  const packFile = `packs/${sha256}.pack`;
  files.write(packFile, file);
  const stored = { header: false, missing: new Set([0, 1, 2]), fails: undefined as number | undefined };
  const override: Override = ({ method, url }) => {
    const [, name, page] = /^\/-\/table\/packs\/([0-9a-f]{64})(?:\/(\d+))?$/.exec(url) ?? [];
    if (name !== sha256) return undefined;
    if (method === "PUT" && page === undefined) stored.header = true;
    if (method === "PUT" && page !== undefined) {
      if (stored.fails === Number(page)) return problem(503, "control-plane-unavailable", "KV did not take it.");
      stored.missing.delete(Number(page));
    }
    const missing = [...stored.missing];
    return {
      body: stored.header
        ? { sha256, header: true, pages: 3, missing, complete: missing.length === 0 }
        : { sha256, header: false, pages: null, missing: null, complete: false },
    };
  };
  plane.override = override;
  const run = (...args: readonly string[]) => waybill(["table", ...args], { files, ...plane.access });
  /** Paths put since the last time, with `pack` for the pack's path. */
  const put = () =>
    plane.asked
      .splice(0)
      .filter(({ method }) => method !== "GET")
      .map(({ method, url }) => `${method} ${url.replace(`/-/table/packs/${sha256}`, "pack")}`);
  return { plane, override, stored, files, run, put, sha256, bytes, packFile };
};

describe.concurrent("packs of a table that is published", () => {
  it("are sent before it, header first, and said before", async () => {
    const { run, put, bytes } = await setUp();
    const { stdout, stderr, code } = await run("publish", "routing-table.json", "--yes");
    expect(stderr).toContain(`to upload first: pack shards: 4 parts, ${bytes} B\n`);
    expect(stderr).toContain("uploaded pack shards: 4 parts");
    expect({ stdout, code }).toMatchObject({ stdout: expect.stringContaining("accepted: revision 2"), code: 0 });
    expect(put()).toEqual(["PUT pack", "PUT pack/0", "PUT pack/1", "PUT pack/2", "PUT /-/table"]);
  });

  it("are not said to have arrived where none has", async () => {
    const { run, plane, override } = await setUp();
    plane.override = (asked) =>
      asked.method === "PUT" ? problem(403, "forbidden", "No.", { needs: "operator" }) : override(asked);
    const { stderr, code } = await run("publish", "routing-table.json", "--yes");
    expect(code).toBe(1);
    expect(stderr).toContain("error: No. (forbidden, 403)\n");
    expect(stderr).not.toMatch(/arrived|stay/);
  });

  it("are sent no further than where they fail, and from there on the next time", async () => {
    const { run, put, stored, plane } = await setUp();
    stored.fails = 1;
    const failed = await run("publish", "routing-table.json", "--yes");
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain("(control-plane-unavailable, 503)\n");
    expect(failed.stderr).toContain(
      "  2 of 4 parts of pack shards arrived and are kept; run the same command to send the rest\n",
    );
    expect(failed.stderr).toMatch(/nothing was published\n$/);
    expect([put(), plane.revisions.length]).toEqual([["PUT pack", "PUT pack/0", "PUT pack/1"], 1]);
    stored.fails = undefined;
    expect((await run("publish", "routing-table.json", "--yes", "--json")).code).toBe(0);
    expect(put()).toEqual(["PUT pack/1", "PUT pack/2", "PUT /-/table"]);
  });

  it("are not sent if they are there, and wait for the answer to the question", async () => {
    const { run, put, stored } = await setUp();
    expect((await run("publish", "routing-table.json")).code).toBe(64);
    expect(put()).toEqual([]);
    Object.assign(stored, { header: true, missing: new Set() });
    expect((await run("publish", "routing-table.json", "--yes")).code).toBe(0);
    expect(put()).toEqual(["PUT /-/table"]);
  });

  it("are sent for a canary, and for a roll-back from the folder at hand", async () => {
    const { files, run, put, stored, packFile } = await setUp();
    await run("canary", "routing-table.json", "--share", "5", "--yes");
    expect(put().slice(-2)).toEqual(["PUT pack/2", "POST /-/table/canary"]);
    await run("promote", "--yes", "--expect", "2");
    files.write("/plain/routing-table.json", JSON.stringify(DECLARED_TABLE));
    await run("publish", "/plain/routing-table.json", "--yes");
    put();
    stored.missing.add(2);
    expect((await run("rollback", "3", "--yes")).code).toBe(0);
    expect(put()).toEqual(["PUT pack/2", "POST /-/table/rollback"]);
    await run("rollback", "1", "--yes");
    stored.missing.add(2);
    files.remove(packFile);
    put();
    const refused = await run("rollback", "3", "--yes");
    expect(refused.stderr).toMatch(
      /^error: the gateway is missing parts of pack shards, and packs\/[0-9a-f]{64}\.pack cannot/,
    );
    expect([refused.code, put()]).toEqual([1, []]);
  });

  it("are announced by the plan, which nothing else may stand against", async () => {
    const { run, plane, override, sha256, bytes } = await setUp();
    const pack = { pointer: "/packs/shards", kind: "pack", message: "The pack cannot be used: KV has no header." };
    const verdictOf = (faults: readonly object[]) => {
      const { length: faultCount } = faults;
      plane.override = (asked) =>
        asked.url === "/-/table/check"
          ? problem(422, "invalid-table", "The table has faults.", { faults, faultCount })
          : override(asked);
    };
    verdictOf([pack]);
    const { stdout, code } = await run("plan", "routing-table.json", "--json");
    expect(code).toBe(0);
    expect(objectsOf(stdout)[0]).toMatchObject({ uploads: [{ pack: "shards", sha256, parts: 4, bytes }] });
    expect((await run("plan", "routing-table.json")).stdout).toContain("to upload first\n  pack shards: 4 parts");
    verdictOf([pack, { ...pack, pointer: "/packs/other" }]);
    expect(await run("plan", "routing-table.json")).toMatchObject({ code: 1, stdout: "" });
  });
});

describe.concurrent("waybill table upload-packs", () => {
  it("sends them alone, and says when there is nothing to send", async () => {
    const { run, put, sha256, bytes } = await setUp();
    const first = await run("upload-packs", "routing-table.json", "--json");
    expect(objectsOf(first.stdout)).toEqual([{ uploaded: [{ pack: "shards", sha256, parts: 4, bytes }] }]);
    expect([first.stderr, put().length]).toEqual(["", 4]);
    const again = await run("upload-packs", "routing-table.json");
    expect(again).toEqual({ stdout: "the gateway has the pack of routing-table.json\n", stderr: "", code: 0 });
  });

  it("makes a pack whole whose pages are all there", async () => {
    const { run, put, plane, override, sha256 } = await setUp();
    let isWhole = false;
    plane.override = (asked) => {
      if (!asked.url.startsWith("/-/table/packs/")) return override(asked);
      isWhole ||= asked.method === "PUT";
      return { body: { sha256, header: true, pages: 3, missing: [], complete: isWhole } };
    };
    expect((await run("upload-packs", "routing-table.json")).code).toBe(0);
    expect(put()).toEqual(["PUT pack"]);
  });

  it("refuses a file that is not the pack before it asks", async () => {
    const { files, run, plane, packFile } = await setUp();
    files.write(packFile, "something else");
    const { stderr, code } = await run("upload-packs", "routing-table.json");
    expect(stderr).toContain("it is not a pack");
    expect([code, plane.asked]).toEqual([1, []]);
  });
});
