import type { Layout, Role } from "../../ids/index.ts";
import { runsOf, WORD_BITS } from "../../ids/layout/runs.ts";
import { plural } from "../app/words.ts";

/** The bits of a layout as a map with rows of 32. Pure. */

export interface Part {
  readonly field: string;
  readonly role: Role;
  readonly bits: number;
  readonly text: string;
  readonly about: string;
}

/** `mintedAt 48 bits, version 4 bits, …`: in the order of the text. */
export const mapInWords = (layout: Layout): string =>
  runs(layout)
    .map(({ field, bits }) => `${field} ${plural(bits, "bit")}`)
    .join(", ");

const runs = ({ table }: Layout) => runsOf(table).toSorted((a, b) => a.textBit - b.textBit);

/** The runs cut at the ends of rows. */
export function partsOf(layout: Layout): readonly Part[] {
  const seen = new Set<string>();
  return runs(layout).flatMap((run) => {
    const field = layout.field(run.field);
    if (field === undefined) return [];
    const parts: Part[] = [];
    for (let done = 0; done < run.bits; ) {
      const bits = Math.min(run.bits - done, WORD_BITS - ((run.textBit + done) % WORD_BITS));
      const isFirst = !seen.has(run.field);
      seen.add(run.field);
      const isFixed = field.role === "fixed";
      parts.push({
        field: run.field,
        role: field.role,
        bits,
        text: isFixed ? "" : run.field,
        about: isFixed ? fixedText(layout, run.field) : isFirst ? plural(field.bits, "bit") : "goes on",
      });
      done += bits;
    }
    return parts;
  });
}

function fixedText({ table }: Layout, field: string): string {
  const values = table.rows.flatMap((row) => (row.field === field && row.role === "fixed" ? [row.value] : []));
  return values.join(" ");
}
