import type { Part } from "../../routing/condition-words.ts";

/** Text whose important parts are strong. */
export type Words = readonly Part[];

/** `a`, `a and b`, `a, b and c`; of many the first ones and how many more. */
export function listText(names: readonly string[], most: number, last = "and"): string {
  const shown = names.slice(0, most);
  const rest = names.length - shown.length;
  const end = rest > 0 ? `${rest} more` : shown.pop();
  return shown.length === 0 ? `${end ?? ""}` : `${shown.join(", ")} ${last} ${end}`;
}
