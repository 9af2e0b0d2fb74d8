import { copyPointerKey } from "../../../features/directory/table/copy-format.ts";
import { gatherCopy } from "./gather.ts";
import { whyOf } from "./nodes.ts";
import { copyPointerPart } from "./parts.ts";
import { Supply } from "./supply.ts";
import type { TablesOptions } from "./tables.ts";

/** The published copies of directories. They change without a change of the table, so that their pointers are asked for. */
export class MirroredCopies {
  readonly #options: TablesOptions;
  /** Digests of whole copies that are in force here. */
  readonly #whole = new Map<string, string>();

  constructor(options: TablesOptions) {
    this.#options = options;
  }

  async renew(directories: readonly string[]): Promise<void> {
    const { faults, stopped } = this.#options;
    for (const directory of directories) {
      if (stopped.aborted) return;
      try {
        await this.#renewOne(directory);
        faults.ended(`copy ${directory}`);
      } catch (error) {
        faults.failed(`copy ${directory}`, whyOf(error));
      }
    }
  }

  /** Digests of all that pointers of this folder name. */
  async inForce(directories: readonly string[]): Promise<readonly string[]> {
    const digests = await Promise.all(directories.map((directory) => this.#own(directory)));
    return digests.filter((digest) => digest !== undefined);
  }

  /** Copies are read again. */
  forget(): void {
    this.#whole.clear();
  }

  async #renewOne(directory: string): Promise<void> {
    const { folder, nodes, stopped, report } = this.#options;
    const key = copyPointerKey(directory);
    const own = await this.#own(directory);
    const bytes = await nodes.value(copyPointerPart(directory), stopped, "agreed");
    if (bytes === undefined) {
      this.#whole.delete(directory);
      if (own === undefined) return;
      await folder.remove(key);
      report({ event: "mirror-copy", directory, sha256: undefined });
      return;
    }
    const sha256 = Buffer.from(bytes).toString("latin1");
    if (sha256 === own && sha256 === this.#whole.get(directory)) return;
    await gatherCopy(directory, sha256, new Supply(folder, nodes, stopped));
    stopped.throwIfAborted();
    if (sha256 !== own) {
      await folder.point(key, bytes);
      report({ event: "mirror-copy", directory, sha256 });
    }
    this.#whole.set(directory, sha256);
  }

  async #own(directory: string): Promise<string | undefined> {
    const part = copyPointerPart(directory);
    const bytes = await this.#options.folder.read(part.key);
    return bytes === undefined || (await part.faultOf(bytes)) !== undefined
      ? undefined
      : Buffer.from(bytes).toString("latin1");
  }
}
