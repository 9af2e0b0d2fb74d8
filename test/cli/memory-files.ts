import { isAbsolute, resolve } from "node:path";
import { err, ok, type Result } from "../../src/ids/index.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";

/** The current folder of a command that runs on files in memory. */
export const CWD = "/home/ada/project";

/** Files in memory, for the commands of one test. Errors are the system's words, as `main.ts` gives them. */
export class MemoryFiles {
  readonly #cwd: string;
  readonly #contents: Map<string, Uint8Array<ArrayBuffer>>;

  private constructor(cwd: string, contents: Map<string, Uint8Array<ArrayBuffer>>) {
    this.#cwd = cwd;
    this.#contents = contents;
  }

  static of(files: Readonly<Record<string, string | Uint8Array>>): MemoryFiles {
    const made = new MemoryFiles(CWD, new Map());
    for (const [path, content] of Object.entries(files)) made.write(path, content);
    return made;
  }

  /** The same files, for a command in another current folder. */
  from(cwd: string): MemoryFiles {
    return new MemoryFiles(cwd, this.#contents);
  }

  read(path: string): Result<Uint8Array<ArrayBuffer>, string> {
    const content = this.#contents.get(resolve(this.#cwd, path));
    if (content !== undefined) return ok(content.slice());
    return err(this.#isFolder(path) ? this.#at(path, "illegal operation on a directory") : this.#at(path, ABSENT));
  }

  open(path: string): Result<Uint8Array, string> {
    const content = this.read(path);
    return content.ok || !this.#isFolder(path) ? content : err(this.#at(path, "it is a folder"));
  }

  /** As a test writes: with the folders of its path. */
  write(path: string, content: string | Uint8Array): undefined {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);
    this.#contents.set(resolve(this.#cwd, path), bytes);
  }

  remove(path: string): void {
    if (!this.#contents.delete(resolve(this.#cwd, path))) throw new Error(`${path}: ${ABSENT}`);
  }

  exists(path: string): boolean {
    return this.#contents.has(resolve(this.#cwd, path)) || this.#isFolder(path);
  }

  /** A file that must be there. */
  bytes(path: string): Uint8Array<ArrayBuffer> {
    const content = this.read(path);
    if (!content.ok) throw new Error(`${path}: ${content.error}`);
    return content.value;
  }

  text(path: string): string {
    return new TextDecoder().decode(this.bytes(path));
  }

  // biome-ignore lint/suspicious/noExplicitAny: as `JSON.parse` gives it, for tests to look into
  json(path: string): any {
    return JSON.parse(this.text(path));
  }

  /** The names in a folder, sorted. */
  names(folder = "."): readonly string[] {
    const prefix = `${resolve(this.#cwd, folder)}/`;
    const inside = [...this.#contents.keys()].filter((path) => path.startsWith(prefix));
    return [...new Set(inside.map((path) => path.slice(prefix.length).split("/", 1)[0] as string))].sort();
  }

  #at(path: string, why: string): string {
    return isAbsolute(path) ? why : `${why} (${resolve(this.#cwd, path)})`;
  }

  #isFolder(path: string): boolean {
    const folder = resolve(this.#cwd, path);
    return folder === "/" || folder === this.#cwd || this.names(folder).length > 0;
  }
}

const ABSENT = "no such file or directory";

/** Files among which the given table is the one that commands find by themselves. */
export const tableFiles = (
  table: unknown = DECLARED_TABLE,
  others: Readonly<Record<string, string | Uint8Array>> = {},
): MemoryFiles => MemoryFiles.of({ "routing-table.json": JSON.stringify(table, null, 2), ...others });
