import type { Draft } from "../draft.ts";
import type { Report } from "../faults.ts";
import { ISO_3166_ALPHA_2 } from "../iso-3166.ts";

/** Countries go by their ISO codes, and each has a number of its own. */
export const checkCountries = (draft: Draft, report: Report): void => {
  const byNumber = new Map<number, string>();
  for (const [code, number] of draft.countries) {
    if (!ISO_3166_ALPHA_2.has(code)) {
      const message = `${JSON.stringify(code)} is no ISO 3166-1 alpha-2 code; write two capital letters such as "KZ".`;
      report("unknown-name", ["countries", code], message);
    }
    const other = byNumber.get(number);
    if (other === undefined) byNumber.set(number, code);
    else report("number-clash", ["countries", code], `Number ${number} is already ${other}; give ${code} another one.`);
  }
};
