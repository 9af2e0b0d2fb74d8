import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, type TestContext } from "vitest";
import { makeCertificates } from "../../../../src/host/machines/certificates.ts";
import type { MirrorLine } from "../../../../src/host/machines/mirror/lines.ts";
import { type Mirror, type MirrorOptions, startMirror } from "../../../../src/host/machines/mirror/mirror.ts";
import type { MirrorClock } from "../../../../src/host/machines/mirror/platform.ts";
import { CODE_VERSION } from "./published.ts";
import type { StateNode } from "./state-node.ts";

/** Folders of a test file, and its mirrors. */
export function scratch() {
  const root = mkdtempSync(join(tmpdir(), "waybill-mirror-"));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  let count = 0;
  const newFolder = () => join(root, `kv-${count++}`);
  const newCertificates = (): string => {
    const folder = mkdtempSync(join(root, "tls-"));
    const made = makeCertificates(folder, 2);
    if (!made.ok) throw new Error(made.error);
    return folder;
  };
  const tls = newCertificates();
  const mirrorOf = (
    nodes: readonly (StateNode | string)[],
    kvFolder: string,
    more: Partial<MirrorOptions> & { readonly lines?: MirrorLine[] } = {},
  ) =>
    startMirror({
      nodes: nodes.map((node) => (typeof node === "string" ? node : node.address)),
      tls: join(tls, "edge"),
      kvFolder,
      edge: { name: "edge-1", version: "1.0.0", processes: 2 },
      codeVersion: CODE_VERSION,
      report: (line) => more.lines?.push(line),
      ...more,
    });
  return { root, tls, newFolder, mirrorOf, newCertificates };
}

/** Ends with its test. Tests run at the same time, so that each says which one it is. */
export const begin = async <Started extends { stop(): Promise<void> }>(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  started: Promise<Started>,
): Promise<Started> => {
  const value = await started;
  onTestFinished(() => value.stop());
  return value;
};

export const until = async (isSo: () => boolean, what: string): Promise<void> => {
  const endMs = Date.now() + 40_000;
  while (!isSo()) {
    if (Date.now() > endMs) throw new Error(`not in time: ${what}`);
    await delay(10);
  }
};

export const untilRevision = (mirror: Mirror, revision: number) =>
  until(() => mirror.status().revision === revision, `revision ${revision}`);

/** Contents in hex, by key. */
export const filesOf = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name !== ".mirror" && name !== "mirror.status")
      .sort()
      .flatMap((name) => {
        const text = hexOf(join(folder, name));
        return text === undefined ? [] : [[name, text]];
      }),
  );

/** A mirror may delete a file while its folder is read. */
function hexOf(path: string): string | undefined {
  try {
    return readFileSync(path, "hex");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

export const revisionIn = (folder: string): number =>
  JSON.parse(readFileSync(join(folder, "table.current"), "utf8")).revision;

/** A clock whose pauses take a hundredth of their time; it can be set. */
export function quickClock(): MirrorClock & { aheadMs: number } {
  return {
    aheadMs: 0,
    nowMs() {
      return Date.now() * 100 + this.aheadMs;
    },
    pause: (ms, signal) => delay(ms / 100, undefined, { signal }).catch(() => undefined),
    random: () => 0.5,
  };
}
