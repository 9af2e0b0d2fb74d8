import type { MirrorFolder, Part } from "./folder.ts";
import { MirrorFailure, type StateNodes } from "./nodes.ts";

/** Values of a pass at once: their bytes are in memory, and their files open. */
const AT_ONCE = 8;

/** A value that is verified; `isNew`: the folder does not have it. */
export interface Supplied {
  readonly part: Part;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isNew: boolean;
}

/** Values for one pass: those of the folder, else those of the state nodes. The first failure ends all reads of the pass. */
export class Supply {
  readonly #folder: MirrorFolder;
  readonly #nodes: StateNodes | undefined;
  readonly #failed = new AbortController();
  readonly #signal: AbortSignal;
  /** Values that came from state nodes. */
  fetched = 0;
  fetchedBytes = 0;

  /** Without nodes a value that the folder lacks is a failure. */
  constructor(folder: MirrorFolder, nodes: StateNodes | undefined, stopped: AbortSignal) {
    this.#folder = folder;
    this.#nodes = nodes;
    this.#signal = AbortSignal.any([stopped, this.#failed.signal]);
  }

  async value(part: Part): Promise<Supplied> {
    const own = await this.#folder.find(part);
    if (own !== undefined) return { part, bytes: own, isNew: false };
    if (this.#nodes === undefined) throw new MirrorFailure("missing", `${part.key} is missing or torn`);
    const bytes = await this.#nodes.value(part, this.#signal);
    if (bytes === undefined) throw new MirrorFailure("missing", `${part.key} is not there`);
    this.#count(bytes);
    return { part, bytes, isNew: true };
  }

  async keep({ part, bytes, isNew }: Supplied): Promise<void> {
    this.#signal.throwIfAborted();
    if (isNew) await this.#folder.put(part, bytes);
  }

  /** Puts a value into the folder that nothing else here needs. */
  async bring(part: Part): Promise<void> {
    if (this.#folder.has(part.key) || (await this.#folder.putSame(part))) return;
    await this.keep(await this.value(part));
  }

  /** Whether there is such a value. */
  async bringIfThere(part: Part): Promise<boolean> {
    if (this.#folder.has(part.key) || (await this.#folder.find(part)) !== undefined) return true;
    const bytes = await this.#nodes?.value(part, this.#signal, "optional");
    if (bytes === undefined) return false;
    this.#count(bytes);
    await this.keep({ part, bytes, isNew: true });
    return true;
  }

  /** Some at once. Ends when all that began have ended; throws the first failure, after which none begins. */
  async each<Item>(items: Iterable<Item>, work: (item: Item) => Promise<unknown>): Promise<void> {
    const queue = items[Symbol.iterator]();
    let first: { readonly error: unknown } | undefined;
    const worker = async (): Promise<void> => {
      for (let next = queue.next(); first === undefined && next.done !== true; next = queue.next()) {
        try {
          await work(next.value);
        } catch (error) {
          first ??= { error };
          this.#failed.abort(error);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    if (first !== undefined) throw first.error;
  }

  #count(bytes: Uint8Array): void {
    this.fetched++;
    this.fetchedBytes += bytes.length;
  }
}
