import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { watchPublished } from "../../../src/cli/commands/export/watch.ts";
import { err, ok, type Result } from "../../../src/ids/index.ts";
import { EXPORT_OPTIONS } from "../../export/engines.ts";
import { sampleTable } from "../../routing/tables.ts";
import { FakeClock, fakeRuntime, waybill } from "../fake-runtime.ts";
import { MemoryFiles } from "../memory-files.ts";

const STATE = "/var/lib/waybill";
const POINTER = `${STATE}/kv/table.current`;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-watch-"));
  folders.push(folder);
  return join(folder, "out");
};

const tableIn = (region: string) => ({ ...sampleTable(), default: region });

function publish(files: MemoryFiles, revision: number, table: object, more: object = {}) {
  const text = JSON.stringify(table);
  const digest = createHash("sha256").update(text).digest("hex");
  files.write(`${STATE}/kv/table.${digest}`, text);
  files.write(POINTER, JSON.stringify({ revision, digest, change: revision, ...more }));
  return digest;
}

const ENDED = new Error("no more steps");

/** Does a step at each pause of the command, and ends it after the last. */
async function watched(steps: readonly ((files: MemoryFiles) => unknown)[], reloads: Result<undefined, string>[] = []) {
  const files = MemoryFiles.of({});
  const left = [...steps];
  left.shift()?.(files);
  class Steps extends FakeClock {
    override async sleep(ms: number): Promise<void> {
      await super.sleep(ms);
      const step = left.shift();
      if (step === undefined) throw ENDED;
      step(files);
    }
  }
  const clock = new Steps(0);
  const { runtime, written } = fakeRuntime({ files, clock });
  const folder = newFolder();
  let count = 0;
  const watch = {
    engine: "envoy",
    settings: { ...EXPORT_OPTIONS, waybill: "http://127.0.0.1:8787", folder },
    isChecked: false,
    isWithoutWaybill: false,
    state: STATE,
    reload: async () => {
      count += 1;
      return reloads.shift() ?? ok(undefined);
    },
  } as const;
  await expect(watchPublished(watch, runtime)).rejects.toBe(ENDED);
  return { lines: written.stderr.split("\n").slice(0, -1), reloads: count, folder };
}

const nothing = () => undefined;
const seconds = (count: number) => Array.from({ length: count * 4 }, () => nothing);

