import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { workerdConfig } from "../../../src/host/workerd/config.ts";
import { COMPATIBILITY_DATE } from "../../../src/host/workerd/config-text.ts";
import { WORKER_FOLDER, writeWorker } from "../../../src/host/workerd/modules.ts";
import { workerWith } from "../../../src/host/workerd/table-modules.ts";
import { CONFIG_FILE, type RunningWorkerd, startWorkerd } from "../../../src/host/workerd/workerd.ts";

/**
 * Four gateways that share the objects of one of them, as isolates of Cloudflare do: four Workers in one process of workerd,
 * each with a memory of its own. A Worker before them sends each request to the gateway that it names.
 */

const GATEWAYS = 4;
const CLAIMS = 1_000;
const folder = mkdtempSync(join(tmpdir(), "waybill-directory-"));
let running: RunningWorkerd;

const TABLE = {
  regions: { eu: { origins: [{ url: "http://127.0.0.1:9" }] }, us: { origins: [{ url: "http://127.0.0.1:9" }] } },
  entities: { shop: { path: "/shops/:id", directory: "slug" } },
  directory: { slug: { key: { text: "lower" } } },
  routes: [],
};

const FRONT = `
export default {
  fetch: (request, env) => env["G" + request.headers.get("x-gateway")].fetch(request),
};
`;

/** The configuration of one gateway, as that of several: the first has the objects, the others call them. */
function fourGateways(config: string): string {
  const [head = "", rest = ""] = config.split("const waybill :Workerd.Worker = (");
  const [body = ""] = rest.split("\n);\n");
  const shared = body
    .replaceAll(
      /durableObjectNamespace = "(\w+)"/g,
      'durableObjectNamespace = (className = "$1", serviceName = "waybill")',
    )
    .replace(/ {2}durableObjectNamespaces = \[[^\]]*\],\n/, "")
    .replace(/ {2}durableObjectStorage = [^\n]*\n/, "");
  const others = Array.from({ length: GATEWAYS - 1 }, (_, at) => `gateway${at + 1}`);
  const services = [...others, "front"].map((name) => `    (name = "${name}", worker = .${name}),\n`).join("");
  const names = ["waybill", ...others];
  const bindings = names.map((name, at) => `    (name = "G${at}", service = "${name}"),\n`).join("");
  return [
    head
      .replace("  services = [\n", `  services = [\n${services}`)
      .replace('service = "waybill")]', 'service = "front")]'),
    `const waybill :Workerd.Worker = (${rest}`,
    ...others.map((name) => `const ${name} :Workerd.Worker = (${shared}\n);\n`),
    `const front :Workerd.Worker = (
  modules = [(name = "front.js", esModule = ${JSON.stringify(FRONT)})],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  bindings = [\n${bindings}  ],\n);\n`,
  ].join("");
}

const start = async () => {
  running = await startWorkerd({ configPath: join(folder, CONFIG_FILE), openPages: true });
};

beforeAll(async () => {
  const kvFolder = join(folder, "kv");
  const durableObjectsFolder = join(folder, "objects");
  for (const each of [kvFolder, durableObjectsFolder]) mkdirSync(each);
  const worker = await workerWith(JSON.stringify(TABLE));
  writeWorker(folder, worker);
  const vars = { CLIENT_ADDRESS: "socket", REQUEST_LOG: "off", REPORT_SECONDS: "0" };
  const config = workerdConfig({
    address: "127.0.0.1:0",
    kvFolder,
    durableObjectsFolder,
    workerFolder: WORKER_FOLDER,
    modules: worker.map(({ name }) => name),
    vars,
  });
  writeFileSync(join(folder, CONFIG_FILE), fourGateways(config));
  await start();
});

afterAll(async () => {
  await running?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const send = async (gateway: number, method: string, key: string, body?: object) => {
  const response = await fetch(`${running.url}/-/directory/slug/${key}`, {
    method,
    headers: { "x-gateway": String(gateway) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: JSON.parse(text || "{}") as Record<string, unknown> };
};

it(`${CLAIMS} claims of one name at once from ${GATEWAYS} gateways: one wins, also after a crash`, async () => {
  const claims = Array.from({ length: CLAIMS }, (_, at) =>
    send(at % GATEWAYS, "PUT", "My-Shop", { owner: `shop-${at}`, operation: `op-${at}`, region: at % 2 ? "eu" : "us" }),
  );
  const answers = await Promise.all(claims);
  const winner = answers.findIndex(({ status }) => status === 200);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(CLAIMS - 1);
  const owner = { owner: `shop-${winner}`, operation: `op-${winner}` };
  process.kill(running.pid, "SIGKILL");
  await running.exited;
  await start();
  // From each gateway: the same claim again, and a claim of another.
  const again = { ...owner, region: winner % 2 ? "eu" : "us" };
  for (let gateway = 0; gateway < GATEWAYS; gateway++) {
    expect(await send(gateway, "PUT", "my-shop", again)).toMatchObject({ status: 200, json: { state: "reserved" } });
    const other = { owner: "late", operation: "late", region: "eu" };
    expect((await send(gateway, "PUT", "my-shop", other)).status).toBe(409);
  }
  const confirmed = await send(1, "POST", "my-shop", { action: "confirm", ...owner });
  expect(confirmed).toMatchObject({ status: 200, json: { state: "confirmed", owner: owner.owner } });
  for (let gateway = 0; gateway < GATEWAYS; gateway++) {
    const late = await send(gateway, "PUT", "my-shop", { owner: "late", operation: "late", region: "eu" });
    expect(late).toMatchObject({ status: 412, json: { type: "/-/problems/key-taken" } });
    expect(await send(gateway, "GET", "my-shop")).toMatchObject({ json: { owner: owner.owner, state: "confirmed" } });
  }
}, 120_000);

it("claims of many names by many owners: each name has one owner, and each owner knows whether it is the one", async () => {
  const names = Array.from({ length: 40 }, (_, at) => `name-${at}`);
  const claims = names.flatMap((name) =>
    Array.from({ length: 10 }, async (_, at) => {
      const owner = { owner: `o${at}`, operation: `${name}-${at}` };
      const reserved = await send(at % GATEWAYS, "PUT", name, { ...owner, region: "eu" });
      if (reserved.status !== 200) return { name, isOwner: false, owner: owner.owner };
      const { status } = await send((at + 1) % GATEWAYS, "POST", name, {
        action: at % 3 ? "confirm" : "release",
        ...owner,
      });
      return { name, isOwner: status === 200, owner: owner.owner };
    }),
  );
  const ended = await Promise.all(claims);
  for (const name of names) {
    const owners = ended.filter((claim) => claim.name === name && claim.isOwner);
    expect(owners.length, name).toBeLessThanOrEqual(1);
    const entry = await send(2, "GET", name);
    expect(entry.json["owner"], name).toBe(owners[0]?.owner);
  }
}, 60_000);
