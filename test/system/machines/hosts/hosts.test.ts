import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, it } from "vitest";
import { exitOf } from "../../../../src/host/child.ts";
import { buildClock } from "./clock.ts";
import type { Host, Hosts } from "./host.ts";
import { loopbackHosts } from "./loopback.ts";
import { namespaceHosts, whyNoNamespaces } from "./namespaces.ts";

/** The ground that the trials of machines stand on. */

const SERVER = `
  const server = require("node:http").createServer((_, response) => response.end("here"));
  server.listen(0, process.argv[1], () => console.log(server.address().port));
`;
const CLIENT = `
  require("node:http").get({ host: process.argv[1], port: process.argv[2], timeout: 500 }, (answer) => {
    answer.resume().on("end", () => console.log("answer"));
  }).on("timeout", () => { console.log("silence"); process.exit(); }).on("error", ({ code }) => console.log(code));
`;
const folder = mkdtempSync(join(tmpdir(), "waybill-hosts-"));
const whyNot = whyNoNamespaces();
const open: Hosts[] = [];
afterAll(async () => {
  await Promise.all(open.map((hosts) => hosts.stop()));
  rmSync(folder, { recursive: true });
});

const opened = (hosts: Hosts): Hosts => {
  open.push(hosts);
  return hosts;
};

const firstLine = async ({ stdout }: ChildProcess): Promise<string> => {
  if (stdout === null) throw new TypeError("no output");
  const [line] = await once(createInterface({ input: stdout }), "line");
  return line;
};
const serve = async (host: Host) => firstLine(host.start([process.execPath, "-e", SERVER, host.address]));
const askFrom = (host: Host, { address }: Host, port: string) =>
  firstLine(host.start([process.execPath, "-e", CLIENT, address, port]));

it.for([
  ["network namespaces", namespaceHosts, whyNot],
  ["addresses of loopback", loopbackHosts, undefined],
] as const)("%s: hosts reach each other, and end with all their processes", async ([, make, why], { skip }) => {
  if (why !== undefined) return skip(why);
  const hosts = opened(make(["a", "b"]));
  const [a, b] = [hosts.at("a"), hosts.at("b")];
  const port = await serve(a);
  expect(await askFrom(b, a, port)).toBe("answer");
  const shell = b.start(["sh", "-c", "sleep 60 & echo $!; wait"]);
  const sleeper = await firstLine(shell);
  await b.kill();
  expect(await exitOf(shell)).toBe(128 + 9);
  expect(spawnSync("ps", ["-o", "stat=", "-p", sleeper], { encoding: "utf8" }).stdout).toMatch(/^(Z.*)?$/m);
  expect(await askFrom(b, a, port)).toBe("answer");
});

it("a cut makes two hosts silent to each other, and no others", async ({ skip }) => {
  if (whyNot !== undefined) return skip(whyNot);
  const hosts = opened(namespaceHosts(["x", "y", "z"]));
  const [x, y, z] = [hosts.at("x"), hosts.at("y"), hosts.at("z")];
  const [atX, atY] = [await serve(x), await serve(y)];
  const all = () => Promise.all([askFrom(x, y, atY), askFrom(y, x, atX), askFrom(z, x, atX), askFrom(z, y, atY)]);
  expect(await all()).toEqual(["answer", "answer", "answer", "answer"]);
  hosts.cuts?.cut("x", ["y"]);
  expect(await all()).toEqual(["silence", "silence", "answer", "answer"]);
  hosts.cuts?.mend();
  expect(await all()).toEqual(["answer", "answer", "answer", "answer"]);
});

it("a clock moves while its process runs, and only that", async ({ skip }) => {
  const built = buildClock(folder);
  if ("why" in built) return skip(built.why);
  const clock = built.clock("one");
  const said = "setInterval(() => console.log(Date.now(), Math.round(performance.now())), 20)";
  const host = opened(loopbackHosts(["clock"])).at("clock");
  const child = host.start([process.execPath, "-e", said], { env: clock.env });
  const offBy = async () => Number((await firstLine(child)).split(" ")[0]) - Date.now();
  expect(Math.abs(await offBy())).toBeLessThan(5_000);
  clock.shift(60_000);
  await expect.poll(offBy).toBeGreaterThan(50_000);
  clock.shift(-60_000);
  await expect.poll(offBy).toBeLessThan(-50_000);
});
