import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { createServer as createNetServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeCertificates } from "../../../src/host/machines/certificates.ts";
import { buildGateway } from "../../../src/host/self-hosting.ts";
import { edgeArgs, killAll, nodeArgs, ORDER, pidIn, type Serving, serve, startOrigin, writeTable } from "./serving.ts";

/** Edges and one state node that keeps the state on its own disk, by `waybill serve --role`. */

const folder = mkdtempSync(join(tmpdir(), "waybill-roles-"));
const at = (path: string) => join(folder, path);
let origin: Server;
let node: Serving;

const startNode = (...args: readonly string[]) => serve(nodeArgs(...args), { cwd: folder });
const startEdge = (name: string, ...args: readonly string[]) =>
  serve(edgeArgs(name, [`127.0.0.1:${node.statePort}`], ...args), { cwd: folder });

beforeAll(async () => {
  const started = await startOrigin();
  origin = started.server;
  expect(await buildGateway(at("build"), writeTable(folder, started.url))).toEqual({ ok: true });
  writeTable(folder, started.url, "carts");
  expect(makeCertificates(at("tls"), 30)).toMatchObject({ ok: true });
  node = await startNode();
});

afterAll(async () => {
  await killAll();
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true });
});

const get = async (url: string | undefined, path = `/orders/${ORDER}`) => {
  const response = await fetch(`${url}${path}`);
  return [response.status, await response.text()] as const;
};

/** The status and what the origin was told, which names the entity. */
const create = async (url: string | undefined, key: string) => {
  const headers = { "idempotency-key": key, "x-country": "DE" };
  const response = await fetch(`${url}/orders`, { method: "POST", headers, body: "{}" });
  return { status: response.status, body: await response.text() };
};

