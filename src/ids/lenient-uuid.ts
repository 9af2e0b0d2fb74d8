import type { ParseError, Words } from "./layout.ts";
import { err, type Result } from "./result.ts";
import { shiftError } from "./text/form.ts";
import { parseUuid, UUID_TEXT_LENGTH } from "./uuid-text.ts";

const URN = "urn:uuid:";
const HEX_DIGITS = 32;

/**
 * Parses common UUID spellings: canonical, with `urn:uuid:` (RFC 9562 section 4, any case), in braces, or 32 bare
 * digits. For imports and human input. The gateway is strict, since one ID must have one text.
 */
export const parseLenientUuid = (text: string): Result<Words, ParseError> => {
  const [start, end] = wrapping(text);
  const bare = text.slice(start, end);
  const uuid = parseUuid(bare.length === HEX_DIGITS ? grouped(bare) : bare);
  if (uuid.ok || start === 0) return uuid;
  return err(shiftError(uuid.error, start));
};

/** Start and end of the UUID within its wrapping. */
const wrapping = (text: string): readonly [number, number] => {
  if (text.length === URN.length + UUID_TEXT_LENGTH && text.slice(0, URN.length).toLowerCase() === URN) {
    return [URN.length, text.length];
  }
  return text.startsWith("{") && text.endsWith("}") ? [1, text.length - 1] : [0, text.length];
};

const grouped = (digits: string): string => digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/s, "$1-$2-$3-$4-$5");
