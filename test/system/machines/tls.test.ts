import { spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { Server as HttpServer } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer, type Server } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeCertificates } from "../../../src/host/machines/certificates.ts";
import { httpsAsk } from "../../../src/host/machines/mirror/ask.ts";
import { stateNodes } from "../../../src/host/machines/operate/nodes.ts";
import { buildGateway } from "../../../src/host/self-hosting.ts";
import { edgeArgs, killAll, nodeArgs, ORDER, pidIn, type Serving, serve, startOrigin, writeTable } from "./serving.ts";

/** Edges and state nodes prove themselves to each other, by real workerds and the openssl of the system. */

const folder = mkdtempSync(join(tmpdir(), "waybill-tls-"));
const at = (path: string) => join(folder, path);
let origin: HttpServer;
let node: Serving;

/** The certificate of a role, signed again so that it ended yesterday. */
function makeExpired(role: "state" | "edge", host: string): void {
  cpSync(at(`tls/${role}`), at(`expired/${role}`), { recursive: true });
  const config = at(`${role}.cnf`);
  const signed = spawnSync("sh", [
    "-c",
    `printf 'subjectAltName = DNS:${host}\\n' > "$0" &&
     openssl req -new -key "$1/key.pem" -subj "/CN=${host}" -out "$0.csr" &&
     openssl x509 -req -in "$0.csr" -CA "$2/ca.pem" -CAkey "$2/key.pem" -set_serial 7 -days -1 -extfile "$0" -out "$1/cert.pem"`,
    ...[config, at(`expired/${role}`), at("tls/ca")],
  ]);
  expect([signed.status, String(signed.stderr)]).toEqual([0, expect.anything()]);
}

beforeAll(async () => {
  expect(makeCertificates(at("tls"), 30)).toMatchObject({ ok: true });
  expect(makeCertificates(at("foreign"), 30)).toMatchObject({ ok: true });
  makeExpired("state", "state.waybill");
  makeExpired("edge", "edge.waybill");
  const started = await startOrigin();
  origin = started.server;
  expect(await buildGateway(at("build"), writeTable(folder, started.url))).toEqual({ ok: true });
  node = await serve(nodeArgs(), { cwd: folder });
});

afterAll(async () => {
  await killAll();
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true });
});

const pem = (path: string) => readFileSync(at(path), "utf8");
const identity = (place: string) => ({ cert: pem(`${place}/cert.pem`), key: pem(`${place}/key.pem`) });

/** The status of the state socket to a client; `refused` where the connection is ended before an answer. */
const asked = (certificate: { readonly cert?: string; readonly key?: string }) =>
  new Promise<number | "refused">((resolve) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port: node.statePort,
        path: "/pointer",
        servername: "state.waybill",
        ca: pem("tls/edge/ca.pem"),
        agent: false,
        ...certificate,
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    sent.once("error", () => resolve("refused"));
    sent.end();
  });

describe("a state node", () => {
  it.each<readonly [what: string, place: string | undefined, answer: number | "refused"]>([
    ["answers an edge", "tls/edge", 200],
    ["refuses a client without a certificate", undefined, "refused"],
    ["refuses a certificate of another authority", "foreign/edge", "refused"],
    ["refuses a certificate that has ended", "expired/edge", "refused"],
  ])("%s", async (_, place, answer) => {
    expect(await asked(place === undefined ? {} : identity(place))).toBe(answer);
  });
});

/** The certificate that the state node shows, by its fingerprint. */
const shown = () =>
  new Promise<string | undefined>((resolve) => {
    const { statePort: port } = node;
    const place = { host: "127.0.0.1", port, servername: "state.waybill", ca: pem("tls/edge/ca.pem") };
    const socket = connect({ ...place, ...identity("tls/edge") }, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256);
      socket.destroy();
    });
    socket.once("error", () => resolve(undefined));
  });

const onDisk = () => new X509Certificate(pem("tls/state/cert.pem")).fingerprint256;

async function restartWorkerd(): Promise<void> {
  const before = pidIn(at("node"));
  process.kill(before, "SIGTERM");
  await expect.poll(() => pidIn(at("node")), { timeout: 20_000 }).not.toBe(before);
}

