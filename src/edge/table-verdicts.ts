import type { Fault } from "../routing/index.ts";
import { type Bytes, loadTableBytes } from "./table-octets.ts";

/** Texts remembered: those in force, of a canary, and a few that somebody may go back to. */
const SOUND_MAX = 16;

/**
 * Checks texts as isolates will load them, each once: the digest names the bytes, and for one version of the code they are
 * good or not for ever. A new version begins with an empty memory. What has faults is checked again.
 */
export class ValidationCache {
  readonly #load: typeof loadTableBytes;
  readonly #sound = new Set<string>();

  constructor(load: typeof loadTableBytes = loadTableBytes) {
    this.#load = load;
  }

  faultsOf(digest: string, bytes: Bytes): readonly Fault[] {
    if (this.#sound.has(digest)) return [];
    const table = this.#load(bytes, 0);
    if (!table.ok) return table.error;
    const [oldest] = this.#sound.size >= SOUND_MAX ? this.#sound : [];
    if (oldest !== undefined) this.#sound.delete(oldest);
    this.#sound.add(digest);
    return [];
  }
}
