import { JsonByteScanner } from "../../../proxy/json-bytes.ts";

/** Reads the values of JSON pointers from the first bytes of a body, without making any other value of it. */

/** The value at a pointer. `detail`: why it is no ID. */
export type JsonValue = { readonly place: number; readonly text: string };
export type JsonFault = { readonly place: number; readonly detail: string };

export interface JsonPointer {
  /** Its place in the list of all. */
  readonly place: number;
  readonly path: readonly string[];
  readonly isList: boolean;
}

export type JsonReading =
  | { readonly kind: "values"; readonly values: readonly JsonValue[] }
  | { readonly kind: "fault"; readonly fault: JsonFault }
  | { readonly kind: "malformed"; readonly detail: string }
  /** The bytes end before it, and the body goes on. */
  | { readonly kind: "late"; readonly place: number };

const WHOLE_NUMBER = /^(?:0|[1-9][0-9]*)$/;

/** `isWhole`: whether no bytes follow. */
export function readJsonIds(bytes: Uint8Array, isWhole: boolean, pointers: readonly JsonPointer[]): JsonReading {
  return new IdScanner(bytes, pointers).read(isWhole);
}

/** Sets of pointers are bits, by their place in the list of pointers; level n is about the n-th container that is open. */
class IdScanner extends JsonByteScanner {
  readonly #bytes: Uint8Array;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #pointers: readonly JsonPointer[];
  readonly #values: JsonValue[] = [];
  /** Pointers that lead into the container of a level, and those of them whose next name it has had. */
  readonly #inside: number[] = [];
  readonly #named: number[] = [];
  /** Pointers whose list the container of a level is. */
  readonly #lists: number[] = [];
  /** Index of the element that is read; -1 in an object. */
  readonly #index: number[] = [];
  /** Pointers that lead to the value that comes next, or through it. */
  #next: number;
  /** Pointers whose value was read to its end. */
  #read = 0;
  #start = 0;
  #isOver = false;
  #fault: JsonFault | undefined;
  #malformed: string | undefined;

  constructor(bytes: Uint8Array, pointers: readonly JsonPointer[]) {
    super("document");
    this.#bytes = bytes;
    this.#pointers = pointers;
    this.#next = 2 ** pointers.length - 1;
  }

