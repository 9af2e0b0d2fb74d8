import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { processRuntime } from "../../../src/cli/process-runtime.ts";
import { run } from "../../../src/cli/program.ts";
import type { Runtime } from "../../../src/cli/runtime.ts";
import { type RunningGateway, startGateway } from "../../../src/host/workerd/gateway.ts";
import { tableOf } from "../../package/upgrade/world.ts";

/** The state of one machine on another; all that a gateway keeps, in larger numbers and from an earlier version: test/package. */

const root = mkdtempSync(join(tmpdir(), "waybill-moving-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const { routes: _, ...table } = tableOf("http://127.0.0.1:9", "ap");
const tableText = JSON.stringify({ ...table, routes: [], default: "eu" });
const vars = { REQUEST_LOG: "off", REPORT_SECONDS: "1", TABLE_REFRESH_SECONDS: "0.5" };
const serve = (state: string): Promise<RunningGateway> =>
  startGateway({ port: 0, stateFolder: join(root, state), tableText, openPages: true, vars });

/** The command in this process. `requestsMax`: later ones find no gateway. */
async function waybill(words: readonly string[], requestsMax = Number.POSITIVE_INFINITY) {
  let requests = 0;
  let said = "";
  const runtime: Runtime = {
    ...processRuntime,
    isReportWatched: false,
    async print(text) {
      said += text;
    },
    report(text) {
      said += text;
    },
    pause: async () => undefined,
    async fetch(...request) {
      if (++requests > requestsMax) throw new TypeError("cut off by the test");
      return fetch(...request);
    },
  };
  return { code: await run(words, runtime), said, requests };
}

const post = async (gateway: RunningGateway, path: string, body: object, fields = {}) => {
  const headers = { "content-type": "application/json", ...fields };
  const answer = await fetch(gateway.url + path, { method: "POST", body: JSON.stringify(body), headers });
  return { status: answer.status, text: await answer.text(), replayed: answer.headers.get("idempotent-replayed") };
};
const mint = (gateway: RunningGateway, key: string) =>
  post(gateway, "/mint", { entity: "person", count: 3 }, { "idempotency-key": key });
const primaryKeys = (text: string): readonly number[] =>
  (JSON.parse(text).ids as string[]).map((id) => Number.parseInt(id.slice(0, 13).replace("-", ""), 16));
const historyOf = async (gateway: RunningGateway): Promise<unknown> =>
  Promise.all(["revisions", "audit"].map(async (name) => (await fetch(`${gateway.url}/-/table/${name}`)).json()));

/** All lines but the times of the export and of alarms. */
const linesOf = (path: string): readonly string[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .slice(1, -2)
    .map((line) => line.replace(/"alarm":\d+/, '"alarm":1'));

const file = join(root, "one.state");
let before: { readonly minted: string; readonly history: unknown };

beforeAll(async () => {
  const gateway = await serve("one");
  const claim = { owner: "1", operation: "a", region: "us", leaseSeconds: 3_600 };
  const key = await fetch(`${gateway.url}/-/directory/slug/ada`, { method: "PUT", body: JSON.stringify(claim) });
  expect(key.ok).toBe(true);
  const second = JSON.stringify({ ...JSON.parse(tableText), default: "us" });
  const published = await fetch(`${gateway.url}/-/table`, {
    method: "PUT",
    headers: { "if-match": '"1"' },
    body: second,
  });
  expect(published.status).toBe(201);
  const minted = await mint(gateway, "key-of-one");
  expect(minted).toMatchObject({ status: 201, replayed: null });
  before = { minted: minted.text, history: await historyOf(gateway) };
  await gateway.stop();
  expect(await waybill(["state", "export", "--state", join(root, "one"), "--out", file])).toMatchObject({ code: 0 });
});

it("an import that is cut off anywhere goes on, and the gateway after it", async () => {
  const state = join(root, "two");
  const words = ["state", "import", file, "--state", state];
  // Each run gets a little further than the one before.
  let cuts = 0;
  for (let requestsMax = 1; ; requestsMax += 3) {
    const last = await waybill(words, requestsMax);
    if (last.code === 0) break;
    expect(last.said).toContain("cut off by the test");
    cuts += 1;
  }
  expect(cuts).toBeGreaterThan(2);
  const again = join(root, "two.state");
  expect(await waybill(["state", "export", "--state", state, "--out", again])).toMatchObject({ code: 0 });
  expect(linesOf(again)).toEqual(linesOf(file));

  const gateway = await serve("two");
  try {
    expect(await historyOf(gateway)).toEqual(before.history);
    const replayed = await mint(gateway, "key-of-one");
    expect([replayed.text, replayed.status]).toEqual([before.minted, 201]);
    const next = await mint(gateway, "another-key");
    // Behind the block of 64 that the first gateway had reserved.
    expect(primaryKeys(next.text)[0]).toBe((primaryKeys(before.minted)[0] ?? 0) + 64);
    const key = await fetch(`${gateway.url}/-/directory/slug/ada`);
    expect(await key.json()).toMatchObject({ state: "reserved", owner: "1" });
    const status = await fetch(`${gateway.url}/-/table/status`);
    expect(await status.json()).toMatchObject({ controlPlane: { revision: 2 }, kv: { revision: 2 } });
    const used = await waybill(["state", "import", file, "--gateway", gateway.url, "--sequence-gap", "5"]);
    expect(used).toMatchObject({ code: 1, said: expect.stringContaining("nothing was imported") });
  } finally {
    await gateway.stop();
  }
});

it("a running gateway that is empty takes a state, and gives one; given up, it is empty again", async () => {
  const gateway = await serve("three");
  try {
    const words = ["state", "import", file, "--gateway", gateway.url];
    expect((await waybill(words, 9)).code).toBe(1);
    expect((await mint(gateway, "key-of-one")).status).toBe(503);
    const discarded = await waybill([...words, "--discard"]);
    expect(discarded, discarded.said).toMatchObject({ code: 0 });
    const imported = await waybill(words);
    expect(imported, imported.said).toMatchObject({ code: 0 });
    expect(await historyOf(gateway)).toEqual(before.history);
    expect((await mint(gateway, "key-of-one")).text).toBe(before.minted);
    const path = join(root, "three.state");
    expect(await waybill(["state", "export", "--gateway", gateway.url, "--out", path])).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(path, "utf8").split("\n")[0] ?? "")).toMatchObject({ from: "running" });
    const verified = await waybill(["state", "verify", path, "--gateway", gateway.url]);
    expect(verified, verified.said).toMatchObject({ code: 0 });
    const served = await waybill(["state", "export", "--state", join(root, "three"), "--out", join(root, "no.state")]);
    expect(served).toMatchObject({ code: 1, said: expect.stringContaining("is the state of a running gateway") });
  } finally {
    await gateway.stop();
  }
});

const PAGE = readFileSync(new URL("../../../docs/operate/moving.md", import.meta.url), "utf8");

/** The commands of the page's blocks about a state, with places of this test. */
const commandsIn = (block: number, url: string): readonly (readonly string[])[] => {
  const blocks = [...PAGE.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = ""]) => text);
  const lines = (blocks[block] ?? "").split("\n").filter((line) => line.startsWith("waybill state "));
  return lines.map((line) =>
    line
      .replaceAll("/var/lib/waybill-new", join(root, "page-new"))
      .replaceAll("/var/lib/waybill", join(root, "one"))
      .replaceAll(/"waybill-\$\(date \+%F\)\.state"|waybill\.state/g, join(root, "page.state"))
      .replaceAll(/https:\/\/\w+\.example\.com/g, url)
      .split(" ")
      .slice(1),
  );
};

it("docs/operate/moving.md has the commands", async () => {
  const moves = commandsIn(0, "");
  expect(moves.map(([, name]) => name)).toEqual(["export", "verify", "import"]);
  for (const words of moves) expect(await waybill(words), words.join(" ")).toMatchObject({ code: 0 });
  const gateway = await serve("page");
  try {
    const overHttp = [...commandsIn(1, gateway.url), ...commandsIn(2, gateway.url)];
    expect(overHttp.map(([, name]) => name)).toEqual(["import", "export", "export"]);
    for (const words of overHttp) expect(await waybill(words), words.join(" ")).toMatchObject({ code: 0 });
  } finally {
    await gateway.stop();
  }
});
