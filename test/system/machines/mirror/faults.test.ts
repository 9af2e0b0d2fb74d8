import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { type Mirror, type MirrorOptions, startMirror } from "../../../../src/host/machines/mirror/mirror.ts";
import { CODE_VERSION, makePack, Published } from "./published.ts";
import { type Fault, makeCertificates, type StateNode, startStateNode } from "./state-node.ts";

/** The mirror over real HTTPS, from a state node that fails in each way at each value. */

const root = mkdtempSync(join(tmpdir(), "waybill-mirror-"));
let tls = "";
let count = 0;

beforeAll(() => {
  tls = makeCertificates(mkdtempSync(join(root, "tls-")));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Ends with its test. Tests run at the same time, so that each says which one it is. */
const begin = async <Started extends { stop(): Promise<void> }>(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  started: Promise<Started>,
): Promise<Started> => {
  const value = await started;
  onTestFinished(() => value.stop());
  return value;
};

const until = async (isSo: () => boolean, what: string): Promise<void> => {
  const endMs = Date.now() + 40_000;
  while (!isSo()) {
    if (Date.now() > endMs) throw new Error(`not in time: ${what}`);
    await delay(10);
  }
};

const lines: unknown[] = [];

const mirrorOf = (nodes: readonly (StateNode | string)[], kvFolder: string, more: Partial<MirrorOptions> = {}) =>
  startMirror({
    nodes: nodes.map((node) => (typeof node === "string" ? node : node.address)),
    tls,
    kvFolder,
    edge: { name: "edge-1", version: "1.0.0", processes: 2 },
    codeVersion: CODE_VERSION,
    report: (line) => lines.push(line),
    ...more,
  });

const newFolder = () => join(root, `kv-${count++}`);

const filesOf = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name !== ".mirror" && name !== "mirror.status")
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), "hex")]),
  );

const revisionIn = (folder: string): number => JSON.parse(readFileSync(join(folder, "table.current"), "utf8")).revision;

const untilRevision = (mirror: Mirror, revision: number) =>
  until(() => mirror.status().revision === revision, `revision ${revision}`);

const isBody = (key: string) => /^table\.[0-9a-f]{64}$/.test(key);
const isForm = (key: string) => /^table\.[0-9a-f]{64}\.[0-9a-f]+$/.test(key);
const isHeader = (key: string) => /^pack\.[0-9a-f]{64}$/.test(key);
const isPage = (key: string) => /^pack\.[0-9a-f]{64}\.1$/.test(key);
const isPointer = (key: string) => key === "pointer";

const ALL: readonly Fault[] = ["reset", "silent", "endless", "cut-off", "wrong", "empty", "failed", "redirect"];
const MORE: readonly Fault[] = ["too-long", "shorter", "missing", "not-modified", "garbage"];
const CASES = [
  ...[isBody, isPage].flatMap((at) => [...ALL, ...MORE].map((fault) => ({ at, fault }))),
  ...ALL.map((fault) => ({ at: isHeader, fault })),
  ...ALL.filter((fault) => fault !== "wrong" && fault !== "silent").map((fault) => ({ at: isForm, fault })),
  ...[...ALL, ...MORE]
    .filter((fault) => fault !== "wrong" && fault !== "silent")
    .map((fault) => ({ at: isPointer, fault })),
];
const NAMES = new Map([
  [isBody, "a table"],
  [isPage, "a page"],
  [isHeader, "a header"],
  [isForm, "a form"],
  [isPointer, "the pointer"],
]);

describe("a state node that fails", () => {
  it.concurrent.for(CASES.map((each) => ({ ...each, what: NAMES.get(each.at) })))(
    "with $fault at $what leaves the table before, until it answers",
    async ({ at, fault }, context) => {
      const published = new Published();
      const first = await makePack({ ranges: 300, rangesPerPage: 100 });
      published.publish({ pack: first });
      const node = await begin(context, startStateNode(published, tls));
      const folder = newFolder();
      const mirror = await begin(context, mirrorOf([node], folder));
      expect(await mirror.first).toBe("mirrored");
      const before = filesOf(folder);
      let faults = 0;
      node.fault = (key) => {
        if (!at(key)) return undefined;
        faults++;
        return fault;
      };
      const second = await makePack({ ranges: 300, rangesPerPage: 150, region: "second" });
      published.publish({ pack: second, region: "first" });
      await until(() => faults > 1, "two faults");
      expect(revisionIn(folder)).toBe(1);
      const now = filesOf(folder);
      for (const [name, contents] of Object.entries(before)) expect(now[name]).toBe(contents);
      node.fault = undefined;
      await untilRevision(mirror, 2);
      expect(revisionIn(folder)).toBe(2);
      const all = filesOf(folder);
      for (const [key, bytes] of published.values) expect(all[key], key).toBe(Buffer.from(bytes).toString("hex"));
      await until(() => mirror.status().lastError === undefined, "no error");
    },
  );
});
