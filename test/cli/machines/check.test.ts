import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createPlain } from "node:http";
import { createServer, type Server } from "node:https";
import { type AddressInfo, createServer as createSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeCertificates } from "../../../src/host/machines/certificates.ts";
import { checkMachine } from "../../../src/host/machines/operate/check.ts";
import { clusterStatus } from "../../../src/host/machines/operate/status.ts";
import type { EdgeOptions } from "../../../src/host/machines/options.ts";
import { waybill } from "../fake-runtime.ts";
import { MemoryFiles } from "../memory-files.ts";

/** An edge's check against state nodes of this process, and status and restart of a cluster of which none runs. */

const folder = mkdtempSync(join(tmpdir(), "waybill-check-"));
const servers: Server[] = [];

/** A state node with the certificates of a folder. It answers with the next of `said`, the last one again and again. */
async function stateNode(certificates: string, ...said: readonly object[]): Promise<string> {
  let count = 0;
  const [ca, cert, key] = ["ca.pem", "cert.pem", "key.pem"].map((name) =>
    readFileSync(join(folder, certificates, name)),
  );
  const server = createServer({ ca, cert, key, requestCert: true }, (_, response) => {
    response.end(JSON.stringify({ node: { version: "1.0.0" }, ...said[Math.min(count++, said.length - 1)] }));
  });
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function closedPort(): Promise<string> {
  const socket = createSocket();
  await once(socket.listen(0, "127.0.0.1"), "listening");
  const { port } = socket.address() as AddressInfo;
  await once(socket.close(), "close");
  return `127.0.0.1:${port}`;
}

const needs = {
  version: "1.0.0",
  nowMs: Date.now,
  fetch,
  deadline: AbortSignal.timeout,
  env: () => undefined,
  readText: () => undefined,
  pause: async () => undefined,
};

const checked = (...stateNodes: readonly string[]) => checkedAt(0, ...stateNodes);

async function checkedAt(port: number, ...stateNodes: readonly string[]) {
  const options: EdgeOptions = {
    role: "edge",
    name: "e1",
    listen: { host: "127.0.0.1", port },
    processes: 1,
    stateFolder: join(folder, "e1"),
    stateNodes,
    tlsFolder: join(folder, "tls/edge"),
    stopMs: 1,
  };
  const findings = await checkMachine(options, needs);
  return findings.filter(({ state }) => state !== "ok");
}

beforeAll(() => {
  for (const name of ["tls", "foreign"]) expect(makeCertificates(join(folder, name), 365)).toMatchObject({ ok: true });
});

afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(folder, { recursive: true });
});

