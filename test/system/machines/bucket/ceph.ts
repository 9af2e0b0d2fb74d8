import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { endWithParent, exitOf } from "../../../../src/host/child.ts";
import { ask, type BucketAccess } from "./client.ts";

/** A real S3 store: Debian's Ceph, as one monitor, one store in memory, and its gateway. */
export interface RunningCeph {
  readonly access: BucketAccess;
  stop(): Promise<void>;
}

const PROGRAMS = ["ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "monmaptool", "ceph"];
const START_DEADLINE_MS = 60_000;
const POLL_MS = 500;

/** Why it cannot be had here; `undefined` if it can. */
export const whyNoCeph = (): string | undefined =>
  PROGRAMS.every((name) => spawnSync(name, ["--version"]).error === undefined)
    ? undefined
    : "Ceph is not installed (Debian: apt-get install --no-install-recommends ceph-mon ceph-osd radosgw)";

export async function startCeph(name = "acme"): Promise<RunningCeph> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-ceph-"));
  // An address of this trial's own.
  const host = `127.${1 + (process.pid % 253)}.${1 + (Math.floor(process.pid / 253) % 253)}.200`;
  const [monitor, store, gateway] = ["mon", "osd", "rgw"].map((each) => join(folder, each)) as [string, string, string];
  for (const each of [monitor, store, gateway]) mkdirSync(each);
  const configFile = join(folder, "ceph.conf");
  writeFileSync(configFile, configOf({ host, folder, monitor, store, gateway }));
  const config = ["--conf", configFile];
  const running: ChildProcess[] = [];
  const start = (program: string, args: readonly string[]) => {
    const child = spawn(program, [...config, ...args, "-f"], { stdio: "ignore", detached: true });
    endWithParent(child);
    running.push(child);
  };
  const stop = async () => {
    for (const child of running.toReversed()) {
      child.kill("SIGKILL");
      await exitOf(child);
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const map = join(folder, "monmap");
    run("monmaptool", ["--create", "--addv", "a", `[v2:${host}:3300]`, "--fsid", FSID, map]);
    run("ceph-mon", [...config, "--mkfs", "-i", "a", "--monmap", map]);
    start("ceph-mon", ["-i", "a"]);
    const uuid = randomUUID();
    run("ceph", [...config, "osd", "new", uuid]);
    run("ceph-osd", [...config, "-i", "0", "--mkfs", "--osd-uuid", uuid]);
    start("ceph-osd", ["-i", "0"]);
    const keys = { accessKey: "node1", secretKey: "secret" };
    run("radosgw-admin", [...config, "user", "create", "--uid=waybill", "--display-name=waybill", ...keysOf(keys)]);
    start("radosgw", ["-n", "client.rgw.a"]);
    const proxy = await startUnquoting(host);
    const access = { url: proxy.url, name, ...keys };
    await untilThere(() => ask({ ...access, name }, { method: "PUT" }), join(folder, "client.rgw.a.log"));
    const stopAll = async () => {
      await proxy.stop();
      await stop();
    };
    return { access, stop: stopAll };
  } catch (error) {
    await stop();
    throw error;
  }
}

const GATEWAY_PORT = 7480;
const FSID = randomUUID();
const keysOf = ({ accessKey, secretKey }: { readonly accessKey: string; readonly secretKey: string }) => [
  `--access-key=${accessKey}`,
  `--secret-key=${secretKey}`,
];

interface Places {
  readonly host: string;
  readonly folder: string;
  readonly monitor: string;
  readonly store: string;
  readonly gateway: string;
}

const configOf = ({ host, folder, monitor, store, gateway }: Places): string => `[global]
fsid = ${FSID}
mon host = [v2:${host}:3300]
mon initial members = a
public addr = ${host}
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pgp num = 8
mon allow pool size one = true
mon max pg per osd = 1000
osd crush chooseleaf type = 0
run dir = ${folder}
keyring = ${folder}/keyring
log file = ${folder}/$name.log
admin socket = ${folder}/$name.asok

[mon]
mon data = ${monitor}

[osd]
osd data = ${store}
osd objectstore = memstore
memstore device bytes = 1073741824

[client.rgw.a]
rgw data = ${gateway}
# By itself it wants secrets, which need keys.
ms mon client mode = crc
rgw frontends = beast endpoint=${host}:${GATEWAY_PORT}
`;

function run(program: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8", timeout: START_DEADLINE_MS });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${status} ${stderr}`);
}

async function untilThere(create: () => Promise<Response>, logFile: string): Promise<void> {
  const untilMs = Date.now() + START_DEADLINE_MS;
  for (;;) {
    const status = await create().then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return;
    if (Date.now() > untilMs) throw new Error(`the gateway of Ceph answers ${status}:\n${logOf(logFile)}`);
    await delay(POLL_MS);
  }
}

const LOG_END_CHARACTERS = 2_000;
const logOf = (file: string): string =>
  existsSync(file) ? readFileSync(file, "utf8").slice(-LOG_END_CHARACTERS) : "it has no log";

/** Ceph 16 compares `if-match` with its quotes (RFC 9110 §13.1.1 has them); nothing signs that field. */
async function startUnquoting(host: string) {
  const server = createServer((asked, answer) => {
    const { method, url, headers } = asked;
    const match = headers["if-match"];
    const fields = match === undefined ? headers : { ...headers, "if-match": match.replaceAll('"', "") };
    const sent = request({ host, port: GATEWAY_PORT, method, path: url, headers: fields }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.rawHeaders);
      got.pipe(answer);
    });
    sent.on("error", () => answer.destroy());
    asked.pipe(sent);
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, host, resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no TCP address");
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://${host}:${address.port}`, stop };
}
