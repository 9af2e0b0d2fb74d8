import { err, ok, type Result } from "../../../ids/result.ts";
import { DEPTH_MAX, JsonByteScanner, type JsonError, type JsonFraming } from "../../../proxy/json-bytes.ts";
import { type FieldPaths, NO_MATCH, OTHER_NAME } from "../table/field-paths.ts";

/** The public ID for `text`, unescaped, of an entity. `undefined`: it is no ID, and stays; `null`: it has no public form. */
export type ToPublic = (entity: string, text: string) => string | null | undefined;

export type FieldRewriterOptions = Readonly<{ paths: FieldPaths; toPublic: ToPublic; framing: JsonFraming }>;

/** No text of any layout is longer, a prefix of the user's own included. Longer strings are no IDs and go by unchanged. */
export const ID_UNITS_MAX = 256;
/** JSON writes a UTF-16 unit in six bytes at most (`\u0000`): a string of more bytes, quotes apart, exceeds its units. */
const UNIT_BYTES_MAX = 6;
export const BUFFER_BYTES_MAX = ID_UNITS_MAX * UNIT_BYTES_MAX + 2;

const NO_BYTES = new Uint8Array(0);
const BACKSLASH = 0x5c;
const WHOLE_NUMBER = /^[0-9]+$/;
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
const encoder = new TextEncoder();

/** Turns internal IDs at the declared places into public ones while a JSON body streams by. For one body. */
export class FieldRewriter extends JsonByteScanner {
  readonly #paths: FieldPaths;
  readonly #toPublic: ToPublic;
  readonly #keyBytesMax: number;
  /** The state of each open container, and how many of its elements have begun. */
  readonly #states = new Uint16Array(DEPTH_MAX);
  readonly #elements = new Float64Array(DEPTH_MAX);
  #state: number;

  #chunk: Uint8Array = NO_BYTES;
  #from = 0;
  #pieces: Uint8Array[] = [];

  /** The token that is being kept: a name to compare, whose bytes go by, or a value, whose bytes are held back. */
  #keeping: "nothing" | "name" | "value" = "nothing";
  #start = 0;
  readonly #buffered: Uint8Array;
  #bufferedLength = 0;

  constructor({ paths, toPublic, framing }: FieldRewriterOptions) {
    super(framing);
    this.#paths = paths;
    this.#toPublic = toPublic;
    this.#state = paths.root;
    this.#keyBytesMax = paths.nameUnitsMax * UNIT_BYTES_MAX + 2;
    this.#buffered = new Uint8Array(Math.max(BUFFER_BYTES_MAX, this.#keyBytesMax));
  }

  /** The bytes to send on, perhaps views of the chunk. After an error nothing more comes out: it could show internal IDs. */
  push(chunk: Uint8Array): Result<readonly Uint8Array[], JsonError> {
    this.#chunk = chunk;
    return this.#finish(this.scan(chunk));
  }

  /** The bytes held back last, or the error that the body stopped short. */
  end(): Result<readonly Uint8Array[], JsonError> {
    return this.#finish(this.scanEnd());
  }

  /** Bytes held back now: at most `BUFFER_BYTES_MAX`. */
  bufferedBytes(): number {
    return this.#keeping === "value" ? this.#bufferedLength : 0;
  }

  /** The pieces that may go out now. A token that the chunk has cut is set aside, unless it is too long to be of interest. */
  #finish(error: JsonError | undefined): Result<readonly Uint8Array[], JsonError> {
    if (error !== undefined) return err(error);
    if (this.#keeping !== "nothing") this.#setAside();
    this.#give(this.#keeping === "value" ? this.#start : this.#chunk.length);
    const pieces = this.#pieces;
    this.#chunk = NO_BYTES;
    this.#from = 0;
    this.#start = 0;
    this.#pieces = [];
    return ok(pieces);
  }

