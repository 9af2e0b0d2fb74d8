import { link, mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** The file operations of a mirror. In tests they fail, stop, or forget between any two of them. */
export interface Disk {
  /** `undefined`: there is no such file. */
  read(path: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** A loss of power may leave none or a part of it until it is synced. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  sync(path: string): Promise<void>;
  /** Names that were made, renamed or removed in a folder. */
  syncFolder(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** A second name for one file. */
  link(from: string, to: string): Promise<void>;
  /** Does nothing where there is no such file. */
  remove(path: string): Promise<void>;
  list(folder: string): Promise<readonly string[]>;
  makeFolder(path: string): Promise<void>;
}

export const nodeDisk: Disk = {
  async read(path) {
    try {
      return await readFile(path);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  },
  write: (path, bytes) => writeFile(path, bytes, { mode: 0o600 }),
  sync: (path) => syncOf(path, "r+"),
  async syncFolder(path) {
    // Windows opens no folder, and has nothing to sync there.
    if (process.platform !== "win32") await syncOf(path, "r");
  },
  rename,
  link,
  remove: (path) => rm(path, { force: true }),
  list: (folder) => readdir(folder),
  async makeFolder(path) {
    await mkdir(path, { recursive: true, mode: 0o700 });
  },
};

async function syncOf(path: string, flags: "r" | "r+"): Promise<void> {
  const file = await open(path, flags);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;

export interface MirrorClock {
  /** Unix ms. */
  nowMs(): number;
  /** Ends early, without an error, when the signal is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
  /** At least 0 and below 1. */
  random(): number;
}

export const systemClock: MirrorClock = {
  nowMs: () => Date.now(),
  pause: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
  random: () => Math.random(),
};

const FIRST_MS = 100;
const MAX_MS = 5_000;
const JITTER = 0.2;

/** The pause after so many failures in a row. Edges that failed together do not come back together. */
export const backOffMs = (failures: number, { random }: MirrorClock): number =>
  Math.min(FIRST_MS * 2 ** (failures - 1), MAX_MS) * (1 - JITTER + 2 * JITTER * random());
