/** Control, format, separator and unpaired surrogate characters: a terminal would obey some, and hide others. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A text that came from outside, safe to show on a terminal and on one line. */
export const escapeControls = (text: string): string =>
  text.replace(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`);
