import { computed } from "@preact/signals";
import { knownTable } from "../app/session.ts";
import { draft } from "../app/typed.ts";
import { changedLines } from "./lines.ts";

/** The one draft of the table: the editor types in it, forms change it, publication takes it. It stays in this tab until then. */

export interface TableDraft {
  readonly text: string;
  /** The revision that it began with. */
  readonly baseRevision: number;
  /** Against the table in force. */
  readonly changedLines: number;
}

/** `undefined`: nothing differs from the table in force. */
export const tableDraft = computed((): TableDraft | undefined => {
  const [own, known] = [draft.value, knownTable.value];
  if (own === undefined || own.text === known?.text) return undefined;
  const lines = known === undefined ? own.text.split("\n").length : changedLines(known.text, own.text);
  return { text: own.text, baseRevision: own.basedOn, changedLines: lines };
});

/** The text that a change begins with: the draft, else the table in force. */
export const currentText = computed((): string | undefined => draft.value?.text ?? knownTable.value?.text);

/** The revision that a change begins with. */
export const currentRevision = (): number | undefined => draft.peek()?.basedOn ?? knownTable.peek()?.revision;

/**
 * Puts a text in place of the draft, or begins one. A text that says what is in force is none. `from`: the revision that a new draft
 * was made of, which may be older than the one in force.
 */
export function setDraft(text: string, from = currentRevision()): void {
  const known = knownTable.peek();
  if (known === undefined) return;
  const basedOn = draft.peek()?.basedOn ?? from ?? known.revision;
  draft.value = text === known.text ? undefined : { text, basedOn };
}

/** Goes on from the table in force: the reader has looked at what another published. */
export function rebaseDraft(): void {
  const [own, known] = [draft.peek(), knownTable.peek()];
  if (own !== undefined && known !== undefined) draft.value = { ...own, basedOn: known.revision };
}

export function discardDraft(): void {
  draft.value = undefined;
}
