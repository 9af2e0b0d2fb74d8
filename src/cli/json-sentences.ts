import { type ParseErrorCode, printParseErrorCode } from "jsonc-parser";

/** What is wrong with a JSON text and how to mend it, by the name of the error. */
const SENTENCES: Readonly<Record<string, string>> = {
  PropertyNameExpected:
    "A key in double quotes must stand here; remove the comma before the closing brace, or add the entry.",
  ValueExpected: "A value must stand here; add it, or remove the comma before it.",
  ColonExpected: "A colon must stand between a key and its value; add it.",
  CommaExpected: "A comma must stand between two entries; add it.",
  CloseBraceExpected: "An object that was opened is not closed; add `}`.",
  CloseBracketExpected: "An array that was opened is not closed; add `]`.",
  EndOfFileExpected: "The table has ended before this; remove the rest.",
  InvalidCommentToken: "JSON has no comments; remove it.",
  UnexpectedEndOfComment: "JSON has no comments; remove it.",
  UnexpectedEndOfString: "A string ends on the line where it starts; add the closing quote.",
  UnexpectedEndOfNumber: "The number is not finished; add its digits.",
  InvalidUnicode: "`\\u` must be followed by four hexadecimal digits; correct it.",
  InvalidEscapeCharacter: "JSON has no such escape; write `\\\\` for a backslash.",
  InvalidCharacter: "A control character may not stand in a string; write it as an escape such as `\\t`.",
};

/** `found`: the characters at fault. */
export const syntaxSentence = (code: ParseErrorCode, found: string): string => {
  if (found === "\ufeff") return "The file begins with a byte order mark; save it as UTF-8 without one.";
  const sentence = SENTENCES[printParseErrorCode(code)];
  return (
    sentence ??
    `${JSON.stringify(found)} is not JSON; strings stand in double quotes, anything else is a number, true, false or null.`
  );
};