it("a state node has renewed certificates from its next start on, if they fit", { timeout: 120_000 }, async () => {
  const first = onDisk();
  expect(await shown()).toBe(first);
  expect(makeCertificates(at("tls"), 30)).toMatchObject({ ok: true });
  const second = onDisk();
  expect(await shown()).toBe(first);
  await restartWorkerd();
  await expect.poll(shown, { timeout: 20_000 }).toBe(second);

  copyFileSync(at("tls/edge/key.pem"), at("tls/state/key.pem"));
  await restartWorkerd();
  await expect.poll(shown, { timeout: 20_000 }).toBe(second);
  expect(node.log()).toContain("The certificates of before stay: tls/state/key.pem is not the key of");

  // As a supervisor restarts it.
  expect(makeCertificates(at("tls"), 30)).toMatchObject({ ok: true });
  await node.stop();
  node = await serve(nodeArgs(), { cwd: folder });
  expect([await shown(), onDisk() === second]).toEqual([onDisk(), false]);
});

describe("an edge", () => {
  it("tells nothing to a server that is no state node", async () => {
    let heard = 0;
    let connections = 0;
    const places = ["foreign/state", "expired/state", "tls/edge"];
    const servers = await Promise.all(
      places.map(async (place): Promise<Server> => {
        const server = createServer({ ...identity(place), requestCert: true, rejectUnauthorized: false }, (socket) => {
          socket.on("error", () => undefined);
          socket.on("data", () => {
            heard += 1;
          });
        });
        server.on("connection", () => {
          connections += 1;
        });
        server.on("tlsClientError", () => undefined);
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        return server;
      }),
    );
    const ports = servers.map((server) => (server.address() as { readonly port: number }).port);
    const nodes = ports.map((port) => `127.0.0.1:${port}`);
    const edge = await serve(edgeArgs("e1", nodes), { cwd: folder });
    const [url] = edge.urls;
    // Without a mirror it has the table of its build.
    expect((await fetch(`${url}/orders/${ORDER}`)).status).toBe(200);
    const headers = { "idempotency-key": "k", "x-country": "DE" };
    for (let attempt = 0; attempt < 3; attempt++)
      expect((await fetch(`${url}/orders`, { method: "POST", headers, body: "{}" })).status).toBe(503);
    expect(edge.log()).toContain('"event":"mirror-failed"');
    // Both the mirror and the Worker have tried.
    expect(connections).toBeGreaterThan(places.length);
    expect(heard).toBe(0);
    await edge.stop();
    for (const server of servers) server.close();
  });

  it("names the option when it asks a port without TLS", async () => {
    const { port } = origin.address() as { readonly port: number };
    const { ask, close } = httpsAsk(at("tls/edge"));
    const bounds = { bytesMax: 1, silenceMs: 5_000, deadlineMs: 5_000, signal: AbortSignal.timeout(10_000) };
    await expect(ask(`127.0.0.1:${port}`, "/pointer", bounds)).rejects.toThrow(
      "speaks no TLS: name stateListen of a state node",
    );
    close();
  });

  it.each<[string, string, object]>([
    ["200", '{"nodes":[]}', { machines: { nodes: [] } }],
    ["503", "{}", { status: 503 }],
    ["404", "{}", { isOther: true, why: "answers otherwise (404): name stateListen of a state node" }],
    ["200", "[", { isOther: true, why: "answers otherwise (200): name stateListen of a state node" }],
    ["200", "null", { isOther: true, why: "answers otherwise (200): name stateListen of a state node" }],
  ])("takes a server with a state node's certificate that answers %s %s for what it is", async (status, body, seen) => {
    const server = createServer(identity("tls/state"), (socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end(`HTTP/1.1 ${status} X\r\nconnection: close\r\n\r\n${body}`));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const asker = stateNodes(at("tls/edge"));
    const { port } = server.address() as { readonly port: number };
    expect(await asker.see(`127.0.0.1:${port}`)).toMatchObject(seen);
    asker.close();
    server.close();
  });

  it("does not start with a certificate that has ended, and says so", async () => {
    const args = [
      "build",
      "--role",
      "edge",
      "--state",
      "e2",
      "--state-tls",
      "expired/edge",
      "--state-nodes",
      "127.0.0.1:1",
    ];
    await expect(serve(args, { cwd: folder })).rejects.toThrow(
      /expired\/edge\/cert\.pem ended on \d{4}-\d\d-\d\d: renew it/,
    );
  });
});
