import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeCertificates } from "../../../src/host/machines/certificates.ts";
import { type Rig, startRig } from "./rig/rig.ts";
import { pidIn } from "./serving.ts";

/** `waybill cluster check`, `status` and `restart` against three state nodes on the bucket stand-in, and two edges. */

const MAIN = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));
const DEADLINE_MS = 240_000;
const STATES = ["state1", "state2", "state3"] as const;
let rig: Rig;

beforeAll(async () => {
  rig = await startRig({ states: 3, edges: 2, timeDivisor: 5, needsCuts: false });
}, DEADLINE_MS);
afterAll(() => rig?.stop());

const fileOf = (name: string) => `${rig.stateFolderOf(name)}.json`;
const cluster = (command: string, names: readonly string[], ...more: readonly string[]) => {
  const files = names.flatMap((name) => ["--config", fileOf(name)]);
  const args = ["--disable-warning=ExperimentalWarning", MAIN, "cluster", command, ...files, ...more];
  const env = { ...process.env, AWS_ACCESS_KEY_ID: "operator", AWS_SECRET_ACCESS_KEY: "secret" };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env });
  return { status, stdout, stderr };
};
const statusJson = (...names: readonly string[]) => {
  const { status, stdout, stderr } = cluster("status", names, "--json");
  if (stdout === "") throw new Error(stderr);
  return { status, shown: JSON.parse(stdout) };
};

const ask = async (at: number, path: string) => {
  const target = rig.targets[at];
  const headers = { authorization: `Bearer ${rig.token}` };
  const response = await fetch(`http://${target?.host}:${target?.port}${path}`, { headers });
  return { status: response.status, text: await response.text() };
};

describe("a cluster that is well", () => {
  it("is shown by status, from a state node's file and an edge's", { timeout: DEADLINE_MS }, async () => {
    await expect
      .poll(() => statusJson("state1", "edge1"), { timeout: 60_000, interval: 1_000 })
      .toMatchObject({
        status: 0,
        shown: {
          isWell: true,
          faults: [],
          published: { revision: 1 },
          leases: [{ isReady: true }, { isReady: true }, { isReady: true }],
          nodes: [{ version: expect.any(String) }, { version: expect.any(String) }, { version: expect.any(String) }],
          edges: [
            { name: "edge1", revision: 1, isBehind: false },
            { name: "edge2", revision: 1, isBehind: false },
          ],
        },
      });
    // The file of one state node is enough: edges asked the others.
    expect(statusJson("state2").shown.nodes).toHaveLength(3);
    expect(cluster("status", ["state1"]).stdout).toMatch(
      /^published: revision 1,[\s\S]*\bleases\n[\s\S]*\nedges\n {2}edge1 {2}revision 1,[\s\S]*\nall is well\n$/,
    );
  });

  it("passes the check of each machine", { timeout: DEADLINE_MS }, () => {
    const checked = cluster("check", ["state1"]);
    expect(checked).toMatchObject({ status: 0, stderr: "" });
    expect(checked.stdout).toMatch(/^ok: s3:\/\/acme\/waybill has conditional writes$/m);
    expect(checked.stdout).toMatch(/^ok: this machine's clock agrees with the bucket's$/m);
    expect(checked.stdout.match(/ is answered by a /g)).toHaveLength(3);
    expect(checked.stdout.match(/^ok: the peer .* is ready$/gm)).toHaveLength(2);
    expect(checked.stdout).toMatch(/^ok: the cluster key is that of [\d.:]+ and [\d.:]+$/m);
    expect(checked.stdout).toMatch(/^ok: state nodes that answer run waybill /m);
    const edge = cluster("check", ["edge1"]);
    expect(edge).toMatchObject({ status: 0, stderr: "" });
    expect(edge.stdout.match(/^ok: the state node .* answers$/gm)).toHaveLength(3);
    expect(edge.stdout).toMatch(/ is answered by an edge$/m);
  });
});

