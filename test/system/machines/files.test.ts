import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeCertificates } from "../../../src/host/machines/certificates.ts";
import { checkFiles, checkMachine } from "../../../src/host/machines/files.ts";
import type { MachineOptions, StateOptions } from "../../../src/host/machines/options.ts";

/** Files of a machine, with certificates by the system's openssl. */

const DAY_MS = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), "waybill-files-"));
const made = join(folder, "made");
const other = join(folder, "other");
let nowMs = 0;

beforeAll(() => {
  expect(makeCertificates(made, 90)).toEqual({ ok: true, value: { isRenewal: false } });
  expect(makeCertificates(other, 90)).toMatchObject({ ok: true });
  nowMs = Date.now();
});
afterAll(() => rmSync(folder, { recursive: true }));

const common = { stateFolder: join(folder, "state"), stopMs: 1 };
const edge = (tlsFolder: string): MachineOptions => ({
  ...common,
  tlsFolder,
  role: "edge",
  name: "e1",
  listen: { host: "127.0.0.1", port: 0 },
  processes: 1,
  stateNodes: ["127.0.0.1:1"],
});
const node = (tlsFolder: string, cluster?: Partial<NonNullable<StateOptions["cluster"]>>): MachineOptions => ({
  ...common,
  tlsFolder,
  role: "state",
  listen: { host: "127.0.0.1", port: 0 },
  stateListen: { host: "127.0.0.1", port: 0 },
  cluster: cluster && {
    bucket: "s3://acme",
    bucketOptions: [],
    address: { host: "127.0.0.1", port: 7_001 },
    keyFile: join(folder, "key"),
    peers: [],
    ...cluster,
  },
});

/** A copy of a role's folder, in which `change` breaks something. */
const broken = (role: "state" | "edge", change: (place: string) => void): string => {
  const place = mkdtempSync(join(folder, "broken-"));
  cpSync(join(made, role), place, { recursive: true });
  change(place);
  return place;
};

describe("certificates", () => {
  it("fit both roles, and end with the days that were asked for", () => {
    for (const [options, days] of [
      [edge(join(made, "edge")), 89],
      [node(join(made, "state")), 89],
    ] as const) {
      expect(checkFiles(options, nowMs)).toMatchObject({ faults: [], notes: [] });
      expect(checkFiles(options, nowMs + (days - 29) * DAY_MS + 60_000).notes).toEqual([
        expect.stringMatching(/cert\.pem ends in 29 days, on \d{4}-\d\d-\d\d: renew it$/),
      ]);
      expect(checkFiles(options, nowMs + 91 * DAY_MS).faults).toEqual([
        expect.stringMatching(/cert\.pem ended on \d{4}-\d\d-\d\d: renew it$/),
      ]);
      expect(checkFiles(options, nowMs - 2 * DAY_MS).faults).toHaveLength(2);
    }
  });

  it("are renewed by the authority that is there, which stays", () => {
    const place = join(folder, "renewed");
    cpSync(made, place, { recursive: true });
    expect(makeCertificates(place, 30)).toEqual({ ok: true, value: { isRenewal: true } });
    const textOf = (root: string, path: string) => readFileSync(join(root, path), "utf8");
    expect(textOf(place, "ca/ca.pem")).toBe(textOf(made, "ca/ca.pem"));
    expect(textOf(place, "state/cert.pem")).not.toBe(textOf(made, "state/cert.pem"));
    // An old and a new machine trust each other.
    const mixed = broken("edge", (to) => cpSync(join(place, "state", "ca.pem"), join(to, "ca.pem")));
    expect(checkFiles(edge(mixed), nowMs).faults).toEqual([]);
  });

  it("are not made where another folder is in the place of the authority's", () => {
    const place = join(folder, "taken");
    mkdirSync(join(place, "ca"), { recursive: true });
    expect(makeCertificates(place, 30)).toEqual({
      ok: false,
      error: `${place}/ca has no key.pem: name another folder with --out`,
    });
  });

  it("come with what to do where openssl is missing", () => {
    const program = [
      `import { makeCertificates } from ${JSON.stringify(join(import.meta.dirname, "../../../src/host/machines/certificates.ts"))};`,
      `console.log(JSON.stringify(makeCertificates(${JSON.stringify(join(folder, "none"))}, 30)));`,
    ].join("\n");
    const { stdout } = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", program], {
      encoding: "utf8",
      env: { PATH: folder },
    });
    expect(JSON.parse(stdout)).toEqual({
      ok: false,
      error: "openssl is not installed: apt-get install openssl, apk add openssl or brew install openssl",
    });
  });

  it.each<readonly [what: string, role: "state" | "edge", change: (place: string) => void, fault: RegExp]>([
    ["a missing folder", "edge", (to) => rmSync(to, { recursive: true }), /ca\.pem cannot be read: no such file/],
    ["a missing key", "edge", (to) => rmSync(join(to, "key.pem")), /key\.pem cannot be read: no such file/],
    [
      "another's key",
      "edge",
      (to) => cpSync(join(made, "state/key.pem"), join(to, "key.pem")),
      /key\.pem is not the key of/,
    ],
    ["a key that is none", "edge", (to) => writeFileSync(join(to, "key.pem"), "x"), /key\.pem holds no private key/],
    [
      "a key for all to read",
      "edge",
      (to) => chmodSync(join(to, "key.pem"), 0o644),
      /every user of this machine may read: chmod 600/,
    ],
    [
      "a certificate that is none",
      "edge",
      (to) => writeFileSync(join(to, "cert.pem"), "x"),
      /cert\.pem holds no certificate/,
    ],
    [
      "a damaged certificate",
      "edge",
      (to) => writeFileSync(join(to, "cert.pem"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
      /cert\.pem holds no certificate/,
    ],
    [
      "another authority",
      "state",
      (to) => cpSync(join(other, "state/ca.pem"), join(to, "ca.pem")),
      /comes from another authority/,
    ],
  ])("refuses %s", (_, role, change, fault) => {
    const place = broken(role, change);
    const { faults } = checkFiles(role === "edge" ? edge(place) : node(place), nowMs);
    expect(faults[0]).toMatch(fault);
  });

  it("of an edge are none of a state node", () => {
    expect(checkFiles(node(join(made, "edge")), nowMs).faults).toEqual([
      expect.stringMatching(/cert\.pem is not for the name state\.waybill: an edge refuses it$/),
    ]);
  });

  it("of a state node let an edge pose as one: a note", () => {
    const { faults, notes } = checkFiles(edge(join(made, "state")), nowMs);
    expect([faults, notes]).toEqual([
      [],
      [
        expect.stringMatching(
          /cert\.pem is for the name state\.waybill: who has this edge's key can pose as a state node/,
        ),
      ],
    ]);
  });

  it("of two authorities are trusted while one takes over from the other", () => {
    const place = broken("edge", (to) => {
      const both = readFileSync(join(other, "ca/ca.pem"), "utf8") + readFileSync(join(made, "ca/ca.pem"), "utf8");
      writeFileSync(join(to, "ca.pem"), both);
    });
    const { faults, tls } = checkFiles(edge(place), nowMs);
    expect([faults, tls?.authorities.length]).toEqual([[], 2]);
  });
});

