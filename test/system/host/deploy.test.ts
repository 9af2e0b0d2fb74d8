import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { missingBindings, unreachableOrigins } from "../../../src/host/deploy/checks.ts";
import { loadTable } from "../../../src/routing/index.ts";
import { readDemoTable } from "../demo/demo.ts";

const MAIN = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));
const table = readDemoTable();

const PUBLIC = { origins: [{ url: "https://us.internal.example.com" }] };

const unreachable = (url: string) => {
  const regions = { ...table.regions, eu: { origins: [{ url }] }, us: PUBLIC, ap: PUBLIC };
  const loaded = loadTable({ ...table, regions }, 1);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return unreachableOrigins(loaded.value);
};

describe("a table that is to be deployed", () => {
  it("may have origins that the edge can reach", () => {
    for (const url of [
      "https://eu.example.com",
      "http://10.0.0.1:8080",
      "https://127.example.com",
      "http://[fd00::1]",
    ]) {
      expect(unreachable(url)).toEqual([]);
    }
  });

  it.each(["http://127.0.0.1:8788", "http://127.9.9.9", "http://localhost:1", "http://a.localhost", "http://[::1]:80"])(
    "has no use for %s",
    (url) => {
      expect(unreachable(url)).toMatchObject([{ pointer: "/regions/eu/origins/0/url" }]);
    },
  );

  it("has only bindings that wrangler.toml has", () => {
    const regions = { ...table.regions, eu: { origins: [{ url: "https://eu.example.com", binding: "EU_MTLS" }] } };
    const loaded = loadTable({ ...table, regions }, 1);
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
    expect(missingBindings(loaded.value, '[[mtls_certificates]]\n# binding = "EU_MTLS"\nbinding = "EU"')).toMatchObject(
      [{ pointer: "/regions/eu/origins/0/binding" }],
    );
    expect(missingBindings(loaded.value, '[[mtls_certificates]]\nbinding = "EU_MTLS"\n')).toEqual([]);
  });

  it("waits for settings that are valid", () => {
    const folder = mkdtempSync(join(tmpdir(), "waybill-"));
    const config = join(folder, "wrangler.toml");
    writeFileSync(config, 'name = "a"\n[vars]\nREQUEST_LOG = "JSON"\n');
    const { status, stderr, stdout } = spawnSync(process.execPath, [MAIN, "deploy", "--config", config], {
      encoding: "utf8",
    });
    rmSync(folder, { recursive: true });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^error: REQUEST_LOG: must be \("off" \| "json"\)\n/);
    expect(stderr).toMatch(/The binding SEQUENCES of the class SequenceBlocks is missing/);
    expect(stderr).toMatch(/Fix the settings first: nothing was deployed\.\n$/);
  });

  it("is refused with a sentence for each origin while it is the demo's", () => {
    const { status, stderr, stdout } = spawnSync(process.execPath, [MAIN, "deploy"], { encoding: "utf8" });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr.match(/is a loopback address/g)).toHaveLength(3);
  });
});