describe("a port of another kind", () => {
  const read = (name: string) => JSON.parse(readFileSync(fileOf(name), "utf8"));
  /** The errors of a check with a file that has other values. */
  const errorsOf = (name: string, values: object): readonly string[] => {
    const own = readFileSync(fileOf(name), "utf8");
    writeFileSync(fileOf(name), JSON.stringify({ ...read(name), ...values }));
    try {
      const { status, stderr } = cluster("check", [name]);
      expect([status, stderr]).toEqual([1, expect.stringContaining("error: ")]);
      return stderr.split("\n").filter((line) => line.startsWith("error: "));
    } finally {
      writeFileSync(fileOf(name), own);
    }
  };

  it("is no state node's to an edge", { timeout: DEADLINE_MS }, () => {
    const [one, two, three] = STATES.map(read);
    const stateNodes = [one.listen, two.clusterAddr, three.stateListen];
    expect(errorsOf("edge1", { stateNodes })).toEqual(
      [one.listen, two.clusterAddr].map(
        (port) => `error: the state node ${port} speaks no TLS: name stateListen of a state node`,
      ),
    );
  });

  it("is no peer's to a state node", { timeout: DEADLINE_MS }, () => {
    const [, two, three] = STATES.map(read);
    expect(errorsOf("state1", { peers: [two.listen, three.stateListen] })).toEqual(
      [two.listen, three.stateListen].map(
        (port) =>
          `error: the peer ${port} is no port of a cluster: peers names the clusterAddr of each other state node`,
      ),
    );
  });

  it.each([
    ["edge1", "listen", "clusterAddr"],
    ["state1", "listen", "clusterAddr"],
    ["state1", "stateListen", "listen"],
    ["state1", "clusterAddr", "listen"],
  ])("is not that of %s's %s, though it answers", { timeout: DEADLINE_MS }, (name, member, other) => {
    const port: string = read("state2")[other];
    expect(errorsOf(name, { [member]: port })).toContain(
      `error: ${port} is taken by another program: stop it, or choose another port`,
    );
  });
});

it("shows an edge's own mirror and all machines on its pages", { timeout: DEADLINE_MS }, async () => {
  await expect
    .poll(async () => JSON.parse((await ask(0, "/-/ready")).text), { timeout: 30_000, interval: 1_000 })
    .toMatchObject({
      status: "ready",
      mirror: { revision: 1, ageSeconds: expect.any(Number), silent: [], lastError: null },
    });
  const { machines } = JSON.parse((await ask(0, "/-/table/status")).text);
  expect(machines).toMatchObject({
    published: { revision: 1 },
    edges: [{ name: "edge1" }, { name: "edge2" }],
    nodes: [{}, {}, {}],
  });
  const { text } = await ask(0, "/-/metrics");
  expect(text).toMatch(/^waybill_mirror_age_seconds \d/m);
  expect(text).toMatch(/^waybill_edge_behind\{edge="edge2"\} 0$/m);
  expect(text.match(/^waybill_state_node_up\{node="[\d.:]+"\} 1$/gm)).toHaveLength(3);
});

it("names the machine with another cluster key, from each side, and not the key", {
  timeout: DEADLINE_MS,
}, async () => {
  const [file, key, wrong] = [fileOf("state3"), "f".repeat(64), `${fileOf("state3")}.key`];
  const own = readFileSync(file, "utf8");
  const address = (name: string): string => JSON.parse(readFileSync(fileOf(name), "utf8")).clusterAddr;
  writeFileSync(wrong, key, { mode: 0o600 });
  writeFileSync(file, JSON.stringify({ ...JSON.parse(own), clusterKeyFile: wrong }));
  // The file alone: its node still runs with the right one.
  const before = cluster("check", ["state3"]);
  expect([before.status, before.stdout.includes(key), before.stderr.includes(key)]).toEqual([1, false, false]);
  expect(before.stderr).toContain(`the node of this machine runs with another cluster key than ${wrong}: `);
  expect(before.stderr).toContain(
    `${wrong} holds another cluster key than ${address("state1")} and ${address("state2")} have: `,
  );
  await rig.states[2]?.stop();
  await rig.states[2]?.start();
  const good = cluster("check", ["state1"]);
  expect([good.status, good.stderr]).toEqual([
    1,
    expect.stringContaining(
      `error: the peer ${address("state3")} has another cluster key than this machine and ${address("state2")}: copy`,
    ),
  ]);
  const bad = cluster("check", ["state3"]);
  expect(bad.stderr).not.toContain("the node of this machine runs");
  expect([bad.status, bad.stderr]).toEqual([1, expect.stringContaining(`error: ${wrong} holds another cluster key`)]);
  await rig.states[2]?.stop();
  writeFileSync(file, own);
  await rig.states[2]?.start();
  expect(cluster("check", ["state3"]).stdout).toMatch(/^ok: the cluster key is that of /m);
});

