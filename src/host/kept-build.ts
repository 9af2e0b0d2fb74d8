import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Builds of the checkout, kept on the disk: tests and commands are many processes that need the same. A kept one is taken only if
 * every file that it was made of has the same bytes as then.
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PACKAGES = join(ROOT, "node_modules");
const FOLDER = join(PACKAGES, ".cache/waybill-builds");

/** Sources of every build: which packages there are, and how a build is kept. */
const ALWAYS = [join(ROOT, "package-lock.json"), fileURLToPath(import.meta.url)];

/** The clock of files is behind: it ticks every few ms. */
const TICK_MS = 100;

interface Kept<Value> {
  readonly sources: readonly string[];
  readonly digest: string;
  readonly value: Value;
}

/** `value`: one that JSON can hold. `sources`: absolute paths of all files that it depends on, the builder's own among them. */
export interface Built<Value> {
  readonly value: Value;
  readonly sources: Iterable<string>;
}

/** The value of a build by its name. `options`: what it depends on besides files. */
export async function keptBuild<Value>(name: string, build: () => Promise<Built<Value>>, options = ""): Promise<Value> {
  // Packages of another checkout: each would replace what the other keeps.
  if (lstatSync(PACKAGES).isSymbolicLink()) return (await build()).value;
  const path = join(FOLDER, `${name}.json`);
  const kept = attempt(() => {
    const read: Kept<Value> = JSON.parse(readFileSync(path, "utf8"));
    return read.digest === digestOf(read.sources, options) ? read : undefined;
  });
  if (kept !== undefined) return kept.value;
  const startMs = Date.now();
  const { value, sources: own } = await build();
  const sources = [...new Set([...ALWAYS, ...own])];
  attempt(() => {
    // The build may have read the file before or after it changed.
    if (sources.some((source) => changedMs(source) > startMs - TICK_MS)) return;
    write(path, { sources, digest: digestOf(sources, options), value });
  });
  return value;
}

/** Whole: other processes read and write it at the same time. */
function write(path: string, kept: Kept<unknown>): void {
  const unfinished = `${path}.${process.pid}`;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(unfinished, JSON.stringify(kept));
  renameSync(unfinished, path);
}

function digestOf(sources: readonly string[], options: string): string {
  const hash = createHash("sha256").update(`${options}\0`);
  for (const source of sources) {
    const bytes = readFileSync(source);
    hash.update(`${source}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

const changedMs = (path: string): number => {
  const { mtimeMs, ctimeMs } = statSync(path);
  return Math.max(mtimeMs, ctimeMs);
};

/** A build that cannot be kept or read is made again. */
function attempt<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
