import { existsSync, mkdtempSync, rmSync } from "node:fs";
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

describe("idempotency keys", () => {
  const mintOnce = async (url: string, key: number): Promise<string> => {
    const body = JSON.stringify({ entity: "person", count: 2 });
    const response = await fetch(`${url}/mint`, { method: "POST", headers: { "idempotency-key": `key-${key}` }, body });
    if (response.status !== 201) throw new Error(`${response.status}`);
    return response.text();
  };

  it("still give the same IDs after kills in the middle of minting, on a state that had none before", async () => {
    const folder = join(stateFolder, "durable-objects", "waybill-idempotency-keys");
    // A state of a version without them.
    rmSync(folder, { recursive: true, force: true });
    const known = new Map<number, string>();
    for (const round of [0, 1, 2, 3]) {
      const gateway = await start();
      for (const [key, text] of known) expect(await mintOnce(gateway.url, key)).toBe(text);
      const keys = Array.from({ length: 40 }, (_, index) => round * 40 + index);
      let answered = 0;
      // The keys that the last kill may have hit are used again.
      const minting = [...keys.map((key) => key - 40), ...keys].map(async (key) => {
        const text = await mintOnce(gateway.url, key).catch(() => undefined);
        if (text === undefined) return;
        expect(known.get(key) ?? text).toBe(text);
        known.set(key, text);
        if (++answered === 15 && round < 3) process.kill(gateway.pid, "SIGKILL");
      });
      await Promise.all(minting);
      await (round < 3 ? gateway.exited : gateway.stop());
    }
    expect(known.size).toBeGreaterThanOrEqual(80);
    expect(new Set(known.values()).size).toBe(known.size);
    expect(existsSync(folder)).toBe(true);
  });
});
