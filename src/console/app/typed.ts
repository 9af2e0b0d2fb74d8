import { effect, signal } from "@preact/signals";
import { MADE_KEY } from "./windows.ts";

/**
 * Texts that were typed and not sent yet. They outlive the page that they were typed in, a reload and an ended session, in the storage of
 * this browser tab; signing out and another person end them.
 */

/** A table's text that is not published yet, and the revision that it began with. */
export const draft = signal<{ readonly text: string; readonly basedOn: number } | undefined>(undefined);

/** The note of a change that was not sent. */
export const note = signal("");

/** Boxes that are ticked at steps of moves, which can take hours: see `moves/ticks.ts`. */
export const moveTicks = signal<Readonly<Record<string, readonly number[]>>>({});

/** The box of the look-up. */
export const pastedText = signal("");

/** Looked up in this tab: the text, what it is, and where it goes, newest first. */
export interface LookedUp {
  readonly source: string;
  readonly what: string;
  readonly kind: "goes" | "refused" | "reads-as" | "open";
  readonly code: string;
  /** Unix ms. */
  readonly atMs: number;
}

export const lookedUp = signal<readonly LookedUp[]>([]);

/** Whether the storage of this tab has it; it has no room for a draft of some MB. */
let isKept = true;

const KEY = "waybill-typed";

interface Kept {
  readonly owner: string | null;
  readonly draft?: { readonly text: string; readonly basedOn: number };
  readonly note: string;
  readonly pasted: string;
  readonly ticks?: Readonly<Record<string, readonly number[]>>;
  readonly lookedUp?: readonly LookedUp[];
}

/** Whose it is; `null` before anyone signed in. */
const owner = signal<string | null>(null);

function readKept(): Kept | undefined {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    return typeof value === "object" && value !== null ? (value as Kept) : undefined;
  } catch {
    return undefined;
  }
}

function removeKept(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Without storage there is nothing to remove.
  }
}

/** Takes up what was typed before a reload, and keeps what is typed from now on. */
export function keepTyped(): void {
  const kept = readKept();
  owner.value = kept?.owner ?? null;
  draft.value = kept?.draft;
  note.value = kept?.note ?? "";
  pastedText.value = kept?.pasted ?? "";
  moveTicks.value = kept?.ticks ?? {};
  lookedUp.value = kept?.lookedUp ?? [];
  addEventListener("beforeunload", (event) => {
    // A reload would lose it: the browser asks.
    if (!isKept && draft.peek() !== undefined) event.preventDefault();
  });
  effect(() => {
    const own = draft.value;
    const written = note.value;
    const pasted = pastedText.value;
    const now: Kept = {
      owner: owner.value,
      ...(own !== undefined && { draft: own }),
      note: written,
      pasted,
      ticks: moveTicks.value,
      lookedUp: lookedUp.value,
    };
    try {
      sessionStorage.setItem(KEY, JSON.stringify(now));
      isKept = true;
    } catch {
      // A tab without storage, or without room in it, keeps it in memory alone. An older draft would come back after a reload.
      isKept = false;
      removeKept();
    }
  });
}

/** Nothing of one person's page stays for the next. Text typed before anyone signed in belongs to the first who does. */
export function ownTyped(name: string): void {
  const before = owner.peek();
  if (before !== null && before !== name) forgetTyped();
  owner.value = name;
}

export function forgetTyped(): void {
  try {
    sessionStorage.removeItem(MADE_KEY);
  } catch {
    // Without storage there is nothing to remove.
  }
  owner.value = null;
  draft.value = undefined;
  note.value = "";
  pastedText.value = "";
  moveTicks.value = {};
  lookedUp.value = [];
}
