import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EncodedPack, encodePack } from "../../../src/features/packs/table/format.ts";
import { bulkOf, readPacks } from "../../../src/host/publish/publish.ts";
import { type RunningGateway, startGateway } from "../../../src/host/workerd/gateway.ts";
import { objectsOf } from "../../cli/fake-runtime.ts";
import { waybill } from "../command.ts";

/** A pack on its way to a gateway that runs: over HTTP, by the command, and from the folder that it starts with. */

const OPERATOR = "an-operator-of-this-test-alone-0123456789";
const VIEWER = "a-viewer-of-this-test-alone-0123456789";
const ADMIN_TOKENS = JSON.stringify([
  { name: "ann", scope: "operator", sha256: createHash("sha256").update(OPERATOR).digest("hex") },
  { name: "vic", scope: "viewer", sha256: createHash("sha256").update(VIEWER).digest("hex") },
]);

/** A parcel of the shard key 5500. */
const PARCEL = "6347eb00-bbaa-01cc-0201-02037c150000";

const folder = mkdtempSync(join(tmpdir(), "waybill-packs-"));
const origin = createServer((request, response) => response.end(request.url));
const sha256 = (bytes: Uint8Array) => Promise.resolve(createHash("sha256").update(bytes).digest());
let gateway: RunningGateway;

/** Two full pages and more, so that a part is as large as it may be: the key 5500 goes to a region, all else to the default. */
async function makePack(region: string): Promise<EncodedPack> {
  const ranges = Array.from({ length: 250_000 }, (_, at) => ({
    from: at * 50,
    to: at * 50 + 9,
    region: at % 2 ? "first" : "second",
  }));
  const chosen = ranges.map((range) => (range.from === 5500 ? { ...range, region } : range));
  const encoded = await encodePack(chosen, { fieldBits: 32, sha256 });
  if (!encoded.ok) throw new Error(encoded.error.reason);
  return encoded.value;
}

