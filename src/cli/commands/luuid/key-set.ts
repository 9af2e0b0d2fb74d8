/**
 * The primary keys reported for each group. Pages of 2^16 keys: keys of a sequence are neighbours, so a full page costs
 * one bit a key, and ten million keys some megabytes. Sorted files would hold customers' IDs on disk, and cost a sort.
 */

/** Limits memory to a few hundred megabytes, whatever the keys. */
export const PAGES_MAX = 1_000_000;

const PAGE_KEYS = 2 ** 16;
const PAGES_OF_GROUP = 2 ** 32;

/** Above so many keys a bitmap is smaller than a list. */
const LIST_MAX = 4096;

/** A sorted list of the first `count` members, or a bitmap. */
type Page = { list: Uint16Array; count: number } | Uint32Array;

export class KeySet {
  readonly #pages = new Map<number, Page>();
  size = 0;

  get isFull(): boolean {
    return this.#pages.size > PAGES_MAX;
  }

  has(group: number, primaryKey: number): boolean {
    const page = this.#pages.get(pageOf(group, primaryKey));
    const low = primaryKey % PAGE_KEYS;
    if (page === undefined) return false;
    if (page instanceof Uint32Array) return hasBit(page, low);
    return page.list[placeIn(page, low)] === low && placeIn(page, low) < page.count;
  }

  /** Whether it is new. */
  add(group: number, primaryKey: number): boolean {
    const number = pageOf(group, primaryKey);
    const low = primaryKey % PAGE_KEYS;
    const page = this.#pages.get(number) ?? { list: new Uint16Array(8), count: 0 };
    if (page instanceof Uint32Array) {
      if (hasBit(page, low)) return false;
      setBit(page, low);
    } else {
      const place = placeIn(page, low);
      if (place < page.count && page.list[place] === low) return false;
      if (page.count === LIST_MAX) {
        const bits = new Uint32Array(PAGE_KEYS / 32);
        for (const member of page.list) setBit(bits, member);
        setBit(bits, low);
        this.#pages.set(number, bits);
      } else {
        insert(page, place, low);
        if (page.count === 1) this.#pages.set(number, page);
      }
    }
    this.size++;
    return true;
  }
}

const pageOf = (group: number, primaryKey: number): number =>
  group * PAGES_OF_GROUP + Math.floor(primaryKey / PAGE_KEYS);

const hasBit = (bits: Uint32Array, at: number): boolean => (((bits[at >>> 5] as number) >>> (at & 31)) & 1) === 1;

const setBit = (bits: Uint32Array, at: number): void => {
  bits[at >>> 5] = ((bits[at >>> 5] as number) | (1 << (at & 31))) >>> 0;
};

/** Where a member stands, or would stand. Most come in rising order. */
const placeIn = ({ list, count }: Exclude<Page, Uint32Array>, low: number): number => {
  if (count === 0 || (list[count - 1] as number) < low) return count;
  let from = 0;
  let to = count;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((list[middle] as number) < low) from = middle + 1;
    else to = middle;
  }
  return from;
};

const insert = (page: Exclude<Page, Uint32Array>, place: number, low: number): void => {
  if (page.count === page.list.length) {
    const longer = new Uint16Array(page.list.length * 2);
    longer.set(page.list);
    page.list = longer;
  }
  page.list.copyWithin(place + 1, place, page.count);
  page.list[place] = low;
  page.count++;
};
