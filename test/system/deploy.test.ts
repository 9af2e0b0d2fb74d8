import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readDemoTable } from "../../src/demo/demo-table.ts";
import { checkDeployable } from "../../src/host/deploy-check.ts";

const table = readDemoTable();

const withOrigin = (url: string) =>
  JSON.stringify({ ...table, regions: { ...table.regions, eu: { origins: [{ url }] }, us: PUBLIC, ap: PUBLIC } });

const PUBLIC = { origins: [{ url: "https://us.internal.example.com" }] };

describe("a table that is to be deployed", () => {
  it("may have origins that the edge can reach", () => {
    for (const url of [
      "https://eu.example.com",
      "http://10.0.0.1:8080",
      "https://127.example.com",
      "http://[fd00::1]",
    ]) {
      expect(checkDeployable(withOrigin(url))).toEqual({ faults: [], unreachable: [] });
    }
  });

  it.each(["http://127.0.0.1:8788", "http://127.9.9.9", "http://localhost:1", "http://a.localhost", "http://[::1]:80"])(
    "has no use for %s",
    (url) => {
      const { faults, unreachable } = checkDeployable(withOrigin(url));
      expect(faults).toEqual([]);
      expect(unreachable).toHaveLength(1);
      expect(unreachable[0]).toMatchObject({ pointer: "/regions/eu/origins/0/url" });
    },
  );

  it("has no faults and is JSON", () => {
    expect(checkDeployable("{")).toMatchObject({ faults: [{ pointer: "" }] });
    expect(checkDeployable(JSON.stringify({ ...table, routes: [{ when: {}, region: "mars" }] })).faults).not.toEqual(
      [],
    );
  });

  it("is refused with a sentence for each origin while it is the demo's", () => {
    const script = fileURLToPath(new URL("../../src/host/deploy.ts", import.meta.url));
    const { status, stderr, stdout } = spawnSync(process.execPath, [script], { encoding: "utf8" });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr.match(/put the address at which the edge reaches/g)).toHaveLength(3);
  });
});
