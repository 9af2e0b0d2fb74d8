import { basename, dirname, join } from "node:path";
import type { Disk } from "../../../../src/host/machines/mirror/platform.ts";

interface Inode {
  bytes: Uint8Array<ArrayBuffer>;
  isSynced: boolean;
}

/** At least 0 and below 1. */
type Random = () => number;

/**
 * A disk in memory. A process that is killed leaves what it did; a loss of power leaves of what was not synced whatever it
 * likes: names of before or after, and files that are whole, torn or empty.
 */
export class SimulatedDisk {
  /** As readers see them. */
  names = new Map<string, Inode>();
  /** Operations until the process is killed. */
  killAfter = Number.POSITIVE_INFINITY;
  /** Called after each operation. */
  watch: () => void = () => undefined;
  isFull = false;
  operations = 0;
  #kept = new Map<string, Inode>();
  #life = 0;

  get isKilled(): boolean {
    return this.killAfter < 0;
  }

  /** For one process: after its end nothing that it does has an effect, and nothing answers. */
  process(): Disk {
    this.#life++;
    this.killAfter = Number.POSITIVE_INFINITY;
    const life = this.#life;
    const operation = async <Value>(work: () => Value): Promise<Value> => {
      // Operations of one process mix.
      await new Promise((resolve) => setImmediate(resolve));
      if (life !== this.#life || this.killAfter-- <= 0) return new Promise<never>(() => undefined);
      this.operations++;
      const value = work();
      this.watch();
      return value;
    };
    const inodeAt = (path: string): Inode => this.names.get(path) ?? missing(path);
    return {
      read: (path) => operation(() => this.names.get(path)?.bytes.slice()),
      write: (path, bytes) =>
        operation(() => {
          if (this.isFull) {
            this.names.set(path, { bytes: bytes.slice(0, bytes.length >> 1), isSynced: false });
            throw Object.assign(new Error(`ENOSPC: no space left on device, write '${path}'`), { code: "ENOSPC" });
          }
          this.names.set(path, { bytes: new Uint8Array(bytes), isSynced: false });
        }),
      sync: (path) =>
        operation(() => {
          inodeAt(path).isSynced = true;
        }),
      syncFolder: (folder) =>
        operation(() => {
          const isIn = (path: string) => dirname(path) === folder;
          for (const path of [...this.#kept.keys()].filter(isIn)) this.#kept.delete(path);
          for (const [path, inode] of this.names) if (isIn(path)) this.#kept.set(path, inode);
        }),
      rename: (from, to) =>
        operation(() => {
          this.names.set(to, inodeAt(from));
          this.names.delete(from);
        }),
      link: (from, to) =>
        operation(() => {
          this.names.set(to, inodeAt(from));
        }),
      remove: (path) => operation(() => void this.names.delete(path)),
      list: (folder) =>
        operation(() =>
          [...this.names.keys()].filter((path) => dirname(path) === folder).map((path) => basename(path)),
        ),
      makeFolder: () => operation(() => undefined),
    };
  }

  losePower(random: Random): void {
    this.#life++;
    const after = new Map<string, Inode>();
    for (const path of new Set([...this.names.keys(), ...this.#kept.keys()])) {
      const inode = random() < 0.5 ? this.names.get(path) : this.#kept.get(path);
      if (inode === undefined) continue;
      const share = inode.isSynced ? 1 : Math.floor(random() * 3) / 2;
      after.set(path, { bytes: inode.bytes.slice(0, inode.bytes.length * share), isSynced: true });
    }
    this.names = after;
    this.#kept = new Map(after);
  }

  file(folder: string, name: string): Uint8Array | undefined {
    return this.names.get(join(folder, name))?.bytes;
  }
}

function missing(path: string): never {
  throw Object.assign(new Error(`ENOENT: no such file or directory '${path}'`), { code: "ENOENT" });
}
