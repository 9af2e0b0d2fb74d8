import { createHash } from "node:crypto";

export interface StoredObject {
  readonly body: Buffer;
  /** In quotes, as it is sent. */
  readonly etag: string;
  readonly modifiedMs: number;
}

/** Conditions of a write; the store decides and writes in one step. */
export interface WriteConditions {
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

export interface ListQuery {
  readonly prefix: string;
  readonly delimiter: string;
  readonly after: string;
  readonly max: number;
}

export interface ListPage {
  readonly contents: readonly (readonly [key: string, object: StoredObject])[];
  readonly prefixes: readonly string[];
  /** Keys up to this one are listed; `undefined` at the end. */
  readonly next: string | undefined;
}

/** The objects of a bucket, in memory, by the rules of S3. Keys are listed in the order of their UTF-8 bytes. */
export class Objects {
  readonly #byKey = new Map<string, StoredObject>();
  #sorted: string[] | undefined;
  #writes = 0;

  get(key: string): StoredObject | undefined {
    return this.#byKey.get(key);
  }

  /** The new object, or the status of the refusal: 412, and 404 for a match of an object that is not there. */
  put(key: string, body: Buffer, { ifMatch, ifNoneMatch }: WriteConditions, nowMs: number): StoredObject | 404 | 412 {
    const current = this.#byKey.get(key);
    if (ifNoneMatch !== undefined && current !== undefined) return 412;
    if (ifMatch !== undefined && current === undefined) return 404;
    if (ifMatch !== undefined && current !== undefined && !isSame(ifMatch, current.etag)) return 412;
    if (current === undefined) this.#sorted = undefined;
    // Another one for the same bytes: a writer whose answer was lost must see that its own write is there, by reading it.
    this.#writes += 1;
    const etag = `"${createHash("md5").update(`${this.#writes}:`).update(body).digest("hex")}"`;
    const stored = { body, etag, modifiedMs: nowMs };
    this.#byKey.set(key, stored);
    return stored;
  }

  delete(key: string): void {
    if (this.#byKey.delete(key)) this.#sorted = undefined;
  }

  keys(): readonly string[] {
    this.#sorted ??= [...this.#byKey.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return this.#sorted;
  }

  list({ prefix, delimiter, after, max }: ListQuery): ListPage {
    const contents: [string, StoredObject][] = [];
    const prefixes: string[] = [];
    const from = Buffer.from(after);
    let last = after;
    for (const key of this.keys()) {
      if (!key.startsWith(prefix) || Buffer.compare(Buffer.from(key), from) <= 0) continue;
      const end = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
      const common = end < 0 ? undefined : key.slice(0, end + delimiter.length);
      // A page that ended with a common prefix stands for all keys below it.
      if (common !== undefined && (common === prefixes.at(-1) || common === after)) continue;
      if (contents.length + prefixes.length === max) return { contents, prefixes, next: last };
      const stored = this.#byKey.get(key);
      if (common !== undefined) prefixes.push(common);
      else if (stored !== undefined) contents.push([key, stored]);
      last = common ?? key;
    }
    return { contents, prefixes, next: undefined };
  }
}

/** S3 takes an ETag with and without its quotes. */
const isSame = (given: string, etag: string): boolean =>
  given === "*" || given.replaceAll('"', "") === etag.slice(1, -1);
