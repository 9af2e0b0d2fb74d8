import { useEffect, useRef, useState } from "preact/hooks";
import { session } from "../app/session.ts";
import { note } from "../app/typed.ts";
import { follow, type MadeChange } from "./made/made.ts";
import { unwatched } from "./made/unwatched.ts";
import { type Change, type Settled, sendContext, sentNote, settle } from "./send.ts";

export type Failed = Exclude<Settled, { is: "made" }>;

interface Sending extends Pick<Change, "action"> {
  /** Where none is typed: the history says at least this. */
  readonly usualNote?: string | undefined;
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

/** Sends a change once, and asks until it is known what became of it. The foot of the page says so once the window is closed. */
export function useSending(change: Sending) {
  const [busyWords, setBusyWords] = useState<string>();
  const [failure, setFailure] = useState<Failed>();
  const busy = useRef<string>(undefined);
  const isClosed = useRef(false);
  const tell = (words: string | undefined) => {
    busy.current = words;
    setBusyWords(words);
    if (isClosed.current) unwatched.value = words === undefined ? undefined : { title: words };
  };
  useEffect(() => {
    isClosed.current = false;
    return () => {
      isClosed.current = true;
      if (busy.current !== undefined) unwatched.value = { title: busy.current };
    };
  }, []);
  const send = async () => {
    const author = session.peek()?.name ?? "";
    const typed = note.peek();
    const own = sentNote(typed) || (change.usualNote ?? "");
    const { action } = change;
    setFailure(undefined);
    tell("Sending…");
    const settled = await settle(
      { ...(action && { action }), note: own, send: () => change.send(own) },
      sendContext(author, () => tell(change.doubt)),
    );
    tell(undefined);
    if (settled.is !== "made") {
      setFailure(settled);
      const { title, detail } = settled.problem;
      if (isClosed.current) unwatched.value = { title: "Nothing was changed", why: `${title}. ${detail}`.trim() };
      if (settled.is === "stale") change.onStale?.();
      return;
    }
    if (note.peek() === typed) note.value = "";
    const { revision, sentAtMs } = settled;
    void follow({ ...change.madeOf(revision), ...(revision !== undefined && { revision }), author, atMs: sentAtMs });
    change.onMade();
  };
  return { busyWords, failure, send };
}
