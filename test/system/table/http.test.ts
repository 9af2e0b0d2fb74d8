import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningGateway, startGateway } from "../../../src/host/workerd/gateway.ts";
import { startWorkerd } from "../../../src/host/workerd/workerd.ts";

/** Publishing over HTTP on bare workerd, with KV and the object on disk, and a process that is killed. */

const INVOICE = "0192f0c1-7a30-8005-8240-8f3b2a1c9d78";
const folder = mkdtempSync(join(tmpdir(), "waybill-truth-"));
const origin = createServer((request, response) => response.end(request.url));
let gateway: Pick<RunningGateway, "url" | "pid" | "exited" | "stop">;

/** Sends every ID to one region. */
function tableTo(region: string): string {
  const address = origin.address();
  return tableAt(region, `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`);
}

function tableAt(region: string, ...urls: string[]): string {
  const origins = urls.map((url) => ({ url }));
  const entities = { invoice: { path: "/invoices/:id", ids: [{ layout: "iuid", service: 9 }] } };
  return JSON.stringify({
    regions: { first: { origins }, second: { origins } },
    entities,
    routes: [],
    default: region,
  });
}

const send = (method: string, path: string, revision: number, body: string) =>
  fetch(`${gateway.url}${path}`, { method, body, headers: { "if-match": `"${revision}"` } });

const pointer = (): { revision: number; digest: string } =>
  JSON.parse(readFileSync(join(folder, "kv", "table.current"), "utf8"));

async function untilTrue(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const deadlineMs = Date.now() + 20_000;
  for (;;) {
    if (await Promise.resolve(holds()).catch(() => false)) return;
    if (Date.now() > deadlineMs) throw new Error(`not within 20 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Until a request is decided by a revision; where it then goes. */
async function regionAt(revision: number): Promise<string | null> {
  let region: string | null = null;
  await untilTrue(`revision ${revision}`, async () => {
    const answer = await fetch(`${gateway.url}/invoices/${INVOICE}`, { headers: { "waybill-debug": "1" } });
    region = answer.headers.get("waybill-region");
    return answer.headers.get("waybill-table")?.startsWith(`rev=${revision};`) === true;
  });
  return region;
}

const start = (tableText: string) =>
  startGateway({
    port: 0,
    tableText,
    stateFolder: folder,
    openPages: true,
    vars: { REQUEST_LOG: "off", TABLE_REFRESH_SECONDS: "1" },
  });

beforeAll(async () => {
  await once(origin.listen(0, "127.0.0.1"), "listening");
  gateway = await start(tableTo("first"));
});

afterAll(async () => {
  await gateway.stop();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});

it("takes over what lies in the folder, and publishes after it", async () => {
  expect(await regionAt(1)).toBe("first");
  const before = await fetch(`${gateway.url}/-/table`);
  expect([before.headers.get("etag"), await before.text()]).toEqual(['"1"', tableTo("first")]);
  const made = await send("PUT", "/-/table", 1, tableTo("second"));
  expect([made.status, await made.json()]).toMatchObject([201, { revision: 2, kind: "publish", basedOn: 1 }]);
  expect(await regionAt(2)).toBe("second");
  expect((await send("PUT", "/-/table", 1, tableTo("first"))).status).toBe(412);
});

it("takes no table, for all or for some, whose origins are the gateway's own port", async () => {
  const { port } = new URL(gateway.url);
  const own = ["localhost", "127.0.0.1", "127.1.2.3", "[::1]", "[::ffff:7f00:1]"].map(
    (host) => `http://${host}:${port}`,
  );
  const table = tableAt("first", ...own);
  const kinds = new Array(2 * own.length).fill("origin-is-gateway");
  for (const host of ["127.0.0.1", "localhost"]) {
    const ask = async (method: string, path: string, body: string) => {
      const headers = { "if-match": '"2"' };
      const answer = await fetch(`http://${host}:${port}${path}`, { method, body, headers });
      const { faults } = (await answer.json()) as { faults: { kind: string }[] };
      return [answer.status, faults.map(({ kind }) => kind)];
    };
    expect(await ask("PUT", "/-/table", table)).toEqual([422, kinds]);
    expect(await ask("POST", "/-/table/check", table)).toEqual([422, kinds]);
    expect(await ask("POST", "/-/table/canary", `{"share": 5, "table": ${table}}`)).toEqual([422, kinds]);
  }
});

it("rolls back", async () => {
  const made = await send("POST", "/-/table/rollback", 2, JSON.stringify({ to: 1 }));
  expect([made.status, await made.json()]).toMatchObject([201, { revision: 3, kind: "rollback", basedOn: 1 }]);
  expect(await regionAt(3)).toBe("first");
});

it("that is killed with a revision on its way brings KV to it when it runs again", async () => {
  await untilTrue("KV at 3", () => pointer().revision === 3);
  // A folder in its place: the pointer can neither be read nor written.
  const file = join(folder, "kv", "table.current");
  const aside = join(folder, "aside");
  renameSync(file, aside);
  mkdirSync(file);
  const made = await send("PUT", "/-/table", 3, tableTo("second"));
  expect(made.status).toBe(201);
  const status = await (await fetch(`${gateway.url}/-/table/status`)).json();
  expect(status).toMatchObject({ controlPlane: { revision: 4 }, pending: true });
  expect((await fetch(`${gateway.url}/invoices/${INVOICE}`)).headers.get("waybill-region")).toBe("first");
  process.kill(gateway.pid, "SIGKILL");
  await gateway.exited;
  rmdirSync(file);
  renameSync(aside, file);
  expect(pointer().revision).toBe(3);
  gateway = await startWorkerd({ configPath: join(folder, "config.capnp"), openPages: true });
  // Nobody asks the object: its alarm alone repairs what the kill left undone.
  await untilTrue("KV at 4", () => pointer().revision === 4);
  expect(existsSync(join(folder, "kv", `table.${pointer().digest}`))).toBe(true);
  expect(await regionAt(4)).toBe("second");
  const history = await (await fetch(`${gateway.url}/-/table/revisions`)).json();
  expect(history).toMatchObject({ revisions: [4, 3, 2, 1].map((revision) => ({ revision })) });
});

it("that is started with another table keeps the published one, and its history goes on", async () => {
  await gateway.stop();
  gateway = await start(tableTo("first"));
  expect(await regionAt(4)).toBe("second");
  const status = await (await fetch(`${gateway.url}/-/table/status`)).json();
  expect(status).toMatchObject({ controlPlane: { revision: 4 }, kv: { revision: 4 }, pending: false });
  expect((await send("PUT", "/-/table", 4, tableTo("first"))).status).toBe(201);
  expect(await regionAt(5)).toBe("first");
});