  protected opened(isArray: boolean): void {
    this.#states[this.depth - 1] = this.#state;
    this.#elements[this.depth - 1] = 0;
    if (isArray) this.elementFollows();
  }

  /** After the last value of a document the next one begins. */
  protected closed(): void {
    if (this.depth === 0) this.#state = this.#paths.root;
  }

  protected elementFollows(): void {
    const element = this.#elements[this.depth - 1] as number;
    this.#elements[this.depth - 1] = element + 1;
    this.#descend(() => this.#paths.symbols.get(`${element}`));
  }

  protected tokenStarted(at: number): void {
    if (this.kind === "key") {
      if (this.#states[this.depth - 1] !== NO_MATCH) this.#keep("name", at);
    } else if (this.kind !== "literal" && this.#paths.entityAt(this.#state) !== undefined) this.#keep("value", at);
  }

  protected tokenEnded(end: number): void {
    const name = this.#keeping === "name" ? this.#token(end) : undefined;
    if (this.#keeping === "value") this.#replace(end);
    this.#keeping = "nothing";
    if (this.kind === "key")
      this.#descend(() => (name === undefined ? undefined : this.#paths.symbols.get(stringOf(name))));
    else this.closed();
  }

  #descend(symbol: () => number | undefined): void {
    const state = this.#states[this.depth - 1] as number;
    this.#state = state === NO_MATCH ? NO_MATCH : this.#paths.next(state, symbol() ?? OTHER_NAME);
  }

  #keep(what: "name" | "value", at: number): void {
    this.#keeping = what;
    this.#start = at;
    this.#bufferedLength = 0;
  }

  #replace(end: number): void {
    const entity = this.#paths.entityAt(this.#state);
    const token = this.#token(end);
    const text = token === undefined ? undefined : this.#idText(token);
    const replacement = entity === undefined || text === undefined ? undefined : this.#toPublic(entity, text);
    if (replacement === undefined) {
      this.#giveBuffered();
    } else {
      this.#give(this.#start);
      this.#pieces.push(encoder.encode(JSON.stringify(replacement)));
      this.#from = end;
    }
  }

  #idText(token: Uint8Array): string | undefined {
    const text = this.kind === "string" ? stringOf(token) : decoder.decode(token);
    if (text.length > ID_UNITS_MAX) return undefined;
    return this.kind === "string" || WHOLE_NUMBER.test(text) ? text : undefined;
  }

  /** All bytes of the token up to here, unless there are too many. */
  #token(end: number): Uint8Array | undefined {
    const rest = this.#chunk.subarray(this.#start, end);
    const length = this.#bufferedLength + rest.length;
    if (length > (this.#keeping === "value" ? BUFFER_BYTES_MAX : this.#keyBytesMax)) return undefined;
    if (this.#bufferedLength === 0) return rest;
    this.#buffered.set(rest, this.#bufferedLength);
    return this.#buffered.subarray(0, length);
  }

  #setAside(): void {
    const token = this.#token(this.#chunk.length);
    if (token === undefined) {
      if (this.#keeping === "value") this.#giveBuffered();
      this.#keeping = "nothing";
    } else {
      if (this.#bufferedLength === 0) this.#buffered.set(token);
      this.#bufferedLength = token.length;
    }
  }

  #give(end: number): void {
    if (end > this.#from) this.#pieces.push(this.#chunk.subarray(this.#from, end));
    this.#from = end;
  }

  /** Gives out what was held back of a value that stays as it is. */
  #giveBuffered(): void {
    if (this.#bufferedLength > 0) this.#pieces.push(this.#buffered.slice(0, this.#bufferedLength));
    this.#bufferedLength = 0;
  }
}

/** The string that a JSON token writes. The scanner has seen that the token is one. */
const stringOf = (token: Uint8Array): string => {
  const text = decoder.decode(token);
  return token.includes(BACKSLASH) ? (JSON.parse(text) as string) : text.slice(1, -1);
};
