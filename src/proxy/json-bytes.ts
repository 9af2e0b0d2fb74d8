/** How far a JSON number has been read (RFC 8259 §6), named by what was read last. */
type NumberState = "start" | "minus" | "zero" | "integer" | "point" | "fraction" | "exponent" | "sign" | "power";

/** Where a number may go on, by what its next byte is: `0`, `1-9`, `.`, `e`, `+`, `-`. */
const STEPS: Readonly<Record<NumberState, readonly (NumberState | undefined)[]>> = {
  start: ["zero", "integer", undefined, undefined, undefined, "minus"],
  minus: ["zero", "integer"],
  zero: [undefined, undefined, "point", "exponent"],
  integer: ["integer", "integer", "point", "exponent"],
  point: ["fraction", "fraction"],
  fraction: ["fraction", "fraction", undefined, "exponent"],
  exponent: ["power", "power", undefined, undefined, "sign", "sign"],
  sign: ["power", "power"],
  power: ["power", "power"],
};
const ENDS: ReadonlySet<NumberState> = new Set(["zero", "integer", "fraction", "power"]);

/** By byte, its column of `STEPS`; -1, which none has, for a byte that no number holds. */
const COLUMNS = new Int8Array(256).fill(-1);
for (const [column, bytes] of ["0", "123456789", ".", "eE", "+", "-"].entries()) {
  for (const byte of bytes) COLUMNS[byte.charCodeAt(0)] = column;
}

/** JSON (RFC 8259) over bytes that stop anywhere. Strict: an ID might hide in bad JSON. UTF-8 inside strings is not checked. */

export type TokenKind = "key" | "string" | "number" | "literal";

/** `document`: one JSON text. `lines`: JSON texts that line feeds part (NDJSON). */
export type JsonFraming = "document" | "lines";

/** Why bytes are no JSON text. `at` counts bytes from the start of the body. */
export type JsonError =
  | { readonly reason: "malformed"; readonly at: number }
  | { readonly reason: "too-deep"; readonly max: number }
  | { readonly reason: "truncated" };

/** Deeper than any document that people write, and far below what a recursive reader takes. */
export const DEPTH_MAX = 256;

/** The owner of the next byte: the structure, or a token that has begun. */
type Mode = Structure | "string" | "escape" | "hex" | "number" | "literal";
type Structure = "start" | "value" | "first-element" | "first-key" | "key" | "colon" | "after" | "done";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const BOM = "\u00ef\u00bb\u00bf";
const bytesOf = (text: string) => new Set(new TextEncoder().encode(text));
const HEX = bytesOf("0123456789abcdefABCDEF");
const ESCAPES = bytesOf('"\\/bfnrtu');
const LITERALS: Readonly<Record<number, string>> = { 116: "true", 102: "false", 110: "null" };

export abstract class JsonByteScanner {
  readonly #framing: JsonFraming;
  readonly #isArray = new Uint8Array(DEPTH_MAX);
  #mode: Mode = "start";
  /** Containers that are open. */
  protected depth = 0;
  /** Kind of the token read last. */
  protected kind: TokenKind = "literal";
  #hexLeft = 0;
  #number: NumberState = "start";
  #literal = "";
  #literalAt = 0;
  #passed = 0;
  #error: JsonError | undefined;

  constructor(framing: JsonFraming) {
    this.#framing = framing;
  }

  // Called as tokens go by. `at` is an index into the chunk that is being scanned; an end is the index after the last byte.
  protected abstract opened(isArray: boolean): void;
  protected abstract closed(): void;
  /** A further element of the innermost array is to come. */
  protected abstract elementFollows(): void;
  protected abstract tokenStarted(at: number): void;
  protected abstract tokenEnded(end: number): void;

  /** Reads the next bytes. An error stays. */
  protected scan(chunk: Uint8Array): JsonError | undefined {
    for (let at = 0; at < chunk.length && this.#error === undefined; ) {
      const next = this.#step(chunk, at);
      if (next < 0) this.#error ??= { reason: "malformed", at: this.#passed + ~next };
      at = next;
    }
    this.#passed += chunk.length;
    return this.#error;
  }

