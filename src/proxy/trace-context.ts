/** W3C Trace Context, Level 1: `version-traceid-parentid-flags`. */

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;
const VERSION_00_LENGTH = 55;

/** Whether the value may be passed on. A malformed one is replaced, never repaired (§3.2.2, §4.3). */
export function isTraceparent(value: string): boolean {
  return TRACEPARENT.test(value) && (!value.startsWith("00") || value.length === VERSION_00_LENGTH);
}

/** A new trace of which nothing is known to be recorded: flags 00. `word` gives random 32-bit words. */
export function newTraceparent(word: () => number): string {
  // Neither ID may be all zero (§3.2.2.3); a set lowest bit sees to that.
  return `00-${hex8(word())}${hex8(word())}${hex8(word())}${hex8(word() | 1)}-${hex8(word())}${hex8(word() | 1)}-00`;
}

const DIGITS = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0)) as readonly number[];

/** One call with all codes makes a flat string; padding and joining eight digits costs ten times as much. */
function hex8(word: number): string {
  return String.fromCharCode(
    digit(word >>> 28),
    digit(word >>> 24),
    digit(word >>> 20),
    digit(word >>> 16),
    digit(word >>> 12),
    digit(word >>> 8),
    digit(word >>> 4),
    digit(word),
  );
}

function digit(value: number): number {
  return DIGITS[value & 15] as number;
}
