import { useState } from "preact/hooks";
import { session } from "../app/session.ts";
import { note } from "../app/typed.ts";
import { follow, type MadeChange } from "./made/made.ts";
import { around, type Change, type Settled, settle } from "./send.ts";

export type Failed = Exclude<Settled, { is: "made" }>;

interface Sending extends Pick<Change, "action"> {
  /** With the note that is typed. */
  send(note: string): ReturnType<Change["send"]>;
  /** In place of the button's words while it is asked what became of it. */
  readonly doubt: string;
  /** The change as the page shows it from then on. */
  madeOf(revision: number | undefined): Omit<MadeChange, "author" | "atMs" | "revision">;
  readonly onMade: () => void;
  /** Another change came first. */
  readonly onStale?: () => void;
}

/** Sends a change once, and asks until it is known what became of it. */
export function useSending(change: Sending) {
  const [busyWords, setBusyWords] = useState<string>();
  const [failure, setFailure] = useState<Failed>();
  const send = async () => {
    const author = session.peek()?.name ?? "";
    const own = note.peek();
    const { action } = change;
    setFailure(undefined);
    setBusyWords("Sending…");
    const settled = await settle(
      { ...(action && { action }), note: own, send: () => change.send(own) },
      around(author, () => setBusyWords(change.doubt)),
    );
    setBusyWords(undefined);
    if (settled.is !== "made") {
      setFailure(settled);
      if (settled.is === "stale") change.onStale?.();
      return;
    }
    note.value = "";
    const { revision, sentAtMs } = settled;
    void follow({ ...change.madeOf(revision), ...(revision !== undefined && { revision }), author, atMs: sentAtMs });
    change.onMade();
  };
  return { busyWords, failure, send };
}
