import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { freePort } from "../export/engines.ts";
import { type RunningBucket, startBucket } from "../system/machines/bucket/bucket.ts";
import { edgeArgs, killAll, type Serving, serve as serveRole } from "../system/machines/serving.ts";
import { gatewayAt, run, SETTINGS, TOKEN } from "./upgrade/gateway.ts";
import { HERE, type Machines, machinesOf } from "./upgrade/one-machine.ts";
import { writeJson } from "./upgrade/world.ts";

/**
 * The whole state of one machine in a cluster of three state nodes with a bucket, and back on one machine. All nodes
 * begin anew from the bucket alone, and one is killed during an import. Takes five minutes.
 */

const NODES = ["s1", "s2", "s3"] as const;
type Name = (typeof NODES)[number];
/** An address of loopback that no connection leaves from: those of 127.0.0.1 take free ports at any time. */
const HOST = `127.77.${process.pid & 255}.${1 + ((process.pid >> 8) % 250)}`;

describe("one machine and a cluster with a bucket", () => {
  const root = mkdtempSync(join(tmpdir(), "waybill-moving-cluster-"));
  const env = {
    ...SETTINGS,
    OPEN_PAGES: "off",
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "secret",
  };
  const nodes = new Map<Name, Serving>();
  let bucket: RunningBucket;
  let machines: Machines;

  const waybill: Machines["waybill"] = (...words) => machines.waybill(...words);
  const at = (url: string, ...words: readonly string[]) =>
    run(HERE, root, words, { WAYBILL_TOKEN: TOKEN, WAYBILL_GATEWAY: url });
  const urlOf = (name: Name): string => nodes.get(name)?.urls[0] ?? "";
  async function startNodes(): Promise<void> {
    await Promise.all(
      NODES.map(async (name) =>
        nodes.set(name, await serveRole(["build", "--config", `${name}.json`], { cwd: root, env })),
      ),
    );
  }
  const stopNodes = async (): Promise<void> => {
    await Promise.all([...nodes.values()].map((node) => node.stop()));
    nodes.clear();
  };

  async function writeConfigs({ name: bucketName, url }: RunningBucket): Promise<void> {
    const ports = await Promise.all(NODES.flatMap(() => [freePort(), freePort()]));
    const addressOf = (index: number) => `${HOST}:${ports[index]}`;
    for (const [index, name] of NODES.entries())
      writeJson(root, `${name}.json`, {
        role: "state",
        state: name,
        listen: "127.0.0.1:0",
        stateListen: addressOf(index),
        stateTls: "tls/state",
        bucket: `s3://${bucketName}/waybill`,
        bucketOptions: [`aws_endpoint=${url}`, "aws_region=us-east-1"],
        clusterAddr: addressOf(index + 3),
        clusterKeyFile: "cluster.key",
        peers: NODES.flatMap((_, other) => (other === index ? [] : [addressOf(other + 3)])),
      });
  }

  beforeAll(async () => {
    bucket = await startBucket();
    machines = await machinesOf(root);
    expect(await waybill("cluster", "certificates", "--out", "tls")).toMatchObject({ code: 0 });
    writeFileSync(join(root, "cluster.key"), randomBytes(32).toString("hex"), { mode: 0o600 });
    await writeConfigs(bucket);
    expect(await waybill("state", "export", "--state", "one", "--out", "one.state")).toMatchObject({ code: 0 });
  }, 300_000);

  afterAll(async () => {
    machines.kill();
    await killAll();
    await bucket.stop();
    rmSync(root, { recursive: true, force: true });
  });

  it("the cluster goes on with what the machine had, at each of its nodes", async () => {
    await startNodes();
    expect(await at(urlOf("s2"), "state", "import", "one.state")).toMatchObject({ code: 0 });
    for (const name of NODES)
      expect([name, await at(urlOf(name), "state", "verify", "one.state")]).toMatchObject([name, { code: 0 }]);
    const edge = await serveRole(
      edgeArgs(
        "e1",
        NODES.map((name) => JSON.parse(readFileSync(join(root, `${name}.json`), "utf8")).stateListen),
      ),
      { cwd: root, env },
    );
    const gateway = gatewayAt(edge.urls[0] ?? "", HERE, root);
    await vi.waitFor(() => machines.memory.expectNoted(gateway), { timeout: 60_000, interval: 1_000 });
    await machines.expectCounters(gateway);
    await machines.memory.addAll(gateway, "b");
    await gateway.command("table", "promote", "--expect", "3", "--yes", "--wait");
    await machines.memory.note(gateway);
    await edge.stop();
  }, 300_000);

  it("a cluster with contents takes nothing, and its backup is whole", async () => {
    expect(await at(urlOf("s3"), "state", "export", "--out", "running.state")).toMatchObject({ code: 0 });
    expect(await waybill("state", "verify", "running.state")).toMatchObject({ code: 0 });
    const refused = await at(urlOf("s1"), "state", "import", "running.state");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("nothing was imported") });
  }, 120_000);

  it("nodes without their folders go on from the bucket, and one machine with what they export", async () => {
    await stopNodes();
    for (const name of NODES) rmSync(join(root, name), { recursive: true, force: true });
    await startNodes();
    expect(await at(urlOf("s3"), "state", "export", "--out", "cluster.state")).toMatchObject({ code: 0 });
    await stopNodes();
    const imported = await waybill("state", "import", "cluster.state", "--state", "back", "--sequence-gap", "0");
    expect(imported).toMatchObject({ code: 0 });
    const back = await machines.start("back");
    await machines.memory.expectNoted(back);
    await machines.expectCounters(back);
    await machines.memory.mintMore(back);
    await machines.stop(back);
  }, 300_000);

  it("an import goes on after a node was killed meanwhile", async () => {
    const other = await startBucket({ name: "other" });
    for (const name of NODES) rmSync(join(root, name), { recursive: true, force: true });
    await writeConfigs(other);
    await startNodes();
    const first = at(urlOf("s2"), "state", "import", "cluster.state");
    await pause(1_500);
    nodes.get("s1")?.signal("SIGKILL");
    await nodes.get("s1")?.ended;
    const { code } = await first;
    // Those that are left take its objects over; the command is run again until they have.
    await vi.waitFor(
      async () => expect(await at(urlOf("s3"), "state", "import", "cluster.state")).toMatchObject({ code: 0 }),
      { timeout: 120_000, interval: 2_000 },
    );
    expect(await at(urlOf("s2"), "state", "verify", "cluster.state")).toMatchObject({ code: 0 });
    expect([0, 1]).toContain(code);
    await stopNodes();
    await other.stop();
  }, 240_000);
});
