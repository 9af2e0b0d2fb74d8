import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stopChild } from "../../../src/host/child.ts";
import { freePort } from "../../export/engines.ts";
import type { DemoTable } from "../demo/demo.ts";
import { type Stack, startStack } from "../stack.ts";
import { findClients } from "./clients.ts";
import { FENCED, ID, startEarlyOrigin, tableTo } from "./origin.ts";
import { uploadSlowly } from "./slow-upload.ts";

const BYTES = 30_000;
const { found, missing, stop } = findClients();
for (const name of missing) process.stderr.write(`note: ${name} is not here, so it was not tried as a client\n`);

let origin: Awaited<ReturnType<typeof startEarlyOrigin>>;
let stack: Stack;
beforeAll(async () => {
  origin = await startEarlyOrigin();
  stack = await startStack(tableTo(origin.url) as unknown as DemoTable);
});
afterAll(async () => {
  await stack?.stop();
  await origin?.stop();
  stop();
});

describe.each(found)("$name", ({ ask }) => {
  it.each([
    ["an early answer with a length", "POST", `/parcels/${ID}/length`, BYTES],
    ["an early answer in chunks", "POST", `/parcels/${ID}/chunks`, BYTES],
    ["an early answer that is empty", "PUT", `/parcels/${ID}/empty`, BYTES],
    ["an early answer without content", "POST", `/parcels/${ID}/none`, BYTES],
    ["an early answer, passed as it came", "POST", `/boxes/${ID}/length`, BYTES],
    ["an upload that is read", "POST", `/parcels/${ID}/whole`, BYTES],
    ["a request without a body", "GET", `/parcels/${ID}/whole`, 0],
  ])("has through the gateway what it has straight: %s", async (_, method, path, bytes) => {
    const straight = await ask(method, origin.url + path, bytes);
    expect(straight).toMatch(/^[24]\d\d/);
    expect(await ask(method, stack.url + path, bytes)).toBe(straight);
  });

  it("has an answer of the gateway's own", async () => {
    expect(await ask("POST", `${stack.url}/parcels/nonsense`, BYTES)).toMatch(/^400 .*malformed-id/);
  });

  it("is no WebSocket, whatever it offers: it may read an entity whose move is fenced", async () => {
    const before = origin.seen.length;
    expect(await ask("GET", `${stack.url}/parcels/${FENCED}/whole`, 0)).toBe("200 got 0");
    expect(origin.seen.slice(before).map(({ upgrade }) => upgrade)).toEqual([undefined]);
  });
});

/** Proxies in front, which do not wait for the whole upload either. */
const PROXIES = {
  nginx: (folder: string, port: number, to: number) => {
    const conf = join(folder, "nginx.conf");
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const server = `server { listen 127.0.0.1:${port}; location / {
      proxy_pass http://127.0.0.1:${to}; proxy_http_version 1.1; proxy_request_buffering off; } }`;
    const log = `error_log ${folder}/error.log; pid ${folder}/pid;`;
    writeFileSync(
      conf,
      `${log} events {} http { access_log off; client_max_body_size 10m; ${paths.join(" ")} ${server} }`,
    );
    return ["-p", folder, "-c", conf, "-g", "daemon off; master_process off;"];
  },
  caddy: (folder: string, port: number, to: number) => {
    const conf = join(folder, "Caddyfile");
    const off = "{\n admin off\n auto_https off\n}\n";
    writeFileSync(conf, `${off}http://:${port} {\n bind 127.0.0.1\n reverse_proxy 127.0.0.1:${to}\n}\n`);
    return ["run", "--adapter", "caddyfile", "--config", conf];
  },
} as const;

const isUp = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });

describe.each(Object.entries(PROXIES))("behind %s", (name, argumentsOf) => {
  const isHere = spawnSync(name, [name === "nginx" ? "-v" : "version"]).error === undefined;
  if (!isHere) process.stderr.write(`note: ${name} is not here, so nothing was tried behind it\n`);
  let child: ChildProcess | undefined;
  let port = 0;
  const folder = mkdtempSync(join(tmpdir(), `waybill-${name}-`));

  beforeAll(async () => {
    // Another process may take a free port first.
    for (let turn = 0; isHere && turn < 3 && !(port !== 0 && (await isUp(port))); turn++) {
      if (child !== undefined) await stopChild(child);
      port = await freePort();
      const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
      child = spawn(name, argumentsOf(folder, port, stack.gateway.port), { stdio: "ignore", env });
      for (let wait = 0; wait < 100 && !(await isUp(port)); wait++) await delay(50);
    }
    if (isHere) expect(await isUp(port), `${name} does not listen`).toBe(true);
  });
  afterAll(async () => {
    if (child !== undefined) await stopChild(child);
    rmSync(folder, { recursive: true, force: true });
  });

  it.runIf(isHere).each([
    ["length", `/parcels/${ID}/length`, 401],
    ["chunks", `/parcels/${ID}/length`, 401],
    ["length", `/parcels/${ID}/chunks`, 401],
    ["chunks", `/parcels/${ID}/empty`, 401],
    ["length", "/parcels/nonsense", 400],
  ] as const)("an early answer is the origin's own, not a 502: %s %s", async (framing, path, status) => {
    const head = [`POST ${path} HTTP/1.1`, "host: gw.test"];
    // More than sockets hold, faster than an answer comes.
    const upload = { head, framing, bytes: 1_000_000, pieceBytes: 100_000, pauseMs: 2 };
    const { answers, received } = await uploadSlowly(port, upload);
    expect(answers[0]?.startLine, received).toContain(` ${status} `);
  });

  it.runIf(isHere)("nor when the upload comes faster than the answer", async () => {
    const head = ["POST /parcels/nonsense HTTP/1.1", "host: gw.test"];
    // Without the wait one of ten or so is a 502.
    const upload = { head, framing: "length", bytes: 900_000, pieceBytes: 900_000, pauseMs: 0 } as const;
    for (let turn = 0; turn < 30; turn++) {
      const { answers, received } = await uploadSlowly(port, upload);
      expect(answers[0]?.startLine, received).toContain(" 400 ");
    }
  });
});
