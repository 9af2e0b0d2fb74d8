import { expect, it } from "vitest";
import { checkText, compile } from "../../src/cli/lib/table-file.ts";
import { loadTableText } from "../../src/routing/index.ts";
import { FAULT_CASES } from "../routing/check/fault-cases.ts";
import { sampleTable } from "../routing/tables.ts";

/** Publishing over HTTP and the loader read a text with `loadTableText`: `test/routes/table/table.test.ts` and `test/edge/` hold them to it. */

/** `undefined` for a loop. */
const textOf = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
};

interface Fault {
  readonly kind: string;
  readonly pointer: string;
  readonly message: string;
}

const placesOf = (faults: readonly Fault[]) => faults.map(({ kind, pointer }) => `${kind} ${pointer}`).toSorted();
const sentencesOf = (faults: readonly Fault[]) =>
  faults.map(({ pointer, kind, message }) => `${kind} ${pointer} ${message}`).toSorted();

it("the command line refuses a table for the faults for which it is not published or loaded", async () => {
  let count = 0;
  for (const [, change, faults] of Object.values(FAULT_CASES).flat()) {
    const text = textOf(change(sampleTable()));
    if (text === undefined || faults.length === 0) continue;
    const loaded = loadTableText(text, 0);
    const expected = loaded.ok ? [] : loaded.error;
    // No text can say a function or an undefined member: those of `faults.test.ts` are others then.
    if (placesOf(expected).join() !== faults.toSorted().join()) continue;
    const checked = await checkText(new TextEncoder().encode(text), compile);
    expect(sentencesOf(checked.ok ? [] : checked.error)).toEqual(sentencesOf(expected));
    count += 1;
  }
  expect(count).toBeGreaterThan(250);
  // Hundreds of tables are checked twice, some of them as large as one may be.
}, 240_000);