describe("the check of an edge", () => {
  it("finds nothing where a state node answers", async () => {
    expect(await checked(await stateNode("tls/state"))).toEqual([]);
  });

  it.each([
    ["of another authority", "foreign/state", /unable to verify the first certificate|self-signed certificate/],
    ["for another name", "tls/edge", /does not match certificate's altnames/],
  ])("has an error for a certificate %s, with its remedy", async (_, certificates, why) => {
    const findings = await checked(await stateNode(certificates), await stateNode("tls/state"));
    expect(findings).toEqual([{ state: "error", text: expect.stringMatching(why) }]);
    expect(findings[0]?.text).toMatch(/Copy the folders of certificates to both again, and restart both$/);
  });

  it.each([
    ["that ask one object", [[{ object: "a" }], [{ object: "a" }]], 0],
    ["of which one is of an earlier version", [[{ object: "a" }], [{}]], 0],
    ["whose object went to another node meanwhile", [[{ object: "a" }, { object: "b" }], [{ object: "b" }]], 0],
    ["with a state of their own", [[{ object: "a" }], [{ object: "b" }]], 1],
  ])("takes state nodes %s", async (_, said, errors) => {
    const nodes = await Promise.all(said.map((each) => stateNode("tls/state", ...each)));
    const why = `state nodes have different states, so that numbers and keys are given twice: ${nodes.join(" | ")}. `;
    const remedy = "Stop those of the wrong state, and correct their bucket and bucketOptions";
    const findings = await checked(...nodes);
    expect(findings).toEqual(errors === 0 ? [] : [{ state: "error", text: why + remedy }]);
  });

  const at = "2026-11-28T06:00:00.000Z";
  const own = { name: "e1", revision: 3, change: 4, version: "1.0.0", processes: 1, ageMs: 0, heardAt: at };

  it.each<readonly [what: string, edges: readonly object[], warnings: readonly RegExp[]]>([
    ["in order", [own], []],
    ["ahead of the state nodes", [{ ...own, change: 5 }], [/^edge e1: it has revision 3, change 5, which no /]],
    [
      "behind",
      [{ ...own, change: 3 }],
      [/^edge e1: it has revision 3, change 3, and revision 3, change 4 is published$/],
    ],
    ["one of two of its name", [{ ...own, isTwice: true }], [/^edge e1: two edges have this name/]],
    ["with an old mirror", [{ ...own, ageMs: 90_000 }], [/^edge e1: its mirror is 90 s old$/]],
    ["stopped", [{ ...own, change: 5, heardAt: "2026-11-28T05:58:00.000Z" }], []],
    ["in order beside another that is not", [own, { ...own, name: "e2", change: 5 }], []],
  ])("warns as the state nodes know it: %s", async (_, edges, warnings) => {
    const node = await stateNode("tls/state", { time: at, published: { revision: 3, change: 4 }, edges });
    const found = await checked(node);
    expect(found.map(({ state }) => state)).toEqual(warnings.map(() => "warning"));
    for (const [index, each] of warnings.entries()) expect(found[index]?.text).toMatch(each);
  });

  const published = { revision: 3, change: 4 };
  it.each<readonly [what: string, nodes: readonly (readonly object[])[], findings: readonly object[]]>([
    [
      "is ahead where nothing is published any more",
      [[{ time: at, isUnpublished: true, edges: [{ ...own, ageMs: 90_000, silent: ["s1"] }] }]],
      [
        {
          state: "warning",
          text: expect.stringMatching(/^edge e1: it has revision 3, change 4, which no state node /),
        },
      ],
    ],
    [
      "has no table yet, and nothing is published",
      [[{ time: at, isUnpublished: true, edges: [{ ...own, revision: 0, change: 0 }] }]],
      [],
    ],
    ["is ahead of a table that is not known", [[{ time: at, edges: [own] }]], []],
    [
      "is behind for a moment",
      [
        [
          { time: at, published, edges: [{ ...own, change: 3 }] },
          { time: at, published, edges: [own] },
        ],
      ],
      [],
    ],
    [
      "is ahead of one of two states",
      [[{ object: "a", time: at, published, edges: [{ ...own, change: 5 }] }], [{ object: "b", time: at, edges: [] }]],
      [{ state: "error", text: expect.stringMatching(/^state nodes have different states, /) }],
    ],
  ])("warns once, and of what lasts: it %s", async (_, said, findings) => {
    const nodes = await Promise.all(said.map((each) => stateNode("tls/state", ...each)));
    expect(await checked(...nodes)).toEqual(findings);
  });

  it("warns of an edge that serves, and whose mirror does not ask", async () => {
    const served = createPlain((_, response) => {
      response.setHeader("content-type", "application/json");
      response.end("{}");
    });
    await once(served.listen(0, "127.0.0.1"), "listening");
    const { port } = served.address() as AddressInfo;
    const edges = [{ ...own, heardAt: "2026-11-28T05:58:00.000Z" }];
    const node = await stateNode("tls/state", { time: at, published, edges });
    const found = await checkedAt(port, node);
    served.close();
    expect(found).toEqual([{ state: "warning", text: "edge e1: it has not asked for 120 s" }]);
  });

  it("warns if no state node answers, and notes if one does not", async () => {
    const silent = await closedPort();
    const refused = { state: "note", text: `the state node ${silent} does not answer: connection refused` };
    expect(await checked(silent, await stateNode("tls/state"))).toEqual([refused]);
    expect(await checked(silent)).toEqual([
      refused,
      { state: "warning", text: expect.stringMatching(/^no state node answers: /) },
    ]);
  });
});

describe("the status of a cluster", () => {
  const at = "2026-11-28T06:00:00.000Z";
  const EDGE = { name: "e1", revision: 3, change: 4, version: "1.0.0", processes: 1, ageMs: 0, heardAt: at };
  const said = { time: at, published: { revision: 3, change: 4 }, edges: [EDGE] };
  const faultsOf = async (...nodes: readonly object[]) => {
    const stateAddresses = await Promise.all(nodes.map((each) => stateNode("tls/state", { ...said, ...each })));
    const known = { clusterAddresses: [], stateAddresses, tlsFolder: join(folder, "tls/edge") };
    return (await clusterStatus(known, Date.parse(at))).faults;
  };

  it.each<readonly [what: string, nodes: readonly object[], faults: readonly RegExp[]]>([
    ["well", [{ object: "a" }, { object: "a" }], []],
    ["well, with an earlier version", [{}, { object: "a" }], []],
    ["two states", [{ object: "a" }, { object: "b" }], [/^state nodes have different states, /]],
    ["two edges of one name", [{ edges: [{ ...EDGE, isTwice: true }] }], [/^edge e1: two edges have this name, /]],
    [
      "an edge that is behind",
      [{ edges: [{ ...EDGE, revision: 2 }] }],
      [/^edge e1: it has revision 2, change 4, and revision 3, change 4 is published$/],
    ],
    [
      "an edge that has a table, and nothing is published",
      [{ published: undefined, isUnpublished: true }],
      [/^edge e1: it has revision 3, change 4, which no /, /^no table is published$/],
    ],
    ["a table that is not known", [{ published: undefined }], [/^the state nodes do not name the table that is pub/]],
    [
      "an edge that has a later revision, whatever it hears",
      [{ edges: [{ ...EDGE, revision: 4, change: 1, ageMs: 90_000, silent: ["s1"] }] }],
      [/^edge e1: it has revision 4, change 1, which no state node has: /],
    ],
    [
      "an edge that has a later change",
      [{ edges: [{ ...EDGE, change: 5 }] }],
      [/^edge e1: it has revision 3, change 5, /],
    ],
    ["an edge of which no time is known", [{ edges: [{ ...EDGE, heardAt: "" }] }], [/^edge e1: it has not asked /]],
  ])("is %s", async (_, nodes, faults) => {
    const found = await faultsOf(...nodes);
    expect(found).toHaveLength(faults.length);
    for (const [index, each] of faults.entries()) expect(found[index]).toMatch(each);
  });
});

describe("a cluster of which nothing runs", () => {
  const text = JSON.stringify({
    role: "state",
    stateListen: "127.0.0.1:1",
    stateTls: "absent",
    bucket: "s3://acme",
    clusterAddr: "127.0.0.1:2",
    clusterKeyFile: "absent",
  });
  const run = (command: string) =>
    waybill(["cluster", command, "--config", "s1.json"], { files: MemoryFiles.of({ "s1.json": text }) });

  it("has a table that status does not know", async () => {
    const { stdout, code } = await run("status");
    expect([code, stdout]).toEqual([2, expect.stringMatching(/^published: unknown, no state node answers\n/)]);
  });

  it("is told what a restart without a command keeps", async () => {
    const { stderr, code } = await run("restart");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^note: each node keeps the options, settings and build /);
    expect(stderr).toMatch(/not ready, so no node was restarted/);
  });
});
