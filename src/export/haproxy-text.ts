/** Texts within a configuration of HAProxy. */

/** One word of the configuration, whatever is in it. */
export const haproxyWord = (text: string): string => {
  if (/[^ -~]/.test(text)) throw new Error(`HAProxy cannot hold ${JSON.stringify(text)}`);
  return `'${text.replaceAll("'", "'\\''")}'`;
};

/** The same where `%` begins an expression. */
export const haproxyFormat = (text: string): string => haproxyWord(text.replaceAll("%", "%%"));

export const comment = (text: string): string => `# ${text.replaceAll(/[^ -~]/g, "?")}`;

/** All names as one expression; a line holds 2,048 characters. Origins read `_` and `.` as `-`. */
export const namesExpression = (names: readonly string[], end: string): string =>
  prefixTree([...names.map((name) => name + end), `waybill-.*${end}`, `x-forwarded-.*${end}`]);

/** Each letter is compared once. */
const prefixTree = (words: readonly string[]): string => {
  const letters = [...new Set(words.map((word) => word.slice(0, 1)))].filter((letter) => letter !== "");
  const parts = letters.map((letter) => {
    const rests = words.filter((word) => word.startsWith(letter)).map((word) => word.slice(1));
    return `${letter === "-" ? "[-_.]" : letter}${prefixTree(rests)}`;
  });
  return parts.length > 1 ? `(?:${parts.join("|")})` : parts.join("");
};
