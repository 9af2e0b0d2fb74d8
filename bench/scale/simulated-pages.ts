import { keptPages } from "../../src/edge/kept-pages.ts";
import type { PackHeader } from "../../src/routing/pack/header.ts";
import { LoadedPack, NOT_LOADED } from "../../src/routing/pack/pack.ts";
import { PackPage } from "../../src/routing/pack/page.ts";
import type { Inputs } from "./inputs.ts";

const FIELD_BITS = 32;

/** Pages as full as they may be that an isolate keeps. */
export const pagesKept = ({ packMemoryOctets, pageOctets, rangeOctets, rangeMemoryOctets }: Inputs): number =>
  Math.floor(packMemoryOctets / ((pageOctets / rangeOctets) * rangeMemoryOctets));

/**
 * The pages of one pack in an isolate, by the code of `src/`: what is in memory, and what is dropped when it is too much. Each
 * page has one range, so that ten thousand isolates have room beside each other; how many pages are kept is given as a number.
 */
export class SimulatedPages {
  readonly #kept: ReturnType<typeof keptPages>;
  #pack: LoadedPack;
  #keys: readonly number[];

  constructor(pages: number, pagesMax: number) {
    this.#kept = keptPages(pagesMax * pageAt(0).bytes);
    const header = headerOf(pages);
    this.#pack = new LoadedPack(header);
    this.#keys = header.pages.map(({ first }) => first);
  }

  /** A new pack, as large as the one before, whose pages stay in memory until there is no room for them. */
  change(): void {
    this.#pack = new LoadedPack(this.#pack.header);
  }

  /** Looks into a page; whether it has to be loaded first. */
  lacks(page: number): boolean {
    return this.#pack.find(this.#keys[page] as number) === NOT_LOADED;
  }

  /** Loads a page for a request, which looks again. */
  load(page: number): void {
    this.#kept.keep(this.#pack, page, pageAt(this.#keys[page] as number));
    this.lacks(page);
  }
}

/** Holds its first key alone. */
const pageAt = (first: number): PackPage => new PackPage(Uint32Array.of(first, 0));

const headers = new Map<number, PackHeader>();

/** Pages of equal width over the field. */
function headerOf(count: number): PackHeader {
  const known = headers.get(count);
  if (known !== undefined) return known;
  const width = 2 ** FIELD_BITS / count;
  const pages = Array.from({ length: count }, (_, number) => {
    const [first, last] = [Math.ceil(number * width), Math.ceil((number + 1) * width) - 1];
    return { number, first, last, ranges: 1, octets: 0, offset: 0, rangesBefore: number, sha256: "" };
  });
  const header: PackHeader = {
    ...{ version: 1, fieldBits: FIELD_BITS, keyOctets: 4, ranges: count, regions: ["eu"], pages },
    ...{ headerOctets: 0, bytes: 0 },
  };
  headers.set(count, header);
  return header;
}
