import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { findFreePorts, portFrom } from "../../src/demo/ports.ts";

const START = fileURLToPath(new URL("../../src/demo/start.ts", import.meta.url));

const stateFolder = mkdtempSync(join(tmpdir(), "waybill-start-"));
afterAll(() => rmSync(stateFolder, { recursive: true }));

interface Demo {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

function startDemo(port: string): Demo {
  const child = spawn(process.execPath, [START], {
    env: { ...process.env, PORT: port, WAYBILL_STATE: stateFolder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += chunk));
  const ended = once(child, "close").then(([code]) => (typeof code === "number" ? code : null));
  return { child, output: () => output, ended };
}

async function untilPrinted(demo: Demo, pattern: RegExp): Promise<void> {
  while (!pattern.test(demo.output())) {
    if (demo.child.exitCode !== null) throw new Error(`the demo ended:\n${demo.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("the demo", () => {
  it.each(["SIGINT", "SIGTERM"] as const)(
    "prints its screen and each request, and ends whole on %s",
    async (signal) => {
      const port = await findFreePorts();
      const demo = startDemo(String(port));
      await untilPrinted(demo, /^ready http:\/\/127\.0\.0\.1:\d+$/m);
      const command = /curl -i (\S+\/any\/\S+)$/m.exec(demo.output())?.[1] ?? "";
      const response = await fetch(command);
      const region = response.headers.get("x-demo-region");
      expect([response.status, response.headers.get("waybill-region")]).toEqual([200, region]);
      await response.arrayBuffer();
      await untilPrinted(demo, new RegExp(`^GET +/any/\\S+ +hotguid +${region} +200 +\\d+ ms$`, "m"));
      demo.child.kill(signal);
      expect(await demo.ended).toBe(0);
      for (const offset of [0, 1, 2, 3]) await expect(fetch(`http://127.0.0.1:${port + offset}/`)).rejects.toThrow();
    },
  );

  it("names PORT when a port is taken", async () => {
    const port = await findFreePorts();
    const taken = createServer().listen(port + 2, "127.0.0.1");
    await once(taken, "listening");
    const demo = startDemo(String(port));
    expect(await demo.ended).toBe(1);
    expect(demo.output()).toMatch(new RegExp(`^Port ${port + 2} is taken.*PORT=\\d+ npm start`));
    taken.close();
  });

  it.each(["0", "65533", "-1", "80a", "1e3", " 80"])("refuses PORT=%s", async (text) => {
    expect(() => portFrom(text)).toThrow(/^PORT is a number from 1 to 65532/);
  });

  it("has a port when none is named", () => {
    expect([portFrom(undefined), portFrom(""), portFrom("9000")]).toEqual([8787, 8787, 9000]);
  });
});