describe("a restart", () => {
  it("takes one node after the other, and loads renewed certificates", { timeout: DEADLINE_MS }, async () => {
    const { stateTls } = JSON.parse(readFileSync(fileOf("state1"), "utf8"));
    expect(makeCertificates(dirname(stateTls), 10)).toMatchObject({ ok: true });
    const renewal = cluster("check", ["state1"]);
    expect(renewal).toMatchObject({ status: 0 });
    expect(renewal.stderr).toMatch(/^warning: .*cert\.pem ends in 9 days, on [\d-]+: renew it$/m);
    const other =
      /^warning: process \d+ has another certificate than .*cert\.pem, which ends in 36\d days, on [\d-]+: /m;
    expect(renewal.stderr).toMatch(other);
    expect(cluster("check", ["edge1"]).stderr).toMatch(other);
    const before = STATES.map((name) => pidIn(rig.stateFolderOf(name)));
    const { status, stdout, stderr } = cluster("restart", STATES);
    expect([status, stdout]).toEqual([0, "3 nodes restarted\n"]);
    expect(stderr.match(/ is ready again after \d+\.\d s$/gm)).toHaveLength(3);
    expect(cluster("check", ["state1"]).stderr).not.toMatch(other);
    for (const [at, name] of STATES.entries()) expect(pidIn(rig.stateFolderOf(name))).not.toBe(before[at]);
  });

  it("is refused while a node is down, which status and the edges' metrics show", {
    timeout: DEADLINE_MS,
  }, async () => {
    await rig.states[2]?.stop();
    const refused = cluster("restart", STATES);
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringMatching(/not ready, so no node was restarted/)]);
    const { status, shown } = statusJson("state1", "edge1");
    expect([status, shown.isWell]).toEqual([2, false]);
    expect(shown.faults.join("\n")).toMatch(/^state node [\d.:]+: connection refused$/m);
    await expect
      .poll(async () => (await ask(0, "/-/metrics")).text, { timeout: 30_000, interval: 1_000 })
      .toMatch(/^waybill_state_node_up\{node="[\d.:]+"\} 0$/m);
  });
});

it("an edge is ready with all state nodes gone, and says how old its mirror is", { timeout: DEADLINE_MS }, async () => {
  await Promise.all(rig.states.slice(0, 2).map((state) => state.stop()));
  const { status, text } = await ask(1, "/-/ready");
  expect([status, JSON.parse(text)]).toMatchObject([200, { status: "ready", mirror: { revision: 1 } }]);
  await expect
    .poll(async () => JSON.parse((await ask(1, "/-/ready")).text).mirror, { timeout: 30_000, interval: 1_000 })
    .toMatchObject({ silent: [expect.any(String), expect.any(String), expect.any(String)] });
  const { text: metrics } = await ask(1, "/-/metrics");
  expect(metrics).toMatch(/^waybill_mirror_revision 1$/m);
  expect(metrics).not.toContain("waybill_edge_behind");
  expect(cluster("status", ["edge1"])).toMatchObject({
    status: 2,
    stdout: expect.stringMatching(
      /^published: unknown, no state node answers$[\s\S]*no state node says which edges there are/m,
    ),
  });
});