  read(isWhole: boolean): JsonReading {
    const error = this.scan(this.#bytes) ?? (isWhole ? this.scanEnd() : undefined);
    if (this.#malformed !== undefined) return { kind: "malformed", detail: this.#malformed };
    if (this.#fault !== undefined) return { kind: "fault", fault: this.#fault };
    if (error !== undefined) {
      const why = error.reason === "too-deep" ? `is deeper than ${error.max} levels` : "is not JSON";
      return { kind: "malformed", detail: `The body ${why}.` };
    }
    const late = isWhole || this.#isOver ? -1 : this.#pointers.findIndex((_, bit) => (this.#read & (1 << bit)) === 0);
    const pointer = this.#pointers[late];
    return pointer === undefined ? { kind: "values", values: this.#values } : { kind: "late", place: pointer.place };
  }

  protected opened(isArray: boolean): void {
    const level = this.depth;
    const here = this.#next;
    const ends = this.#endingAfter(here, level - 1);
    const outer = level === 1 ? 0 : (this.#lists[level - 1] as number);
    if (outer !== 0) this.#refuse(outer, "has an element that is no text");
    let lists = 0;
    for (let bit = 0; ends >>> bit !== 0; bit++) {
      if ((ends & (1 << bit)) === 0) continue;
      if (isArray && this.#pointers[bit]?.isList === true) lists |= 1 << bit;
      else this.#refuse(1 << bit, isArray ? "is a list" : "is an object");
    }
    this.#inside[level] = here & ~ends;
    this.#named[level] = 0;
    this.#lists[level] = lists;
    this.#index[level] = isArray ? 0 : -1;
    if (isArray) this.#next = this.#leadingTo(level, "0");
  }

  protected closed(): void {
    this.#read |= this.#lists[this.depth + 1] as number;
    this.#lists[this.depth + 1] = 0;
    if (this.depth === 0) this.#isOver = true;
  }

  protected elementFollows(): void {
    const index = (this.#index[this.depth] as number) + 1;
    this.#index[this.depth] = index;
    this.#next = this.#inside[this.depth] === 0 ? 0 : this.#leadingTo(this.depth, String(index));
  }

  protected tokenStarted(at: number): void {
    this.#start = at;
  }

  protected tokenEnded(end: number): void {
    const level = this.depth;
    if (this.kind === "key") {
      this.#next = 0;
      if (this.#inside[level] === 0) return;
      const name = this.#text(end);
      if (name === undefined) return;
      const next = this.#leadingTo(level, name);
      if (this.#isNear(level, name)) {
        this.#malformed ??= `The key ${JSON.stringify(name.slice(0, KEY_SHOWN_MAX))} differs in its case from one with an ID.`;
      }
      if ((next & (this.#named[level] as number)) !== 0) {
        this.#malformed ??= `The body has the key ${JSON.stringify(name.slice(0, KEY_SHOWN_MAX))} twice.`;
      }
      this.#named[level] = (this.#named[level] as number) | next;
      this.#next = next;
      return;
    }
    if (level === 0) this.#isOver = true;
    const lists = level === 0 ? 0 : (this.#lists[level] as number);
    const ends = this.#endingAfter(this.#next, level);
    if ((ends | lists) === 0) return;
    this.#take(ends | lists, lists, end);
    this.#read |= ends;
  }

  /** A value that pointers lead to. `lists`: those of them whose list it is in. */
  #take(pointers: number, lists: number, end: number): void {
    const token = this.kind === "string" ? this.#text(end) : this.#raw(end);
    if (token === undefined) return;
    // `null` says nothing, but no list has such an ID.
    if (this.kind === "literal" && token === "null" && lists === 0) return;
    if (this.kind === "literal") this.#refuse(pointers, `is ${token}`);
    else if (this.kind === "number" && !WHOLE_NUMBER.test(token)) this.#refuse(pointers, "is no whole number");
    for (const [bit, { place }] of this.#pointers.entries()) {
      if ((pointers & (1 << bit)) !== 0) this.#values.push({ place, text: token });
    }
  }

  #refuse(pointers: number, detail: string): void {
    const place = this.#pointers.find((_, bit) => (pointers & (1 << bit)) !== 0)?.place ?? 0;
    this.#fault ??= { place, detail };
  }

  /** The pointers that have so many names. */
  #endingAfter(pointers: number, names: number): number {
    let ending = 0;
    for (let bit = 0; pointers >>> bit !== 0; bit++) {
      if ((pointers & (1 << bit)) !== 0 && this.#pointers[bit]?.path.length === names) ending |= 1 << bit;
    }
    return ending;
  }

  #leadingTo(level: number, name: string): number {
    const inside = this.#inside[level] as number;
    let leading = 0;
    for (let bit = 0; inside >>> bit !== 0; bit++) {
      if ((inside & (1 << bit)) !== 0 && this.#pointers[bit]?.path[level - 1] === name) leading |= 1 << bit;
    }
    return leading;
  }

  /** Many servers read names in any case: they would find an ID where the gateway finds none. */
  #isNear(level: number, name: string): boolean {
    const inside = this.#inside[level] as number;
    for (let bit = 0; inside >>> bit !== 0; bit++) {
      const own = (inside & (1 << bit)) === 0 ? undefined : this.#pointers[bit]?.path[level - 1];
      if (own?.length === name.length && own !== name && folded(own) === folded(name)) return true;
    }
    return false;
  }

  /** A number at the very end of a body ends nowhere. */
  #raw(end: number): string {
    const { length } = this.#bytes;
    return String.fromCharCode(
      ...this.#bytes.subarray(this.#start, Math.min(end || length, this.#start + TOKEN_BYTES_MAX)),
    );
  }

  #text(end: number): string | undefined {
    try {
      const text = this.#decoder.decode(this.#bytes.subarray(this.#start, end));
      return text.includes("\\") ? (JSON.parse(text) as string) : text.slice(1, -1);
    } catch {
      this.#malformed ??= "The body is not UTF-8.";
      return undefined;
    }
  }
}

/** More digits are no ID, and would be too many arguments of a call. */
const TOKEN_BYTES_MAX = 1_000;
const KEY_SHOWN_MAX = 100;

/** The same for all cases of a name. The Kelvin sign is a `k` in lower case only. */
const folded = (name: string): string => name.toLowerCase().toUpperCase();
