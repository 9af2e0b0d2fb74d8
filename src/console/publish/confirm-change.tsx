import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { AuditEntry } from "../../formats/table-api.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import type { Answer } from "../app/api.ts";
import { Button } from "../app/parts/button.tsx";
import { Dialog } from "../app/parts/dialog.tsx";
import { Check } from "../app/parts/fields.tsx";
import { Note, ProblemNote, Skeleton } from "../app/parts/sheet.tsx";
import { session } from "../app/session.ts";
import { note } from "../app/typed.ts";
import { ChangesView } from "./changes-view.tsx";
import { changesInWords } from "./diff-words.ts";
import { needsName } from "./left-behind.ts";
import { follow, made } from "./made.ts";
import { showLastChange } from "./open.ts";
import { SentDialog } from "./publish-dialog.tsx";
import { effectOf } from "./requests/effect.ts";
import { useFigures } from "./requests/figures.ts";
import { environmentName, NoteSection } from "./sections.tsx";
import { around, type Made, type Settled, settle } from "./send.ts";

/** Every change is shown once more, with what it does and who makes it, before it is sent. */

export interface Change {
  readonly title: string;
  /** On the button. */
  readonly verb: string;
  readonly before: DeclaredTable;
  readonly after: DeclaredTable;
  /** Of the table before, where its requests are counted. */
  readonly revision?: number;
  readonly about?: ComponentChildren;
  /** A reason against it: a box to tick first. */
  readonly guard?: { readonly what: string; readonly tick: string; readonly needsNote?: boolean };
  /** Above a tenth of the requests the environment's name must be typed. */
  readonly asksName?: boolean;
  /** As the audit log has it: by it a lost answer is found. */
  readonly action?: AuditEntry["action"];
  /** Where none is written: the history says at least this. */
  readonly usualNote?: string;
  /** The window after it says so; `Revision 43 is in force` by itself. */
  readonly doneTitle?: string;
  readonly isCanary?: boolean;
  /** The revision that an undo puts back; absent where a step is not undone so. */
  readonly undoTo?: number;
  send(note: string): Promise<Answer<Made>>;
}

export function ConfirmChange({ change, onClose }: { change: Change; onClose: () => void }) {
  const [isSent, setSent] = useState(false);
  const [isTicked, setTicked] = useState(change.guard === undefined);
  const [typed, setTyped] = useState("");
  const sending = useSending(change, () => setSent(true));
  const figures = useFigures();
  const changes = useMemo(() => changesInWords(change.before, change.after, Date.now()), [change.before, change.after]);
  const effect = effectOf(changes, change.revision ?? Number.NaN, figures?.hour, figures?.day);
  const isRead = figures === undefined || figures.hour !== undefined;
  const name = change.asksName && needsName(changes, effect, isRead) ? environmentName() : undefined;
  if (isSent && made.value) return <SentDialog onClose={onClose} />;
  const isNoteNeeded = change.guard?.needsNote === true;
  const reason = !isTicked
    ? "First tick the box."
    : isNoteNeeded && note.value.trim() === ""
      ? "First say why in the note."
      : name !== undefined && typed !== name
        ? `First type ${name}.`
        : undefined;
  return (
    <Dialog
      title={change.title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" isBusy={sending.isBusy} disabledBecause={reason} onClick={() => void sending.send()}>
            {sending.busyWords ?? change.verb}
          </Button>
        </>
      }
    >
      {change.about && <section>{change.about}</section>}
      {change.guard && (
        <section class="risk">
          <Note kind="bad" title={change.guard.what} />
          <Check isOn={isTicked} onChange={setTicked}>
            {change.guard.tick}
          </Check>
        </section>
      )}
      <section>
        {figures === undefined ? (
          <Skeleton label="Counting the requests" lines={2} />
        ) : (
          <ChangesView changes={changes} effect={effect} isBoxed />
        )}
      </section>
      <NoteSection name={name} typed={typed} onType={setTyped} isNoteNeeded={isNoteNeeded} />
      {sending.failure && (
        <section>
          <ProblemNote problem={sending.failure.problem} still={STILL[sending.failure.is]} />
        </section>
      )}
    </Dialog>
  );
}

const STILL: Readonly<Record<Exclude<Settled["is"], "made">, string>> = {
  "not-made": "The gateway was asked: nothing was changed. Send it again.",
  refused: "Nothing was changed.",
  stale: "Nothing was changed. Close this, and look at the newest state first.",
};

function useSending(change: Change, onSent: () => void) {
  const [busyWords, setBusyWords] = useState<string>();
  const [failure, setFailure] = useState<Exclude<Settled, { is: "made" }>>();
  const send = async () => {
    const author = session.peek()?.name ?? "";
    const own = note.peek() === "" ? (change.usualNote ?? "") : note.peek();
    setFailure(undefined);
    setBusyWords("Sending…");
    const { action, isCanary, undoTo, doneTitle } = change;
    const settled = await settle(
      { ...(action && { action }), note: own, send: () => change.send(own) },
      around(author, () => setBusyWords("The answer was lost. Asking whether it is made…")),
    );
    setBusyWords(undefined);
    if (settled.is !== "made") return setFailure(settled);
    note.value = "";
    const { revision } = settled;
    void follow({
      ...(revision !== undefined && { revision }),
      title: doneTitle ?? (revision === undefined ? "The change is made" : `Revision ${revision} is stored`),
      author,
      atMs: settled.sentAtMs,
      ...(isCanary && { isCanary }),
      ...(undoTo !== undefined && { before: undoTo }),
    });
    showLastChange();
    onSent();
  };
  return { isBusy: busyWords !== undefined, busyWords, failure, send };
}
