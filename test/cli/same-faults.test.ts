import { expect, it } from "vitest";
import { checkText, compile } from "../../src/cli/lib/table-file.ts";
import { loadTable, loadTableText } from "../../src/routing/index.ts";
import { FAULT_CASES } from "../routing/fault-cases.ts";
import { sampleTable } from "../routing/tables.ts";

/** Publishing over HTTP and the loader read a text with `loadTableText`: `test/routes/table.test.ts` and `test/edge/` hold them to it. */

const faultsOf = (value: unknown): string => {
  const table = loadTable(value, 0);
  return table.ok ? "" : JSON.stringify(table.error);
};

/** `undefined` for what no text can say: a function, a loop or an undefined member. */
const textOf = (value: unknown): string | undefined => {
  try {
    const text = JSON.stringify(value);
    return faultsOf(JSON.parse(text)) === faultsOf(value) ? text : undefined;
  } catch {
    return undefined;
  }
};

it("the command line refuses a table for the faults for which it is not published or loaded", async () => {
  const texts = Object.values(FAULT_CASES)
    .flat()
    .filter(([, , faults]) => faults.length > 0)
    .flatMap(([, change]) => textOf(change(sampleTable())) ?? []);
  expect(texts.length).toBeGreaterThan(250);
  for (const text of texts) {
    const loaded = loadTableText(text, 0);
    const checked = await checkText(new TextEncoder().encode(text), compile);
    const sentences = checked.ok
      ? []
      : checked.error.map(({ pointer, kind, message }) => `${kind} ${pointer} ${message}`);
    const expected = loaded.ok ? [] : loaded.error.map(({ pointer, kind, message }) => `${kind} ${pointer} ${message}`);
    expect(sentences.toSorted()).toEqual(expected.toSorted());
    expect(expected.length).toBeGreaterThan(0);
  }
});
