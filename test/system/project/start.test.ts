import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runningOn } from "../../../src/host/workerd/workerd.ts";
import { MAIN, type Started, scratch, start, stopAll } from "./started.ts";

/** `waybill start`: a table that a team works on, with stand-ins for origins that are not there. */

/** Ports that were free a moment ago: nothing listens there. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) server.close();
  return ports;
}

const originOf = (region: string) =>
  createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ real: region, path: request.url }));
  });

const EU = "/eu/basket";
const US = "/us/basket";

/** Regions of the two paths without an ID. */
const paths = (eu: string, us: string) => ({
  eu: { path: EU, sources: [{ region: eu }] },
  us: { path: US, sources: [{ region: us }] },
});

const tableOf = (regions: Readonly<Record<string, string>>, change: object = {}) =>
  `// Comments are welcome.\n${JSON.stringify(
    {
      regions: Object.fromEntries(Object.entries(regions).map(([name, url]) => [name, { origins: [{ url }] }])),
      entities: { order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 9 }] } },
      withoutId: paths("eu", "us"),
      routes: [],
      default: "eu",
      ...change,
    },
    null,
    2,
  )}\n`;

const ADMIN_TOKENS = JSON.stringify([{ name: "me", scope: "operator", sha256: "0".repeat(64) }]);

const folder = scratch();
const tableFile = join(folder, "routing-table.json");
const state = join(folder, ".waybill/default");
const us = originOf("us");
let eu = 0;
let ap = 0;
let urls: Readonly<Record<string, string>> = {};
let project: Started;

const ask = async (path: string, init?: RequestInit) => {
  const response = await fetch(project.url + path, init);
  const json: unknown = await response.json();
  return { status: response.status, region: response.headers.get("waybill-region"), json };
};

beforeAll(async () => {
  await once(us.listen(0, "127.0.0.1"), "listening");
  [eu = 0, ap = 0] = await freePorts(2);
  urls = {
    eu: `http://localhost:${eu}`,
    us: `http://127.0.0.1:${(us.address() as AddressInfo).port}`,
    far: "https://far.example.com",
  };
  writeFileSync(tableFile, tableOf(urls));
  project = await start(folder, ["--port", "0"]);
});

afterAll(async () => {
  await stopAll();
  us.closeAllConnections();
  us.close();
});

describe("the screen", () => {
  it("says which origins are stand-ins, and ends with the console's address", () => {
    const printed = project.output();
    expect(printed).not.toContain("replaced");
    expect(printed).toMatch(new RegExp(`eu +http://localhost:${eu} +stand-in: nothing listens there`));
    expect(printed.match(/stand-in/g)).toHaveLength(1);
    expect(printed).toContain("routing-table.json, revision 1; published again whenever it is saved");
    const { port } = new URL(project.url);
    expect(printed.trimEnd().split("\n").at(-1)).toBe(`console http://console.localhost:${port}`);
    expect(printed.split("\n").length).toBeLessThan(24);
  });

  it("has a request for each entity that works as it stands", async () => {
    const [, url = ""] = /^ {2}curl -i (\S+\/orders\/\S+)$/m.exec(project.output()) ?? [];
    const response = await fetch(url);
    expect([response.status, response.headers.get("waybill-region")]).toEqual([200, "eu"]);
  });
});

describe("an origin where nothing listens", () => {
  it("has a stand-in that answers with what it got, and remembers what is PUT", async () => {
    expect(await ask(`${EU}?a=%20b`)).toMatchObject({
      status: 200,
      region: "eu",
      json: { standsInFor: urls["eu"], region: "eu", method: "GET", path: `${EU}?a=%20b`, entity: null },
    });
    expect((await ask(EU, { method: "PUT", body: '{"total":42}' })).status).toBe(201);
    expect((await ask(EU)).json).toMatchObject({ entity: { total: 42 } });
    expect((await ask(EU, { method: "DELETE" })).status).toBe(200);
    expect((await ask(EU)).json).toMatchObject({ entity: null });
  });

  it("has a stand-in also when a saved table names it first", async () => {
    project.forget();
    const withAp = { ...urls, ap: `http://127.0.0.1:${ap}` };
    writeFileSync(tableFile, tableOf(withAp, { withoutId: paths("eu", "ap") }));
    await project.printed(/the table is published: revision 2, in force after/);
    expect(await ask(US)).toMatchObject({ status: 200, region: "ap", json: { standsInFor: withAp.ap } });
    await project.printed(new RegExp(`nothing listens at http://127.0.0.1:${ap}: a stand-in answers for it`));
    writeFileSync(tableFile, tableOf(urls));
    await project.printed(/the table is published: revision 3/);
  });
});

/** The gateway tries an origin that failed again after a while. */
async function untilReal(): Promise<void> {
  while ((await ask(EU)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 100));
}

describe("an origin that is there", () => {
  it("is never replaced", async () => {
    expect((await ask(US)).json).toEqual({ real: "us", path: US });
  });

  it("takes over from its stand-in once it listens, and has none when it is gone again", async () => {
    project.forget();
    const late = originOf("eu");
    await once(late.listen(eu, "localhost"), "listening");
    expect((await ask(EU)).json).toEqual({ real: "eu", path: EU });
    await project.printed(new RegExp(`http://localhost:${eu} answers now: its stand-in is gone`));
    late.closeAllConnections();
    await new Promise((resolve) => late.close(resolve));
    expect((await ask(EU)).status).toBeGreaterThanOrEqual(502);
    const words = "it has no stand-in until the next start, so requests get 502";
    await project.printed(new RegExp(`nothing listens at http://localhost:${eu} any more: ${words}`));
    expect((await ask(EU)).status).toBeGreaterThanOrEqual(502);
    const again = originOf("eu");
    await once(again.listen(eu, "localhost"), "listening");
    await untilReal();
    await project.printed(new RegExp(`http://localhost:${eu} answers again`));
    expect(project.output().match(/any more/g)).toHaveLength(1);
    again.closeAllConnections();
    await new Promise((resolve) => again.close(resolve));
  });
});

