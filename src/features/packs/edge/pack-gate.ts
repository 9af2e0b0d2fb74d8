import { withLabels } from "../../../edge/table/fetch.ts";
import type { Clock, ServedTable } from "../../../ports/gateway.ts";
import type { CompiledTable } from "../../../routing/index.ts";
import type { Packs } from "../port.ts";

/** Between two attempts to open the packs of a table, unless the answer says otherwise. */
const RETRY_MS = 5_000;

/**
 * Holds a table back until the header of each of its packs is verified; the table before it is served meanwhile. Without one,
 * the new table serves IDs that need no pack. The bundled table never replaces a published one here. A canary is left
 * out until its packs are there.
 */
export class PackGate {
  readonly #packs: Packs;
  readonly #clock: Clock;
  #good: ServedTable | undefined;
  /** The newest table: headers that come too late for an older one do not bring it back. */
  #latest: ServedTable | undefined;
  readonly #opened = new WeakSet<CompiledTable>();
  readonly #retryDueMs = new WeakMap<CompiledTable, number>();

  constructor(packs: Packs, clock: Clock) {
    this.#packs = packs;
    this.#clock = clock;
  }

  peek(served: ServedTable, waitUntil: (work: Promise<unknown>) => void): ServedTable {
    this.#latest = served;
    for (const table of this.#closedIn(served)) {
      if (this.#clock.nowMs() >= (this.#retryDueMs.get(table) ?? 0)) waitUntil(this.#open(table));
    }
    return this.#whole(served);
  }

  /** `waitMs`: the time left for the headers. */
  async load(served: ServedTable, waitMs: number): Promise<ServedTable> {
    this.#latest = served;
    await Promise.all(this.#closedIn(served).map((table) => this.#open(table, waitMs)));
    return this.#whole(this.#latest);
  }

  #isOpen(table: CompiledTable): boolean {
    return table.packs.size === 0 || this.#opened.has(table);
  }

  #closedIn({ table, canary }: ServedTable): readonly CompiledTable[] {
    return (canary === undefined ? [table] : [table, canary.table]).filter((each) => !this.#isOpen(each));
  }

  async #open(table: CompiledTable, waitMs?: number): Promise<void> {
    this.#retryDueMs.set(table, this.#clock.nowMs() + RETRY_MS);
    const opened = await this.#packs.open(table, waitMs);
    if (opened.ok) this.#opened.add(table);
    else if ("retryAfterMs" in opened.error) {
      this.#retryDueMs.set(table, this.#clock.nowMs() + opened.error.retryAfterMs);
    }
  }

  /** The open part of the newest table, or the last whole table with its current age. */
  #whole(served: ServedTable): ServedTable {
    const { canary } = served;
    const shown = canary === undefined || this.#isOpen(canary.table) ? served : { ...served, canary: undefined };
    if (this.#isOpen(served.table)) {
      this.#good = shown.source === "bundled" ? undefined : shown;
      return shown;
    }
    return this.#good === undefined ? shown : withLabels(this.#good, "memory", this.#clock.nowMs());
  }
}
