import type { PackHeader, PageInfo } from "./header.ts";
import { NOT_FOUND, NOT_LOADED, type PackPage } from "./page.ts";

export { NOT_LOADED };

/** The field is cut into so many equal parts. */
const STEPS = 256;

/** A pack as an isolate has it: the header, and those of its pages that are in memory. */
export class LoadedPack {
  readonly header: PackHeader;
  /** First key of each page, and behind them a greatest of all. */
  private readonly firsts: Float64Array;
  /** For each part of the field the page at which a search begins: it goes up from there by a page or two. */
  private readonly steps: Int16Array;
  private readonly stepsPerKey: number;
  private readonly pages: (PackPage | undefined)[];

  constructor(header: PackHeader) {
    this.header = header;
    this.firsts = Float64Array.from([...header.pages.map(({ first }) => first), Number.POSITIVE_INFINITY]);
    this.stepsPerKey = STEPS / 2 ** header.fieldBits;
    this.steps = Int16Array.from({ length: STEPS }, (_, step) =>
      header.pages.findLastIndex(({ first }) => first <= step / this.stepsPerKey),
    );
    this.pages = header.pages.map(() => undefined);
  }

  /** Number of the region whose range holds the key, `NOT_FOUND` or `NOT_LOADED`. */
  find(key: number): number {
    const number = this.pageOf(key);
    if (number < 0) return NOT_FOUND;
    const page = this.pages[number];
    if (page === undefined) {
      // What lies between two pages is known without either.
      return key > (this.header.pages[number] as PageInfo).last ? NOT_FOUND : NOT_LOADED;
    }
    return page.find(key);
  }

  /** The only page that may hold the key; -1 when it is below all. */
  pageOf(key: number): number {
    const { firsts } = this;
    let number = this.steps[(key * this.stepsPerKey) | 0] as number;
    while ((firsts[number + 1] as number) <= key) number++;
    return number;
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
