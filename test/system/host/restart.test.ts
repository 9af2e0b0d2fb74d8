import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { startGateway } from "../../../src/host/workerd/gateway.ts";
import { readDemoTable } from "../demo/demo.ts";

const stateFolder = mkdtempSync(join(tmpdir(), "waybill-"));
afterAll(() => rmSync(stateFolder, { recursive: true, force: true }));

const start = () =>
  startGateway({ port: 0, stateFolder, tableText: JSON.stringify(readDemoTable()), vars: { REQUEST_LOG: "off" } });

async function mintPersons(url: string, count: number): Promise<number[]> {
  const response = await fetch(`${url}/mint`, { method: "POST", body: JSON.stringify({ entity: "person", count }) });
  const { ids } = (await response.json()) as { readonly ids: readonly string[] };
  return ids.map((id) => Number.parseInt(id.slice(0, 13).replace("-", ""), 16));
}

describe("primary keys out of the durable sequence", () => {
  it("are never given twice, over orderly stops and over kills in the middle of minting", async () => {
    const given: number[] = [];
    for (const end of ["stop", "kill", "kill", "stop"] as const) {
      const gateway = await start();
      given.push(...(await mintPersons(gateway.url, 10)));
      if (end === "stop") {
        given.push(...(await mintPersons(gateway.url, 200)));
        await gateway.stop();
        continue;
      }
      const minting = Array.from({ length: 20 }, () => mintPersons(gateway.url, 50).catch(() => []));
      setTimeout(() => process.kill(gateway.pid, "SIGKILL"), 15);
      given.push(...(await Promise.all(minting)).flat());
      await gateway.exited;
    }
    expect(given.length).toBeGreaterThan(400);
    expect(new Set(given).size).toBe(given.length);
  });
});
