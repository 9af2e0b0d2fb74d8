import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MEMBERS } from "../../src/features/members.ts";
import { bundleWorker } from "../../src/host/workerd/bundle.ts";
import { serveWorker } from "../../src/host/workerd/gateway.ts";
import { copyProduct, FEATURES, goneWith, leaveOut } from "../rules/zones/left-out.ts";
import { ROOT } from "../rules/zones/zones.ts";
import { idWith } from "./hostile/gateway.ts";
import { startRecordingOrigins } from "./stack.ts";

/** The product without one feature: types hold, IDs are routed, and a table that uses the feature is refused with its name. */

const TABLE = {
  countries: {},
  entities: { parcel: { ids: [{ layout: "hotguid" }], path: "/parcels/:id" } },
  routes: [{ when: { layout: "hotguid", shardKey: "1" }, region: "eu" }],
  moved: {},
};

/** Tables with one member of a feature each. */
const tablesWith = (feature: string, table: object): readonly object[] => {
  const own = (level: keyof typeof MEMBERS) =>
    Object.entries(MEMBERS[level] ?? {}).flatMap(([member, owner]) => (owner.feature === feature ? [member] : []));
  const { parcel } = TABLE.entities;
  return [
    ...own("table").map((member) => ({ ...table, [member]: {} })),
    ...own("region").map((member) => {
      const [[name, region] = ["", {}], ...others] = Object.entries((table as { regions: object }).regions);
      return { ...table, regions: { ...Object.fromEntries(others), [name]: { ...region, [member]: {} } } };
    }),
    ...own("entity").map((member) => ({ ...table, entities: { parcel: { ...parcel, [member]: {} } } })),
    ...own("withoutId").map((member) => ({
      ...table,
      withoutId: { pages: { path: "/pages", sources: [{ header: "x-region" }], [member]: {} } },
    })),
    ...own("route").map((member) => ({ ...table, routes: [...TABLE.routes, { when: {}, [member]: "x" }] })),
  ];
};

describe.each(FEATURES)("without %s", (feature) => {
  const gone = goneWith(feature);
  let copy = "";
  beforeAll(() => {
    copy = copyProduct();
    leaveOut(copy, gone);
  });
  afterAll(() => rmSync(copy, { recursive: true }));

  it("types hold", () => {
    const tsc = join(ROOT, "node_modules/typescript-7/bin/tsc");
    const { stdout, status } = spawnSync(process.execPath, [tsc, "--build", "src"], { cwd: copy, encoding: "utf8" });
    expect([stdout, status]).toEqual(["", 0]);
  });

  it("IDs go to their region, and a table that uses it is refused with its name", async () => {
    const stateFolder = mkdtempSync(join(tmpdir(), "waybill-"));
    const { declared, recorded, stop } = await startRecordingOrigins();
    const table = { ...TABLE, regions: declared.regions };
    const tableText = JSON.stringify(table);
    const worker = await bundleWorker({ tableText, entries: { worker: join(copy, "src/worker.ts") } });
    const gateway = await serveWorker(worker, {
      port: 0,
      tableText,
      stateFolder,
      openPages: true,
      vars: { REQUEST_LOG: "off" },
    });
    try {
      const got = await fetch(`${gateway.url}/parcels/${idWith(1)}`);
      expect([got.status, await got.text()]).toEqual([200, "eu"]);
      expect(recorded.map(({ region }) => region)).toEqual(["eu"]);
      const unknown = await fetch(`${gateway.url}/parcels/${idWith(2)}`);
      expect(unknown.status).toBe(404);
      const check = async (body: object) => {
        const response = await fetch(`${gateway.url}/-/table/check`, { method: "POST", body: JSON.stringify(body) });
        return { status: response.status, text: await response.text() };
      };
      expect(await check(table)).toMatchObject({ status: 200 });
      for (const lost of gone) {
        for (const using of tablesWith(lost, table)) {
          const answer = await check(using);
          expect([answer.status, answer.text]).toEqual([
            422,
            expect.stringContaining(`is of the feature ${lost}, which this build leaves out`),
          ]);
        }
      }
    } finally {
      await gateway.stop();
      await stop();
      rmSync(stateFolder, { recursive: true, force: true });
    }
  });
});
