import type { Layout, Words } from "../../ids/index.ts";
import { runsOf, WORD_BITS } from "../../ids/layout/runs.ts";
import { fieldMeaning } from "./meaning.ts";
import type { Reader } from "./reader.ts";

/** The bits of an ID from left to right, one block for each part of a field. `isShort`: those of a short key, without the random ones. */
export function BitStrip({
  layout,
  words,
  reader,
  isShort = false,
}: {
  layout: Layout;
  words: Words;
  reader: Reader;
  isShort?: boolean;
}) {
  const runs = runsOf(layout.table).toSorted((a, b) => a.textBit - b.textBit);
  return (
    <div>
      <ol class="bits" aria-label={`Bits of the ${layout.table.title}`}>
        {runs.map((run) => {
          const field = layout.field(run.field);
          const value = field?.readBig(words).toString() ?? "";
          const isPart = field !== undefined && field.bits !== run.bits;
          const isFirst = runs.find((other) => other.field === run.field) === run;
          const isUnknown = isShort && field?.role === "random";
          const meaning = isUnknown ? "not in a short key" : fieldMeaning(reader, run.field, value, field?.role);
          const bits = isUnknown
            ? "·".repeat(run.bits)
            : bitsText(words, layout.table.text.bits, run.textBit, run.bits);
          return (
            <li key={run.textBit} class={`role-${field?.role ?? "random"}`} style={{ flexGrow: run.bits }}>
              <span class="name">{isPart ? `${run.field}, part` : run.field}</span>
              <span class="value">{isFirst ? (meaning ?? value) : "…"}</span>
              <code aria-hidden="true">{bits}</code>
              <span class="count">{run.bits === 1 ? "1 bit" : `${run.bits} bits`}</span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** Bits of the text, counted from its most significant one. */
export function bitsText(words: Words, allBits: number, first: number, count: number): string {
  const unused = words.length * WORD_BITS - allBits;
  return Array.from({ length: count }, (_, at) => {
    const bit = unused + first + at;
    return ((words[Math.floor(bit / WORD_BITS)] ?? 0) >>> (WORD_BITS - 1 - (bit % WORD_BITS))) & 1;
  }).join("");
}
