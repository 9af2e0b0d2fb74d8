import type { Fault } from "../routing/index.ts";
import { loadTableOctets, type Octets } from "./table-octets.ts";

/** Texts remembered: those in force, of a canary, and a few that somebody may go back to. */
const SOUND_MAX = 16;

/**
 * Checks texts as isolates will load them, each once: the digest names the octets, and for one version of the code they are
 * good or not for ever. A new version begins with an empty memory. What has faults is checked again.
 */
export class TableVerdicts {
  readonly #load: typeof loadTableOctets;
  readonly #sound = new Set<string>();

  constructor(load: typeof loadTableOctets = loadTableOctets) {
    this.#load = load;
  }

  faultsOf(digest: string, octets: Octets): readonly Fault[] {
    if (this.#sound.has(digest)) return [];
    const table = this.#load(octets, 0);
    if (!table.ok) return table.error;
    const [oldest] = this.#sound.size >= SOUND_MAX ? this.#sound : [];
    if (oldest !== undefined) this.#sound.delete(oldest);
    this.#sound.add(digest);
    return [];
  }
}
