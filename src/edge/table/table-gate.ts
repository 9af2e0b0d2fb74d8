import type { Result } from "../../ids/result.ts";
import type { Clock, ServedTable } from "../../ports/gateway.ts";
import type { TableError } from "../../problems/errors.ts";
import type { CompiledTable } from "../../routing/index.ts";
import { withLabels } from "./fetch.ts";

/** Loads parts of a table that are stored outside its text, such as packs. */
export interface TableOpener {
  /** Whether the table has such parts. */
  needs(table: CompiledTable): boolean;
  /** `waitMs`: the time that the caller has left, if it is little. */
  open(table: CompiledTable, waitMs?: number): Promise<Result<undefined, TableError>>;
}

/** Between two attempts to open a table, unless the answer says otherwise. */
const RETRY_MS = 5_000;

/**
 * Holds a table back until all of its parts are loaded; the table before it is served meanwhile. Without one, the new table
 * serves requests that need none of them. The bundled table never replaces a published one here. A canary is left out until
 * its parts are there.
 */
export class TableGate {
  readonly #openers: readonly TableOpener[];
  readonly #clock: Clock;
  #good: ServedTable | undefined;
  /** The newest table: parts that come too late for an older one do not bring it back. */
  #latest: ServedTable | undefined;
  readonly #opened = new WeakSet<CompiledTable>();
  readonly #retryDueMs = new WeakMap<CompiledTable, number>();

  constructor(openers: readonly TableOpener[], clock: Clock) {
    this.#openers = openers;
    this.#clock = clock;
  }

  peek(served: ServedTable, waitUntil: (work: Promise<unknown>) => void): ServedTable {
    this.#latest = served;
    for (const table of this.#closedIn(served)) {
      if (this.#clock.nowMs() >= (this.#retryDueMs.get(table) ?? 0)) waitUntil(this.#open(table));
    }
    return this.#whole(served);
  }

  /** `waitMs`: the time left for its parts. */
  async load(served: ServedTable, waitMs: number): Promise<ServedTable> {
    this.#latest = served;
    await Promise.all(this.#closedIn(served).map((table) => this.#open(table, waitMs)));
    return this.#whole(this.#latest);
  }

  #isOpen(table: CompiledTable): boolean {
    return this.#opened.has(table) || !this.#openers.some((opener) => opener.needs(table));
  }

  #closedIn({ table, canary }: ServedTable): readonly CompiledTable[] {
    return (canary === undefined ? [table] : [table, canary.table]).filter((each) => !this.#isOpen(each));
  }

  async #open(table: CompiledTable, waitMs?: number): Promise<void> {
    this.#retryDueMs.set(table, this.#clock.nowMs() + RETRY_MS);
    const needed = this.#openers.filter((opener) => opener.needs(table));
    const opened = await Promise.all(needed.map((opener) => opener.open(table, waitMs)));
    const failed = opened.find((each) => !each.ok);
    if (failed === undefined) this.#opened.add(table);
    else if ("retryAfterMs" in failed.error) {
      this.#retryDueMs.set(table, this.#clock.nowMs() + failed.error.retryAfterMs);
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
