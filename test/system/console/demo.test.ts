import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { MetricsHistory } from "../../../src/formats/console-api.ts";
import { findFreePorts } from "../demo/demo.ts";

const START = fileURLToPath(new URL("../../../src/demo/start.ts", import.meta.url));

const state = mkdtempSync(join(tmpdir(), "waybill-console-demo-"));
let child: ChildProcess;
let output = "";
let port = 0;

beforeAll(async () => {
  port = await findFreePorts();
  const env = { ...process.env, PORT: String(port), WAYBILL_STATE: state, REPORT_SECONDS: "1" };
  child = spawn(process.execPath, [START, "--samples"], { env, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += chunk));
  await vi.waitFor(() => expect(output).toMatch(/^ready /m), { timeout: 30_000 });
});
afterAll(async () => {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
  rmSync(state, { recursive: true });
});

/** From the console's host, as a browser asks. */
const ask = (path: string): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const headers = { host: `console.localhost:${port}`, "sec-fetch-site": "same-origin" };
    const asked = request({ host: "127.0.0.1", port, path, headers }, async (answer) => {
      let text = "";
      for await (const chunk of answer) text += chunk;
      resolve({ status: answer.statusCode ?? 0, text });
    });
    asked.on("error", reject).end();
  });

const sum = (numbers: readonly number[] = []) => numbers.reduce((all, one) => all + one, 0);

it("says the console's address last, and its page needs no token", async () => {
  expect(output).toMatch(new RegExp(`^ready .*\\n.*http://console\\.localhost:${port}`, "m"));
  expect((await ask("/-/console")).text).toContain('<div id="app">');
  expect(JSON.parse((await ask("/-/console/session")).text)).toMatchObject({ scope: "operator", by: "open-pages" });
});

it("has traffic of its own in all regions, which is not printed, and a region that is down shows", async () => {
  const history = async () => JSON.parse((await ask("/-/metrics/history?span=hour")).text) as MetricsHistory;
  await vi.waitFor(
    async () => {
      const { regions } = await history();
      for (const region of ["eu", "us", "ap"]) expect(sum(regions[region]?.requests)).toBeGreaterThan(0);
    },
    { timeout: 20_000, interval: 500 },
  );
  // This test's own are.
  const printed = output.slice(output.search(/^ready /m)).split("\n");
  expect(printed.filter((line) => line.startsWith("GET") && !line.includes(" /-/"))).toEqual([]);
  const [, url] = /curl -X POST (\S+)\/\w+\/down/.exec(output) ?? [];
  expect((await fetch(`${url}/eu/down`, { method: "POST", headers: { origin: "http://evil.test" } })).status).toBe(403);
  expect(await (await fetch(`${url}/eu/down`, { method: "POST" })).text()).toBe("down: eu\n");
  await vi.waitFor(async () => expect(sum((await history()).regions["eu"]?.errors)).toBeGreaterThan(0), {
    timeout: 20_000,
    interval: 500,
  });
  expect(await (await fetch(`${url}/eu/up`, { method: "POST" })).text()).toBe("down: none\n");
});