  /** No bytes follow. An empty body is no JSON text, but holds nothing either. */
  protected scanEnd(): JsonError | undefined {
    if (this.#mode === "number" && this.depth === 0 && ENDS.has(this.#number)) this.#endToken(0);
    if (this.#mode !== "done" && this.#mode !== "start") this.#error ??= { reason: "truncated" };
    return this.#error;
  }

  /** Takes one byte or more from `at` on; the index of the first that is left, or `~` of that of a fault. */
  #step(chunk: Uint8Array, at: number): number {
    if (this.#mode === "string") return this.#string(chunk, at);
    if (this.#mode === "number") return this.#digits(chunk, at);
    return this.#byte(chunk[at] as number, at) ? at + 1 : ~at;
  }

  #byte(byte: number, at: number): boolean {
    if (this.#mode === "literal") return this.#letter(byte, at);
    if (this.#mode === "escape") return this.#escaped(byte);
    if (this.#mode === "hex") return this.#hexDigit(byte);
    if (byte === LINE_FEED && this.#mode === "done" && this.#framing === "lines") this.#mode = "start";
    if (byte === 0x20 || byte === LINE_FEED || byte === 0x0d || byte === 0x09) return true;
    return this.#mark(byte, at);
  }

  #escaped(byte: number): boolean {
    this.#hexLeft = 4;
    this.#mode = byte === 0x75 ? "hex" : "string";
    return ESCAPES.has(byte);
  }

  #hexDigit(byte: number): boolean {
    if (--this.#hexLeft === 0) this.#mode = "string";
    return HEX.has(byte);
  }

  /** The first byte of a value or key, or one between them. */
  #mark(byte: number, at: number): boolean {
    switch (this.#mode) {
      case "start":
        return this.#startDocument(byte, at);
      case "first-element":
        return byte === 0x5d ? this.#close(true) : this.#startValue(byte, at);
      case "value":
        return this.#startValue(byte, at);
      case "first-key":
        return byte === 0x7d ? this.#close(false) : byte === QUOTE && this.#startToken("key", "string", at);
      case "key":
        return byte === QUOTE && this.#startToken("key", "string", at);
      case "colon":
        this.#mode = "value";
        return byte === 0x3a;
      case "after":
        return this.#separator(byte);
      default:
        return false;
    }
  }

  #startDocument(byte: number, at: number): boolean {
    const isMark = byte === BOM.charCodeAt(0) && this.#passed + at === 0;
    return isMark ? this.#startLiteral(BOM) : this.#startValue(byte, at);
  }

  #separator(byte: number): boolean {
    const inArray = this.#isArray[this.depth - 1] === 1;
    if (byte !== 0x2c) return byte === (inArray ? 0x5d : 0x7d) && this.#close(inArray);
    if (inArray) this.elementFollows();
    this.#mode = inArray ? "value" : "key";
    return true;
  }

  #startValue(byte: number, at: number): boolean {
    if (byte === 0x7b || byte === 0x5b) return this.#open(byte === 0x5b);
    if (byte === QUOTE) return this.#startToken("string", "string", at);
    const literal = LITERALS[byte];
    if (literal !== undefined) return this.#startToken("literal", "literal", at) && this.#startLiteral(literal);
    const number = STEPS.start[COLUMNS[byte] as number];
    if (number === undefined) return false;
    this.#number = number;
    return this.#startToken("number", "number", at);
  }

  #startToken(kind: TokenKind, mode: Mode, at: number): true {
    this.kind = kind;
    this.#mode = mode;
    this.tokenStarted(at);
    return true;
  }

  #endToken(end: number): void {
    const after = this.depth === 0 ? "done" : "after";
    this.#mode = this.kind === "key" ? "colon" : after;
    this.tokenEnded(end);
  }

  #open(isArray: boolean): boolean {
    if (this.depth === DEPTH_MAX) {
      this.#error = { reason: "too-deep", max: DEPTH_MAX };
      return false;
    }
    this.#isArray[this.depth++] = isArray ? 1 : 0;
    this.#mode = isArray ? "first-element" : "first-key";
    this.opened(isArray);
    return true;
  }

  #close(isArray: boolean): boolean {
    if ((this.#isArray[this.depth - 1] === 1) !== isArray) return false;
    this.depth--;
    this.closed();
    this.#mode = this.depth === 0 ? "done" : "after";
    return true;
  }

  /** The bulk of most documents: runs to the next byte that means something. */
  #string(chunk: Uint8Array, from: number): number {
    let at = from;
    let byte = 0x20;
    while (at < chunk.length) {
      byte = chunk[at] as number;
      if (byte === QUOTE || byte === BACKSLASH || byte < 0x20) break;
      at++;
    }
    if (at === chunk.length) return at;
    if (byte < 0x20) return ~at;
    if (byte === BACKSLASH) this.#mode = "escape";
    else this.#endToken(at + 1);
    return at + 1;
  }

  #digits(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const next = STEPS[this.#number][COLUMNS[chunk[at] as number] as number];
      if (next === undefined) {
        if (!ENDS.has(this.#number)) return ~at;
        this.#endToken(at);
        return at;
      }
      this.#number = next;
    }
    return chunk.length;
  }

  #startLiteral(literal: string): boolean {
    this.#literal = literal;
    this.#literalAt = 1;
    this.#mode = "literal";
    return true;
  }

  #letter(byte: number, at: number): boolean {
    if (byte !== this.#literal.charCodeAt(this.#literalAt++)) return false;
    if (this.#literalAt < this.#literal.length) return true;
    if (this.#literal === BOM) this.#mode = "value";
    else this.#endToken(at + 1);
    return true;
  }
}
