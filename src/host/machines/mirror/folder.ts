import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Disk } from "./platform.ts";

/** A value of KV that the mirror copies. */
export interface Part {
  readonly key: string;
  readonly bytesMax: number;
  /** Why the bytes are not this value; `undefined` if they are. */
  readonly faultOf: (bytes: Uint8Array<ArrayBuffer>) => string | undefined | Promise<string | undefined>;
  /** SHA-256 of the whole value in lower-case hex, where it is known. */
  readonly digest?: string | undefined;
}

export const sha256Hex = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** For the mirror's own files. workerd serves no name that begins with a dot. */
const OWN_FOLDER = ".mirror";

const UNFINISHED = "unfinished.";

/**
 * The folder that workerd reads as KV, one file a key. A value is written under another name, synced and renamed, so that a reader
 * sees the old value or the new one. One process writes it.
 */
export class MirrorFolder {
  readonly path: string;
  /** The mirror's own files, on the same file system. */
  readonly own: string;
  readonly #disk: Disk;
  /** Keys whose values were written or verified since the start. */
  readonly #verified = new Set<string>();
  /** A key of each verified value, by its digest. */
  readonly #byDigest = new Map<string, string>();
  #unfinished = 0;

  constructor(path: string, disk: Disk) {
    this.path = path;
    this.own = join(path, OWN_FOLDER);
    this.#disk = disk;
  }

  async make(): Promise<void> {
    await this.#disk.makeFolder(this.path);
    await this.#disk.makeFolder(this.own);
  }

  /** Removes what a former mirror left unfinished. */
  async clear(): Promise<void> {
    const disk = this.#disk;
    for (const name of await disk.list(this.own)) {
      if (name.startsWith(UNFINISHED)) await disk.remove(join(this.own, name));
    }
  }

  read(key: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#disk.read(join(this.path, key));
  }

  has(key: string): boolean {
    return this.#verified.has(key);
  }

  /** A value that is there and sound. */
  async find(part: Part): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const bytes = await this.read(part.key);
    if (bytes === undefined || (await part.faultOf(bytes)) !== undefined) return undefined;
    this.#know(part);
    return bytes;
  }

  /** The bytes were verified. */
  async put(part: Part, bytes: Uint8Array): Promise<void> {
    await this.#replace(part.key, (path) => this.#disk.write(path, bytes), true);
    this.#know(part);
  }

  /** Whether another key has the same value: then both are one file. */
  async putSame(part: Part): Promise<boolean> {
    const twin = part.digest === undefined ? undefined : this.#byDigest.get(part.digest);
    if (twin === undefined || twin === part.key) return false;
    try {
      await this.#replace(part.key, (path) => this.#disk.link(join(this.path, twin), path), false);
    } catch {
      // The twin is gone, or the file system has no links.
      return false;
    }
    this.#know(part);
    return true;
  }

  /** Everything written so far is safe; then the pointer is, and readers have it. */
  async point(key: string, bytes: Uint8Array): Promise<void> {
    await this.#disk.syncFolder(this.path);
    await this.#replace(key, (path) => this.#disk.write(path, bytes), true);
    await this.#disk.syncFolder(this.path);
  }

  /** Readers see it whole; a loss of power may lose it. */
  note(key: string, text: string): Promise<void> {
    return this.#replace(key, (path) => this.#disk.write(path, Buffer.from(text)), false);
  }

  async readOwn(name: string): Promise<string | undefined> {
    const bytes = await this.#disk.read(join(this.own, name));
    return bytes && Buffer.from(bytes).toString("utf8");
  }

  async writeOwn(name: string, text: string): Promise<void> {
    const path = join(this.own, `${UNFINISHED}${name}`);
    await this.#disk.write(path, Buffer.from(text));
    await this.#disk.sync(path);
    await this.#disk.rename(path, join(this.own, name));
  }

  keys(): Promise<readonly string[]> {
    return this.#disk.list(this.path);
  }

  /** Whether values are gone that were there: they are read again before they count. */
  async forgetLost(): Promise<boolean> {
    const there = new Set(await this.keys());
    const lost = [...this.#verified].filter((key) => !there.has(key));
    for (const key of lost) this.#forget(key);
    return lost.length > 0;
  }

  async remove(key: string): Promise<void> {
    this.#forget(key);
    await this.#disk.remove(join(this.path, key));
  }

  #forget(key: string): void {
    this.#verified.delete(key);
    for (const [digest, twin] of this.#byDigest) if (twin === key) this.#byDigest.delete(digest);
  }

  #know({ key, digest }: Part): void {
    this.#verified.add(key);
    if (digest !== undefined) this.#byDigest.set(digest, key);
  }

  async #replace(key: string, make: (path: string) => Promise<void>, isSynced: boolean): Promise<void> {
    const unfinished = join(this.own, `${UNFINISHED}${this.#unfinished++}`);
    try {
      await make(unfinished);
      if (isSynced) await this.#disk.sync(unfinished);
      await this.#disk.rename(unfinished, join(this.path, key));
    } catch (error) {
      // On a full disk it would take the room that the next attempt needs.
      await this.#disk.remove(unfinished).catch(() => undefined);
      throw error;
    }
  }
}
