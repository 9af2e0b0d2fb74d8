/** How far a JSON number has been read (RFC 8259 §6), named by what was read last. */
export type NumberState = "minus" | "zero" | "integer" | "point" | "fraction" | "exponent" | "sign" | "power";

/** Where a number may go on, by what its next byte is: `0`, `1-9`, `.`, `e`, `+`, `-`. */
const STEPS: Readonly<Record<NumberState, readonly (NumberState | undefined)[]>> = {
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

/** The state after the first byte of a number, `undefined` if no number begins so. */
export const startNumber = (byte: number): NumberState | undefined =>
  byte === 0x2d ? "minus" : STEPS.minus[column(byte)];

/** The state after one byte more, `undefined` if it is not part of the number. */
export const nextNumber = (state: NumberState, byte: number): NumberState | undefined => STEPS[state][column(byte)];

/** Whether the number may end here. */
export const mayEnd = (state: NumberState): boolean => ENDS.has(state);

export const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

/** The column of `STEPS`; -1, which none has, for a byte that no number holds. */
const column = (byte: number): number => {
  if (isDigit(byte)) return byte === 0x30 ? 0 : 1;
  if (byte === 0x2e) return 2;
  if (byte === 0x65 || byte === 0x45) return 3;
  if (byte === 0x2b) return 4;
  return byte === 0x2d ? 5 : -1;
};