describe("waybill export --watch", () => {
  it("exports and reloads once for each publication", async () => {
    const { lines, reloads, folder } = await watched([
      (files) => publish(files, 1, tableIn("eu")),
      ...seconds(2),
      (files) => publish(files, 2, tableIn("us")),
      ...seconds(2),
    ]);
    expect(lines).toEqual([
      "envoy routes by revision 1, 0 ms after it was seen",
      "envoy routes by revision 2, 0 ms after it was seen",
    ]);
    expect(reloads).toBe(2);
    expect(readFileSync(join(folder, "envoy.json"), "utf8")).not.toBe("");
  });

  it("leaves all to Waybill while a canary is running, and takes it back after", async () => {
    const table = tableIn("eu");
    const canary = { revision: 2, digest: "0".repeat(64), audience: { share: 5 } };
    const left: string[] = [];
    const { lines, folder } = await watched([
      (files) => publish(files, 1, table, { canary }),
      nothing,
      (files) => {
        left.push(readFileSync(join(folders.at(-1) ?? "", "out", "left-to-waybill.txt"), "utf8"));
        publish(files, 1, table, { change: 3 });
      },
      nothing,
    ]);
    expect(lines[0]).toBe(
      "envoy routes by revision 1, and leaves all to Waybill while a canary of revision 2 is running, 0 ms after it was seen",
    );
    expect(lines[1]).toBe("envoy routes by revision 1, 0 ms after it was seen");
    expect(left[0]).toContain("a canary of revision 2 is running");
    expect(readFileSync(join(folder, "left-to-waybill.txt"), "utf8")).not.toContain("canary");
  });

  it("says a failure once, keeps what was exported, and tries again every 5 s", async () => {
    const { lines, reloads } = await watched(
      [
        (files) => publish(files, 1, tableIn("eu")),
        nothing,
        (files) => publish(files, 2, tableIn("us")),
        ...seconds(11),
      ],
      [ok(undefined), err("envoy is not running"), err("envoy is not running")],
    );
    expect(lines).toEqual([
      "envoy routes by revision 1, 0 ms after it was seen",
      "error: revision 2 is written, but not in force: envoy is not running envoy keeps revision 1. It is tried again every 5 s.",
      "envoy routes by revision 2, 0 ms after it was seen",
    ]);
    expect(reloads).toBe(4);
  });

  const LEFT = "envoy leaves all to Waybill. It is tried again every 5 s.";

  it("leaves all to Waybill where the table in force cannot be exported, until one can", async () => {
    const unreadable = { ...tableIn("us"), routes: [{ region: "nowhere" }] };
    const left: string[] = [];
    const { lines, reloads, folder } = await watched([
      (files) => publish(files, 1, tableIn("eu")),
      nothing,
      (files) => publish(files, 2, unreadable),
      ...seconds(6),
      () => left.push(readFileSync(join(folders.at(-1) ?? "", "out", "envoy.json"), "utf8")),
      (files) => publish(files, 3, tableIn("us")),
      nothing,
    ]);
    expect(lines).toEqual([
      "envoy routes by revision 1, 0 ms after it was seen",
      expect.stringMatching(new RegExp(`^error: revision 2:1:\\d+: .* ${LEFT}$`)),
      "envoy routes by revision 3, 0 ms after it was seen",
    ]);
    expect(reloads).toBe(3);
    const names = (text: string) =>
      JSON.parse(text).static_resources.clusters.map(({ name }: { readonly name: string }) => name);
    expect(names(left[0] ?? "")).toEqual(["waybill", "waybill_refuse"]);
    expect(names(readFileSync(join(folder, "envoy.json"), "utf8"))).toContain("waybill_1");
  });

  it("keeps what was exported where no pointer can be read", async () => {
    const { lines, reloads } = await watched([
      (files) => publish(files, 1, tableIn("eu")),
      nothing,
      (files) => files.write(POINTER, "{"),
      ...seconds(6),
    ]);
    expect(lines[1]).toMatch(/it is not JSON.* envoy keeps revision 1\. It is tried again every 5 s\.$/);
    expect([lines.length, reloads]).toEqual([2, 1]);
  });

  const digest = createHash("sha256").update("{}").digest("hex");
  it.each<[string, (files: MemoryFiles) => unknown, RegExp]>([
    ["is not there", nothing, /no table is published in \/var\/lib\/waybill/],
    ["is no pointer", (files) => files.write(POINTER, "{"), /table\.current: it is not JSON/],
  ])("waits where the pointer %s", async (_, step, why) => {
    const { lines, reloads } = await watched([step, ...seconds(6)]);
    expect(lines).toEqual([expect.stringMatching(why)]);
    expect(reloads).toBe(0);
  });

  it.each<[string, (files: MemoryFiles) => unknown, RegExp]>([
    [
      "names a table that is not there",
      (files) => files.write(POINTER, JSON.stringify({ revision: 3, digest })),
      /no such file/,
    ],
    [
      "names a table that was damaged",
      (files) => files.write(`${STATE}/kv/table.${publish(files, 1, tableIn("eu"))}`, "{}"),
      /has another content: its SHA-256 is 44136fa355/,
    ],
    ["names a table with faults", (files) => publish(files, 3, {}), /^error: revision 3:1:1: /],
  ])("leaves all to Waybill where the pointer %s", async (_, step, why) => {
    const { lines, reloads } = await watched([step, ...seconds(6)]);
    expect(lines).toEqual([expect.stringMatching(why)]);
    expect(lines[0]).toContain(LEFT);
    expect(reloads).toBe(1);
  });
});

describe("the options of waybill export", () => {
  const run = (...args: string[]) => waybill(["export", "haproxy", "--out", "/tmp/never", ...args]);
  const GATEWAY = ["--waybill", "http://127.0.0.1:8787"];
  it.each([
    [["--watch", ...GATEWAY], "--watch needs --published"],
    [["--watch", "--published", STATE], "--watch needs --waybill"],
    [
      ["--watch", "--published", STATE, ...GATEWAY],
      "--watch needs --reload, such as --reload 'systemctl reload haproxy'",
    ],
    [["--published", STATE, "--reload", "true", ...GATEWAY], "--reload needs --watch"],
  ])("%j are misuse", async (args, why) => {
    const { code, stderr } = await run(...args);
    expect([code, stderr]).toEqual([64, expect.stringContaining(why)]);
  });
  it("--published takes the table in force, once", async () => {
    const { code, stderr } = await run("--published", STATE, ...GATEWAY);
    expect([code, stderr]).toEqual([1, `error: no table is published in ${STATE}. Nothing was written.\n`]);
  });
});
