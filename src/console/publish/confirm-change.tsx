import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { AuditEntry } from "../../formats/table-api.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import type { Answer } from "../app/api.ts";
import { gatewayNow } from "../app/clock.ts";
import { Button } from "../app/parts/button.tsx";
import { Dialog } from "../app/parts/dialog.tsx";
import { Check } from "../app/parts/fields.tsx";
import { Note, ProblemNote } from "../app/parts/sheet.tsx";
import { note } from "../app/typed.ts";
import { changesInWords } from "./diff-words.ts";
import { needsName } from "./left-behind.ts";
import { made } from "./made/made.ts";
import { SentDialog } from "./made/progress.tsx";
import { showLastChange } from "./open.ts";
import { effectOf } from "./requests/effect.ts";
import { useFigures } from "./requests/figures.ts";
import { EffectSection, missingName, NoteSection, nameToType } from "./sections.tsx";
import type { Made } from "./send.ts";
import { type Failed, useSending } from "./use-sending.ts";

/** Every change is shown once more, with what it does and who makes it, before it is sent. */

export interface Change {
  readonly title: string;
  /** On the button. */
  readonly verb: string;
  readonly before: DeclaredTable;
  readonly after: DeclaredTable;
  /** Number of the table before: its requests are counted. */
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
  // The foot of the page says what becomes of a change whose window is closed.
  useEffect(showLastChange, []);
  const [isSent, setSent] = useState(false);
  const [isTicked, setTicked] = useState(change.guard === undefined);
  const [typed, setTyped] = useState("");
  const { changes, effect, isReady, asked } = useEffectOf(change);
  const sending = useSending({
    ...(change.action && { action: change.action }),
    usualNote: change.usualNote,
    send: (own) => change.send(own),
    doubt: "The answer was lost. Asking whether it is made…",
    madeOf: (revision) => madeOf(change, revision),
    onMade: () => {
      showLastChange();
      setSent(true);
    },
  });
  if (isSent && made.value) return <SentDialog onClose={onClose} />;
  const isNoteNeeded = change.guard?.needsNote === true;
  const lacksNote = isNoteNeeded && note.value.trim() === "";
  const reason = reasonOf(isTicked, lacksNote) ?? missingName(asked, typed, isReady || change.asksName !== true);
  return (
    <Dialog
      title={change.title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="main"
            isBusy={sending.busyWords !== undefined}
            disabledBecause={reason}
            onClick={() => void sending.send()}
          >
            {sending.busyWords ?? change.verb}
          </Button>
        </>
      }
    >
      {change.about && <section>{change.about}</section>}
      {change.guard && <GuardSection guard={change.guard} isTicked={isTicked} onTick={setTicked} />}
      <EffectSection changes={changes} effect={effect} isReady={isReady} />
      <NoteSection asked={asked} typed={typed} onType={setTyped} isNoteNeeded={isNoteNeeded} />
      {sending.failure && (
        <section>
          <ProblemNote problem={sending.failure.problem} still={STILL[sending.failure.is]} />
        </section>
      )}
    </Dialog>
  );
}

const GuardSection = (props: {
  guard: NonNullable<Change["guard"]>;
  isTicked: boolean;
  onTick: (isTicked: boolean) => void;
}) => (
  <section class="risk">
    <Note kind="bad" title={props.guard.what} />
    <Check isOn={props.isTicked} onChange={props.onTick}>
      {props.guard.tick}
    </Check>
  </section>
);

function useEffectOf({ before, after, revision, asksName }: Change) {
  const figures = useFigures();
  const changes = useMemo(() => changesInWords(before, after, gatewayNow()), [before, after]);
  const effect = effectOf(changes, revision ?? Number.NaN, figures?.hour, figures?.day, before);
  const isReady = figures !== undefined;
  const isRead = !isReady || figures.hour !== undefined;
  const asked = asksName === true ? nameToType(needsName(changes, effect, isRead)) : undefined;
  return { changes, effect, isReady, asked };
}

/** The first thing that is missing. */
function reasonOf(isTicked: boolean, lacksNote: boolean): string | undefined {
  if (!isTicked) return "First tick the box.";
  return lacksNote ? "First say why in the note." : undefined;
}

function madeOf({ doneTitle, isCanary, undoTo }: Change, revision: number | undefined) {
  const title = doneTitle ?? (revision === undefined ? "The change is made" : `Revision ${revision} is stored`);
  return { title, ...(isCanary && { isCanary }), ...(undoTo !== undefined && { before: undoTo }) };
}

const STILL: Readonly<Record<Failed["is"], string>> = {
  "not-made": "The gateway was asked: nothing was changed. Send it again.",
  refused: "Nothing was changed.",
  stale: "Nothing was changed. Close this, and look at the newest state first.",
};