describe("files of a cluster", () => {
  const state = () => join(made, "state");
  it.each<readonly [what: string, text: string | undefined, mode: number, faults: readonly RegExp[]]>([
    ["of 32 bytes", "a".repeat(32), 0o600, []],
    ["for a group too, as Kubernetes has it", "a".repeat(64), 0o440, []],
    ["with an end of line", `${"a".repeat(32)}\n`, 0o600, []],
    [
      "that is too short",
      `${"a".repeat(31)}\n`,
      0o600,
      [/key holds 31 bytes, and a key has at least 32: openssl rand/],
    ],
    ["for all to read", "a".repeat(32), 0o604, [/key is a secret that every user/]],
    ["that is missing", undefined, 0, [/key cannot be read: no such file/]],
  ])("takes or refuses a key %s", (_, text, mode, expected) => {
    const keyFile = join(mkdtempSync(join(folder, "key-")), "key");
    if (text !== undefined) writeFileSync(keyFile, text, { mode: 0o600 });
    if (text !== undefined) chmodSync(keyFile, mode);
    const { faults } = checkFiles(node(state(), { keyFile }), nowMs);
    expect(faults).toHaveLength(expected.length);
    for (const [at, each] of expected.entries()) expect(faults[at]).toMatch(each);
    expect(faults.join()).not.toContain("aaaa");
  });

  it("are the bucket's credentials too", () => {
    const keyFile = join(folder, "good-key");
    writeFileSync(keyFile, "a".repeat(32), { mode: 0o600 });
    const bucketOptions = [`aws_credentials_file=${join(folder, "nowhere")}`];
    expect(checkFiles(node(state(), { keyFile, bucketOptions }), nowMs).faults).toEqual([
      expect.stringMatching(/nowhere cannot be read: no such file/),
    ]);
    const { faults, notes } = checkMachine(node(state(), { keyFile }), nowMs);
    expect([faults, notes]).toEqual([
      [],
      [expect.stringContaining("run NTP"), expect.stringContaining("there is no watchdog")],
    ]);
    expect(checkMachine(node(state()), nowMs).notes).toEqual([]);
  });
});