it("keeps the table in force when a faulty one is saved, and prints the faults", async () => {
  project.forget();
  writeFileSync(tableFile, tableOf(urls, { default: "mars" }));
  await project.printed(/the table is not published; the previous one stays/);
  expect(project.output()).toMatch(/routing-table\.json:\d+:\d+: \/default: /);
  expect((await ask(US)).json).toEqual({ real: "us", path: US });
  writeFileSync(tableFile, tableOf(urls));
  await project.printed(/the file has no faults any more: it is the table in force/);
});

it("has pages that are open to this machine alone", async () => {
  expect((await ask("/-/table")).status).toBe(200);
  expect(project.output()).not.toContain("waybill_");
});

it("is ready for a probe, by Node's own HTTP client", async () => {
  const probe = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, "health", ...args], { encoding: "utf8" });
    return [status, stdout, stderr];
  };
  expect(probe(project.url)).toEqual([0, `${project.url}: ready\n`, ""]);
  expect(probe(project.url, "--live")).toEqual([0, `${project.url}: live\n`, ""]);
  const [free = 0] = await freePorts(1);
  expect(probe(`http://127.0.0.1:${free}`)).toEqual([1, "", expect.stringContaining("no gateway answers at")]);
});

it("ends at Ctrl-C with 0 and leaves no gateway behind; the next start puts the file into force", async () => {
  expect(await project.stop("SIGINT")).toBe(0);
  expect(runningOn(state)).toBeUndefined();
  writeFileSync(tableFile, tableOf(urls, { withoutId: paths("us", "us") }));
  project = await start(folder, ["--port", "0", "--no-reload", "--no-stand-ins"], { env: { REQUEST_LOG: "json" } });
  expect(project.output()).toContain("routing-table.json, revision 4\n");
  expect(project.output()).toContain(
    "note: routing-table.json has replaced revision 3. To bring that back: `waybill table rollback 3`\n",
  );
  expect(project.output()).not.toContain("stand-in");
  expect((await ask(EU)).json).toEqual({ real: "us", path: EU });
  await project.printed(/^\{.*"event":"request".*"path":"\/eu\/basket"/m);
  const [, sample = ""] = /curl -i (\S+\/orders\/\S+)$/m.exec(project.output()) ?? [];
  expect((await fetch(sample)).status).toBeGreaterThanOrEqual(502);
  expect(await project.stop("SIGTERM")).toBe(0);
});

it("ends when the shell dies in which npm runs it", async () => {
  const script = '"$0" "$@"; exit $?';
  const env = { npm_command: "run-script" };
  const command = ["sh", "-c", script, process.execPath, MAIN, "start"];
  const orphan = await start(folder, ["--port", "0"], { env, command });
  expect(runningOn(state)).toBeDefined();
  orphan.child.kill("SIGKILL");
  await orphan.ended;
  await expect.poll(() => runningOn(state), { timeout: 10_000 }).toBeUndefined();
});

it("wants a token where others reach it, and prints one of this run", async () => {
  const open = await start(folder, ["--listen", "0.0.0.0:0", "--state", join(folder, "others")]);
  const [, token = ""] = /token of this run: (waybill_\S+)/.exec(open.output()) ?? [];
  const page = `${open.url}/-/table`;
  const statusWith = async (headers: Readonly<Record<string, string>>) => (await fetch(page, { headers })).status;
  expect(await statusWith({})).toBe(401);
  expect(await statusWith({ authorization: `Bearer ${token}` })).toBe(200);
  expect(await open.stop()).toBe(0);
});

it("has the console at its own host, and the access that the environment names", async () => {
  const elsewhere = await start(folder, ["--listen", "127.0.0.1:0", "--state", join(folder, "named")], {
    env: { CONSOLE_HOST: "console.example.com", ADMIN_TOKENS },
  });
  expect(elsewhere.output()).toMatch(
    /Sign in there with a token of ADMIN_TOKENS.*\nconsole http:\/\/console\.example\.com/,
  );
  expect((await fetch(`${elsewhere.url}/-/table`)).status).toBe(401);
  expect(await elsewhere.stop()).toBe(0);
});

it.each([
  ["a faulty table", ["broken.json"], /broken\.json:1:\d+: /],
  ["a missing one", ["missing.json"], /missing\.json cannot be read/],
])("does not start with %s", async (_, args, words) => {
  writeFileSync(join(folder, "broken.json"), "{");
  await expect(start(folder, [...args, "--port", "0"])).rejects.toThrow(words);
});

it.each([
  [["--port"], "--port, for example `waybill start --port 9000`"],
  [["--listen"], "--listen, for example `waybill start --listen 0.0.0.0:9000`"],
])("names a port that is taken, and the option for another: %j", ([option = ""], words) => {
  const { port } = us.address() as AddressInfo;
  const own = scratch();
  writeFileSync(join(own, "routing-table.json"), tableOf(urls));
  const value = option === "--port" ? String(port) : `127.0.0.1:${port}`;
  const env = { ...process.env, npm_command: undefined };
  const { status, stderr } = spawnSync(process.execPath, [MAIN, "start", option, value], {
    cwd: own,
    env,
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([1, `Port ${port} is taken. Choose another one with ${words}.\n`]);
});
