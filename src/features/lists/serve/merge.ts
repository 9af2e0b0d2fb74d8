import type { ListOrder } from "../table/types.ts";
import { comparePositions } from "./order.ts";
import type { Item, RegionList } from "./source.ts";

/** A part of an answer. `isEnd`: the limit is reached, or nothing more can be given. */
export interface Part {
  readonly items: readonly string[];
  readonly isEnd: boolean;
}

/** UTF-16 units of a part: what is at hand is sent on. */
const PART_UNITS = 32 * 1024;

/** Merges the lists of regions: in their order, or as they come. Nothing is read ahead but one page of each region. */
export class Merge {
  last: Item | undefined;
  #given = 0;
  #isFirst = true;
  readonly #order: ListOrder | undefined;
  readonly #limit: number;
  readonly #lists: readonly RegionList[];
  /** Those that a list without an order waits for. */
  readonly #waiting = new Map<RegionList, Promise<unknown>>();
  #turn = 0;

  constructor(lists: readonly RegionList[], order: ListOrder | undefined, limit: number) {
    this.#lists = lists;
    this.#order = order;
    this.#limit = limit;
  }

  /** The next part; waits until it has something, or until the end. */
  async next(): Promise<Part> {
    const items: string[] = [];
    let units = 0;
    while (this.#given < this.#limit && units < PART_UNITS) {
      const order = this.#order;
      const ready = order === undefined ? this.#anyReady(items.length > 0) : this.#leastReady(order, items.length > 0);
      if (ready instanceof Promise) {
        await ready;
        continue;
      }
      if (ready === "wait") return { items, isEnd: false };
      if (ready === undefined) return { items, isEnd: true };
      const item = ready.shift();
      this.last = item;
      items.push(item.text);
      units += item.text.length;
      this.#given++;
    }
    return { items, isEnd: this.#given >= this.#limit };
  }

  /** The list with the least head. Each open list must have one: that is what an order costs. */
  #leastReady(order: ListOrder, hasItems: boolean): RegionList | Promise<unknown> | "wait" | undefined {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const waits: Promise<unknown>[] = [];
    let isPaused = false;
    let least: RegionList | undefined;
    for (const list of this.#lists) {
      if (list.state !== "open") continue;
      if (list.head === undefined) {
        // Items at hand go out before anything is waited for.
        if (hasItems && !isFirst && list.needsPage) return "wait";
        const later = list.advance();
        if (later !== undefined) waits.push(later);
        isPaused ||= list.isPaused;
        if (list.head === undefined) continue;
      }
      const head = list.head as Item;
      if (least === undefined || comparePositions(head.at, (least.head as Item).at, order) < 0) least = list;
    }
    if (waits.length > 0) return Promise.all(waits);
    return isPaused ? undefined : least;
  }

  /** A list that has a head, each in its turn. */
  #anyReady(hasItems: boolean): RegionList | Promise<unknown> | "wait" | undefined {
    const count = this.#lists.length;
    for (let step = 0; step < count; step++) {
      const list = this.#lists[(this.#turn + step) % count] as RegionList;
      if (list.state !== "open" || list.isPaused || this.#waiting.has(list)) continue;
      const later = list.head === undefined ? list.advance() : undefined;
      if (later !== undefined)
        this.#waiting.set(
          list,
          later.finally(() => this.#waiting.delete(list)),
        );
      else if (list.head !== undefined) {
        this.#turn = (this.#turn + step + 1) % count;
        return list;
      }
    }
    if (this.#waiting.size === 0) return undefined;
    return hasItems ? "wait" : Promise.race(this.#waiting.values());
  }
}