describe("an edge and a state node", () => {
  it("route, create once, and follow what is published", { timeout: 120_000 }, async () => {
    const edge = await startEdge("e1", "--processes", "2");
    expect(edge.urls).toHaveLength(2);
    expect(edge.said()).toMatch(/^ready .*, edge e1, 2 processes, .*, revision 1$/m);
    for (const url of edge.urls) expect(await get(url)).toEqual([200, `GET /orders/${ORDER}`]);
    // Both processes create one entity for one key.
    const [first, second] = [await create(edge.urls[0], "a-key"), await create(edge.urls[1], "a-key")];
    expect(first).toMatchObject({ status: 201, body: expect.stringMatching(/^POST \/orders [0-9a-f-]{36}$/) });
    expect(second).toEqual(first);
    // Each line of the log says its process.
    await expect.poll(edge.log, { timeout: 10_000 }).toMatch(/^\{"process":2,.*\/orders/m);
    expect(edge.log()).toMatch(/^\{"process":1,.*\/orders/m);

    expect((await get(edge.urls[0], `/carts/${ORDER}`))[0]).toBe(404);
    const { status, stderr } = spawnSync(
      process.execPath,
      [
        join(import.meta.dirname, "../../../src/cli/main.ts"),
        "table",
        "publish",
        "carts.json",
        "--yes",
        "--gateway",
        node.urls[0] ?? "",
      ],
      { cwd: folder, encoding: "utf8" },
    );
    expect([status, stderr]).toEqual([0, expect.anything()]);
    for (const url of edge.urls)
      await expect.poll(async () => (await get(url, `/carts/${ORDER}`))[0], { timeout: 10_000 }).not.toBe(404);

    // The second process starts again by itself, at its port.
    process.kill(pidIn(at("e1"), "workerd-2.pid"), "SIGKILL");
    await expect
      .poll(() => get(edge.urls[1]).catch(() => []), { timeout: 20_000 })
      .toEqual([200, `GET /orders/${ORDER}`]);
    expect(edge.log()).toMatch(
      /^\{"event":"machine","time":"[\dT:.-]+Z","text":"workerd of process 2 ended with code 137\. It starts again in 0\.5 s\."\}$/m,
    );
    expect(await edge.stop()).toBe(0);
    expect(existsSync(at("e1/workerd.pid"))).toBe(false);
  });

  it("routes while the state node is down, from a cold start too", { timeout: 120_000 }, async () => {
    const edge = await startEdge("e2");
    expect(await create(edge.urls[0], "before")).toMatchObject({ status: 201 });
    const before = pidIn(at("node"));
    process.kill(before, "SIGKILL");
    expect(await get(edge.urls[0])).toEqual([200, `GET /orders/${ORDER}`]);
    // At the port where edges know it, and with what it knew.
    await expect.poll(() => pidIn(at("node")), { timeout: 20_000 }).not.toBe(before);
    const replayed = () => create(edge.urls[0], "before").catch(() => undefined);
    await expect.poll(replayed, { timeout: 30_000 }).toMatchObject({ status: 201 });

    await edge.stop();
    const { statePort } = node;
    expect(await node.stop()).toBe(0);
    const cold = await startEdge("e2");
    expect(await get(cold.urls[0])).toEqual([200, `GET /orders/${ORDER}`]);
    expect((await create(cold.urls[0], "meanwhile")).status).toBe(503);
    node = await startNode("--state-listen", `127.0.0.1:${statePort}`);
    await expect
      .poll(() => create(cold.urls[0], "again").catch(() => undefined), { timeout: 30_000 })
      .toMatchObject({ status: 201 });
    await cold.stop();
  });

  it("take sockets that they inherit", async () => {
    const server = createNetServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { fd } = (server as unknown as { readonly _handle: { readonly fd: number } })._handle;
    const { port } = server.address() as { readonly port: number };
    const args = ["build", "--role", "edge", "--state", "e3", "--state-tls", "tls/edge", "--listen", "fd:3"];
    const edge = await serve([...args, "--processes", "2", "--state-nodes", `127.0.0.1:${node.statePort}`], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe", fd],
    });
    server.close();
    expect(edge.urls).toEqual([`http://127.0.0.1:${port}`]);
    for (let request = 0; request < 4; request++)
      expect(await get(edge.urls[0])).toEqual([200, `GET /orders/${ORDER}`]);
    expect(await edge.stop()).toBe(0);
    await expect(serve([...args, "--state-nodes", "127.0.0.1:1"], { cwd: folder })).rejects.toThrow(
      /--listen fd:3: (?:this process has no descriptor 3|the descriptor is no socket); systemd passes one/,
    );
  });

  it("let requests finish at the first signal, and end at the second", async () => {
    const edge = await startEdge("e4");
    const slow = get(edge.urls[0], `/orders/${ORDER}/slow`);
    await delay(500);
    edge.signal("SIGTERM");
    expect(await slow).toEqual([200, `GET /orders/${ORDER}/slow`]);
    expect(await edge.ended).toBe(0);

    const hasty = await startEdge("e4");
    const cut = get(hasty.urls[0], `/orders/${ORDER}/slow`).catch(() => "cut off");
    await delay(500);
    hasty.signal("SIGTERM");
    await delay(1_200);
    hasty.signal("SIGTERM");
    expect(await cut).toBe("cut off");
    expect(await hasty.ended).toBe(0);
    expect(hasty.said()).toMatch(/requests still ran after \d+ s, and were cut off/);
  });
});

describe("a start that is refused", () => {
  it.each<readonly [what: string, args: () => readonly string[], why: RegExp]>([
    [
      "in the folder of another role",
      () => ["build", "--role", "edge", "--state", "node", "--state-tls", "tls/edge", "--state-nodes", "127.0.0.1:1"],
      /node is the state of one machine\. Name an empty folder/,
    ],
    [
      "of one machine in an edge's folder",
      () => ["build", "--state", "e1"],
      /e1 is the folder of an edge\. Name another folder/,
    ],
    ["of a second state node in one folder", () => nodeArgs(), /is the state of a running gateway \(process \d+\)/],
    [
      "at a port that is taken",
      () => [
        "build",
        "--role",
        "edge",
        "--state",
        "e9",
        "--state-tls",
        "tls/edge",
        "--state-nodes",
        "127.0.0.1:1",
        "--listen",
        `127.0.0.1:${node.statePort}`,
      ],
      /already in use.*[\s\S]*Choose another address/i,
    ],
  ])("%s", async (_, args, why) => {
    await expect(serve(args(), { cwd: folder })).rejects.toThrow(why);
  });

  it("leaves the folder of an edge as it was", () => {
    expect(readFileSync(at("e1/role"), "utf8")).toBe("edge\n");
  });
});