function tableText(pack?: EncodedPack): string {
  const address = origin.address();
  const origins = [{ url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}` }];
  const packs = pack && {
    shards: { sha256: pack.sha256, bytes: pack.bytes, ranges: pack.ranges, bits: 32, regions: pack.regions },
  };
  return JSON.stringify({
    regions: { first: { origins }, second: { origins }, rest: { origins } },
    entities: { parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] } },
    ...(packs && { packs }),
    routes: packs ? [{ when: { layout: "hotguid" }, pack: "shards" }] : [],
    default: "rest",
  });
}

function writeTable(name: string, pack: EncodedPack): string {
  const own = join(folder, name);
  mkdirSync(join(own, "packs"), { recursive: true });
  writeFileSync(join(own, "routing-table.json"), tableText(pack));
  writeFileSync(join(own, "packs", `${pack.sha256}.pack`), Buffer.concat([pack.header, ...pack.pages]));
  return own;
}

const start = (text: string, packsFolder?: string, state = "state") =>
  startGateway({
    port: 0,
    tableText: text,
    packsFolder,
    stateFolder: join(folder, state),
    vars: { REQUEST_LOG: "off", TABLE_REFRESH_SECONDS: "1", ADMIN_TOKENS },
  });

const ask = (method: string, path: string, body?: Uint8Array | string, token = OPERATOR, fields: object = {}) =>
  fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...fields },
    ...(body === undefined ? {} : { body: body as string }),
  });

const regionOf = async (): Promise<string | null> =>
  (await fetch(`${gateway.url}/parcels/${PARCEL}`)).headers.get("waybill-region");

async function untilRegion(region: string): Promise<void> {
  for (const deadlineMs = Date.now() + 20_000; (await regionOf()) !== region; ) {
    if (Date.now() > deadlineMs) throw new Error(`the parcel never went to ${region}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

beforeAll(async () => {
  await once(origin.listen(0, "127.0.0.1"), "listening");
  gateway = await start(tableText());
});

afterAll(async () => {
  await gateway.stop();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("a pack, sent to a gateway that runs", () => {
  it("part by part over HTTP, is routed by as soon as its table is published", async () => {
    expect(await regionOf()).toBe("rest");
    const pack = await makePack("second");
    const path = `/-/table/packs/${pack.sha256}`;
    const publish = () => ask("PUT", "/-/table", tableText(pack), OPERATOR, { "if-match": '"1"' });
    expect((await publish()).status).toBe(422);
    expect((await ask("PUT", path, pack.header)).status).toBe(201);
    for (const [number, page] of pack.pages.entries()) {
      expect((await publish()).status).toBe(422);
      expect((await ask("PUT", `${path}/${number}`, page)).status).toBe(201);
    }
    expect(await (await ask("GET", path, undefined, VIEWER)).json()).toMatchObject({ missing: [], complete: true });
    expect((await publish()).status).toBe(201);
    await untilRegion("second");
  });

  it("is not taken in any other form, nor from a viewer", async () => {
    const pack = await makePack("rest");
    const other = await makePack("first");
    const path = `/-/table/packs/${pack.sha256}`;
    const [page = new Uint8Array()] = pack.pages;
    const slugOf = async (answer: Response) => {
      const { type } = (await answer.json()) as { readonly type: string };
      return `${answer.status} ${type.replace("/-/problems/", "")}`;
    };
    expect(await slugOf(await ask("PUT", path, pack.header, VIEWER))).toBe("403 forbidden");
    expect(await slugOf(await ask("PUT", `${path}/0`, page))).toBe("404 unknown-pack");
    expect(await slugOf(await ask("PUT", path, new Uint8Array(65 * 1024)))).toBe("413 body-too-large");
    expect(await slugOf(await ask("PUT", path, other.header))).toBe("422 invalid-pack");
    expect((await ask("PUT", path, pack.header)).status).toBe(201);
    for (const wrong of [page.subarray(1), other.pages[0] ?? page, new Uint8Array(page.length)]) {
      expect(await slugOf(await ask("PUT", `${path}/0`, wrong))).toBe("422 invalid-pack");
    }
    expect(await slugOf(await ask("PUT", `${path}/0`, new Uint8Array(1024 * 1024 + 1)))).toBe("413 body-too-large");
    expect(await slugOf(await ask("PUT", `${path}/${pack.pages.length}`, page))).toBe("404 unknown-pack");
    expect(existsSync(join(gateway.kvFolder, `pack.${pack.sha256}.0`))).toBe(false);
    expect(existsSync(join(gateway.kvFolder, `pack.${pack.sha256}`))).toBe(false);
  });

  it("by the command, goes before its table, once", async () => {
    const pack = await makePack("first");
    const cwd = writeTable("published", pack);
    const run = (...args: readonly string[]) =>
      waybill(["table", ...args], { cwd, env: { WAYBILL_GATEWAY: gateway.url, WAYBILL_TOKEN: OPERATOR } });
    const parts = pack.pages.length + 1;
    const planned = await run("plan", "routing-table.json", "--json");
    expect(objectsOf(planned.stdout)[0]).toMatchObject({ uploads: [{ pack: "shards", parts, bytes: pack.bytes }] });
    const published = await run("publish", "routing-table.json", "--yes");
    expect(published.stderr).toContain(`uploaded pack shards: ${parts} parts`);
    expect(published.code).toBe(0);
    await untilRegion("first");
    expect((await run("upload-packs", "routing-table.json", "--json")).stdout).toBe('{"uploaded":[]}\n');
  });
});

describe("a pack of the table that a gateway starts with", () => {
  it("is put into its KV before the table", async () => {
    await gateway.stop();
    const pack = await makePack("rest");
    const own = writeTable("started", pack);
    gateway = await start(tableText(pack), join(own, "packs"), "new");
    await untilRegion("rest");
    const status = await ask("GET", `/-/table/packs/${pack.sha256}`, undefined, VIEWER);
    expect(await status.json()).toMatchObject({ pages: pack.pages.length, missing: [], complete: true });
  });

  it("has to be there, and to be what the table says", async () => {
    const pack = await makePack("second");
    await expect(start(tableText(pack), undefined, "refused")).rejects.toThrow(
      "the table has packs (shards), but no packs folder was given",
    );
    const own = writeTable("broken", pack);
    const packs = join(own, "packs");
    const file = join(packs, `${pack.sha256}.pack`);
    const other = { ...pack, regions: ["rest"] };
    expect(await readPacks(tableText(other), packs)).toMatchObject({
      error: expect.stringContaining('the table says regions ["rest"]'),
    });
    writeFileSync(file, pack.header);
    await expect(start(tableText(pack), packs, "refused")).rejects.toThrow(/^pack shards: .* it has \d+ bytes of \d+$/);
    rmSync(file);
    await expect(start(tableText(pack), packs, "refused")).rejects.toThrow(/^pack shards: .* cannot be read$/);
  });

  it("goes to another KV in one file, octet for octet", async () => {
    const pack = await makePack("second");
    const packs = await readPacks(tableText(pack), join(writeTable("bulk", pack), "packs"));
    if (!packs.ok) throw new Error(packs.error);
    const entries = JSON.parse(packs.value.map(bulkOf)[0] ?? "[]") as { key: string; value: string; base64: boolean }[];
    expect(entries.map(({ key }) => key)).toEqual([
      ...pack.pages.map((_, number) => `pack.${pack.sha256}.${number}`),
      `pack.${pack.sha256}`,
    ]);
    const bytes = Buffer.concat(entries.map(({ value }) => Buffer.from(value, "base64")));
    expect(bytes.equals(Buffer.concat([...pack.pages, pack.header]))).toBe(true);
  });
});
