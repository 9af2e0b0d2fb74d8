import { type Prefixes, prefixesOf, prefixOf } from "../resolve/listed.ts";
import type { Place } from "../schema/faults.ts";
import { listOf, valuesOf } from "../schema/records.ts";
import type { DeclaredSource } from "../schema/without-id.ts";

/** Values that earlier sources of a list take, so that later ones never see them. */

export type Kind = Exclude<keyof DeclaredSource, "values" | "prefixes" | "unlisted">;

/** Values that sources of one header, claim or the like take together. */
interface Reader {
  /** No value goes on. */
  isClosed: boolean;
  readonly exact: Set<string>;
  /** One for each source. */
  readonly prefixes: Prefixes[];
}

type Headers = ReadonlyMap<string, ReadonlySet<string>>;

const NO_VALUES: ReadonlySet<string> = new Set();

/** Values of `headers` are combined up to this number; beyond it, one earlier source must take all. */
const COMBINATIONS_MAX = 256;

export class Taken {
  readonly #regions: ReadonlySet<string>;
  readonly #isStrict: boolean;
  readonly #readers = new Map<string, Reader>();
  readonly #headers: Headers[] = [];
  #isDecided = false;

  /** `isStrict`: single values are looked at, and not only whole sources. */
  constructor(regions: ReadonlySet<string>, isStrict: boolean) {
    this.#regions = regions;
    this.#isStrict = isStrict;
  }

  /** Adds a source. Places in it that never decide; an empty one is the whole of it. */
  add(source: DeclaredSource, kind: Kind, goesOn: boolean): readonly Place[] {
    const places = this.#isDecided
      ? [[]]
      : kind === "headers"
        ? this.#addHeaders(source)
        : this.#addValues(source, kind, goesOn);
    // Every request has a host.
    this.#isDecided ||= kind === "region" || (kind === "host" && !goesOn);
    return places;
  }

  #addValues(source: DeclaredSource, kind: Kind, goesOn: boolean): readonly Place[] {
    const reader = this.#readerOf(keyOf(source, kind, this.#isStrict));
    if (reader.isClosed) return [[]];
    const own = partsOf(source, this.#regions);
    const dead = this.#isStrict ? own.filter(({ value, isPrefix }) => isTaken(reader, kind, value, isPrefix)) : [];
    const prefixes = new Map<string, string>();
    for (const { value, isPrefix, region } of own) {
      if (isPrefix) prefixes.set(value, region);
      else reader.exact.add(value);
    }
    if (prefixes.size > 0) reader.prefixes.push(prefixesOf(prefixes));
    reader.isClosed ||= !goesOn || (!this.#isStrict && kind !== "region");
    if (dead.length === own.length && goesOn && own.length > 0) return [[]];
    return dead.flatMap(({ at }) => (at === undefined ? [] : [at]));
  }

  #addHeaders({ headers = {} }: DeclaredSource): readonly Place[] {
    const own: Headers = new Map(
      Object.entries(headers).map(([name, values]) => [name.toLowerCase(), new Set(listOf<string>(values))]),
    );
    const isDead = this.#takesAll(own);
    this.#headers.push(own);
    const [[name, values] = ["", NO_VALUES], second] = own;
    if (second === undefined) for (const value of values) this.#readerOf(headerKey(name)).exact.add(value);
    return isDead ? [[]] : [];
  }

  #takesAll(own: Headers): boolean {
    const rest = [...own].map(([name, values]): readonly [string, readonly string[]] => {
      const reader = this.#readerOf(headerKey(name));
      return [name, reader.isClosed ? [] : [...values].filter((value) => !isTaken(reader, "header", value, false))];
    });
    if (rest.some(([, values]) => values.length === 0)) return true;
    const earlier = this.#headers.filter((each) => [...each.keys()].every((name) => own.has(name)));
    const count = rest.reduce((product, [, values]) => product * values.length, 1);
    if (count <= COMBINATIONS_MAX) {
      return combinationsOf(rest).every((request) =>
        earlier.some((each) => takes(each, (name) => [request.get(name)])),
      );
    }
    const all = new Map(rest);
    return earlier.some((each) => takes(each, (name) => all.get(name) ?? []));
  }

  #readerOf(key: string): Reader {
    const known = this.#readers.get(key) ?? { isClosed: false, exact: new Set(), prefixes: [] };
    this.#readers.set(key, known);
    return known;
  }
}

const takes = (earlier: Headers, valuesIn: (name: string) => readonly (string | undefined)[]): boolean =>
  [...earlier].every(([name, values]) => valuesIn(name).every((value) => value !== undefined && values.has(value)));

const combinationsOf = (
  headers: readonly (readonly [string, readonly string[]])[],
): readonly ReadonlyMap<string, string>[] =>
  headers.reduce<ReadonlyMap<string, string>[]>(
    (all, [name, values]) => all.flatMap((each) => values.map((value) => new Map([...each, [name, value]]))),
    [new Map()],
  );

const isTaken = ({ exact, prefixes }: Reader, kind: Kind, value: string, isPrefix: boolean): boolean => {
  if (prefixes.some((each) => prefixOf(each, value) !== undefined)) return true;
  if (isPrefix) return false;
  const dot = value.indexOf(".");
  const isOfPattern = kind === "host" && !value.startsWith("*") && exact.has(`*${dot === -1 ? "" : value.slice(dot)}`);
  return exact.has(value) || isOfPattern;
};

interface Part {
  readonly value: string;
  readonly region: string;
  readonly isPrefix: boolean;
  /** Absent for the names of regions, which stand nowhere in the source. */
  readonly at?: Place;
}

const partsOf = (source: DeclaredSource, regions: ReadonlySet<string>): readonly Part[] => {
  const parts = (["values", "prefixes", "clientCountry", "clientContinent", "host"] as const).flatMap((part) =>
    valuesOf(source[part]).map(({ value, region, at }) => {
      return { value, region, at: [part, ...at], isPrefix: part === "prefixes" };
    }),
  );
  return parts.length > 0 ? parts : [...regions].map((name) => ({ value: name, region: name, isPrefix: false }));
};

const headerKey = (name: string): string => JSON.stringify(["header", name]);

/** The second of two sources with one key sees only values that the first lets go on. */
const keyOf = (source: DeclaredSource, kind: Kind, isStrict: boolean): string => {
  if (kind === "jwtClaim") return JSON.stringify([kind, source.jwtClaim, source.header?.toLowerCase()]);
  if (kind === "header") return headerKey(source.header?.toLowerCase() ?? "");
  if (!isStrict) return JSON.stringify(source);
  const isMap = kind === "clientCountry" || kind === "clientContinent" || kind === "host";
  return isMap ? kind : JSON.stringify([kind, source[kind]]);
};
