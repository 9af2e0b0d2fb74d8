import type { PackHeader, PageInfo } from "./header.ts";
import { NOT_HELD, type PackPage } from "./page.ts";

/** The page that may hold the key is not in memory. */
export const NOT_LOADED = -2;

/** A pack as an isolate has it: the header, and those of its pages that are in memory. */
export class LoadedPack {
  readonly header: PackHeader;
  private readonly firsts: Float64Array;
  private readonly pages: (PackPage | undefined)[];

  constructor(header: PackHeader) {
    this.header = header;
    this.firsts = Float64Array.from(header.pages, ({ first }) => first);
    this.pages = header.pages.map(() => undefined);
  }

  /** Number of the region whose range holds the key, `NOT_HELD` or `NOT_LOADED`. */
  find(key: number): number {
    const number = this.pageOf(key);
    if (number < 0) return NOT_HELD;
    const page = this.pages[number];
    if (page === undefined) {
      // What lies between two pages is known without either.
      return key > (this.header.pages[number] as PageInfo).last ? NOT_HELD : NOT_LOADED;
    }
    return page.find(key);
  }

  /** The only page that may hold the key; -1 when it is below all. */
  pageOf(key: number): number {
    const { firsts } = this;
    let low = -1;
    let high = firsts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((firsts[middle] as number) <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  page(number: number): PackPage | undefined {
    return this.pages[number];
  }

  put(number: number, page: PackPage): void {
    this.pages[number] = page;
  }

  drop(number: number): void {
    this.pages[number] = undefined;
  }

  /** Memory of the pages that are there. */
  get bytes(): number {
    return this.pages.reduce((sum, page) => sum + (page?.bytes ?? 0), 0);
  }
}
