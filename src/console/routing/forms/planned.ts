import { type Edit, editText } from "../../../formats/console/edit.ts";
import { checkTable, type Fault, parseJson, plainJson } from "../../../routing/index.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { faultInWords } from "../fault-words.ts";

/** A change of the table by a form: edits of its text, held to the checks of the editor. */

/** A fault at its field of the form; without one it is about the whole. */
export interface FieldFault {
  readonly field?: string | undefined;
  readonly message: string;
}

export type Planned =
  | { readonly ok: true; readonly text: string; readonly table: DeclaredTable; readonly notes: readonly string[] }
  | { readonly ok: false; readonly faults: readonly FieldFault[] };

export const refused = (field: string | undefined, message: string): Planned => ({
  ok: false,
  faults: [{ field, message }],
});

interface Asked {
  readonly edits: readonly Edit[];
  /** The field of the form by the place of a fault. */
  readonly fieldOf?: (pointer: string) => string | undefined;
  readonly notes?: readonly string[];
}

/** The text with the edits, if it is a table without fault. */
export function planEdits(text: string, { edits, fieldOf = () => undefined, notes = [] }: Asked): Planned {
  const next = tryEdit(text, edits);
  if (next === undefined) return refused(undefined, "The draft has not this place any more: change it in the editor.");
  if (next === text) return refused(undefined, "Nothing changes by this.");
  const checked = checkTable(parseJson(plainJson(next)));
  if (checked.ok) return { ok: true, text: next, table: checked.value, notes };
  return {
    ok: false,
    faults: checked.error.map((fault) => ({ field: fieldOf(fault.pointer), message: faultInWords(fault) })),
  };
}

function tryEdit(text: string, edits: readonly Edit[]): string | undefined {
  try {
    return editText(text, edits);
  } catch {
    return undefined;
  }
}

/** The faults of the text after the edits. */
export function faultsAfter(text: string, edits: readonly Edit[]): readonly Fault[] {
  const next = tryEdit(text, edits);
  const checked = next === undefined ? undefined : checkTable(parseJson(plainJson(next)));
  return checked === undefined || checked.ok ? [] : checked.error;
}
