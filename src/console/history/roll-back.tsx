import { useEffect, useMemo, useState } from "preact/hooks";
import type { Status } from "../../formats/table-api.ts";
import { call, type Problem } from "../app/api.ts";
import { gatewayNow } from "../app/clock.ts";
import { Button } from "../app/parts/button.tsx";
import { Dialog } from "../app/parts/dialog.tsx";
import { Note, ProblemNote, Skeleton } from "../app/parts/sheet.tsx";
import { changesInWords } from "../publish/diff-words.ts";
import { goesOn, leftBehindBy, needsName } from "../publish/left-behind.ts";
import { made } from "../publish/made/made.ts";
import { SentDialog } from "../publish/made/progress.tsx";
import { showLastChange } from "../publish/open.ts";
import { effectOf } from "../publish/requests/effect.ts";
import { useFigures } from "../publish/requests/figures.ts";
import { EffectSection, LeftBehindSection, missingName, NoteSection, nameToType } from "../publish/sections.tsx";
import { post } from "../publish/send.ts";
import { type RevisionTable, revisionOf } from "../publish/table-of.ts";
import { useSending } from "../publish/use-sending.ts";

interface Way {
  readonly inForce: number;
  readonly canary: Status["canary"];
  readonly before: RevisionTable;
  readonly after: RevisionTable;
}

/** An older revision's text in force again, under a new number: with what that does now. */
export function RollBack({ to, onClose }: { to: number; onClose: () => void }) {
  const [way, setWay] = useState<Way>();
  const [problem, setProblem] = useState<Problem>();
  const [asked, setAsked] = useState(0);
  const [isSent, setSent] = useState(false);
  useEffect(showLastChange, []);
  useEffect(() => {
    setWay(undefined);
    setProblem(undefined);
    void wayTo(to).then((found) => ("title" in found ? setProblem(found) : setWay(found)));
  }, [to, asked]);
  if (isSent && made.value) return <SentDialog onClose={onClose} />;
  if (way !== undefined)
    return (
      <Review
        key={way.inForce}
        to={to}
        way={way}
        onClose={onClose}
        onSent={() => setSent(true)}
        onStale={() => setAsked(asked + 1)}
      />
    );
  return (
    <Dialog title={`Roll back to ${to}`} onClose={onClose}>
      {problem ? (
        <section>
          <ProblemNote problem={problem} onRetry={() => setAsked(asked + 1)} />
        </section>
      ) : (
        <Skeleton label="Loading the two revisions" />
      )}
    </Dialog>
  );
}

/** The control plane says what is in force: the isolate that answers may be behind. */
async function wayTo(to: number): Promise<Way | Problem> {
  const status = await call<Status>("/-/table/status");
  if (!status.ok) return status.problem;
  const { controlPlane, canary } = status.value;
  const [before, after] = await Promise.all([revisionOf(controlPlane.revision), revisionOf(to)]);
  if (!before.ok) return before.problem;
  if (!after.ok) return after.problem;
  return { inForce: controlPlane.revision, canary, before: before.value, after: after.value };
}

interface ReviewProps {
  readonly to: number;
  readonly way: Way;
  readonly onClose: () => void;
  readonly onSent: () => void;
  readonly onStale: () => void;
}

function useReview({ before, after, inForce }: Way) {
  const figures = useFigures();
  const own = useMemo(() => {
    const nowMs = gatewayNow();
    const changes = changesInWords(before.declared, after.declared, nowMs);
    const left = leftBehindBy(changes, nowMs);
    return { changes, left, going: left && goesOn(before.declared, after.declared, nowMs) };
  }, [before, after]);
  const effect = effectOf(own.changes, inForce, figures?.hour, figures?.day, before.declared);
  const isRead = figures === undefined || figures.hour !== undefined;
  return {
    ...own,
    isReady: figures !== undefined,
    effect,
    asked: nameToType(needsName(own.changes, effect, isRead)),
  };
}

function useRollBack(to: number, way: Way, onSent: () => void, onStale: () => void) {
  return useSending({
    action: "rollback",
    send: (note) => post("/-/table/rollback", way.canary?.revision ?? way.inForce, { to, note }),
    doubt: "The answer was lost. Asking whether it is rolled back…",
    madeOf: (revision) => ({ title: `Revision ${to} is back, as revision ${revision}`, before: way.inForce }),
    onMade: () => {
      showLastChange();
      onSent();
    },
    onStale,
  });
}

function Review({ to, way, onClose, onSent, onStale }: ReviewProps) {
  const { changes, left, going, isReady, effect, asked } = useReview(way);
  const [isCopied, setCopied] = useState(false);
  const [typed, setTyped] = useState("");
  const sending = useRollBack(to, way, onSent, onStale);
  const isUnasked = left !== undefined && !isCopied;
  const unnamed = missingName(asked, typed, isReady);
  return (
    <Dialog
      title={`Roll back to ${to}`}
      text={`From revision ${way.inForce}. The text of ${to} gets a new number, and the history keeps all of them.`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="main"
            icon="undo"
            isBusy={sending.busyWords !== undefined}
            disabledBecause={isUnasked ? "First say what becomes of the data." : unnamed}
            onClick={() => void sending.send()}
          >
            {sending.busyWords ?? "Roll back"}
          </Button>
        </>
      }
    >
      <EffectSection changes={changes} effect={effect} isReady={isReady} />
      {left && <LeftBehindSection left={left} goesOn={going} isTicked={isCopied} onTick={setCopied} />}
      {way.canary && (
        <section>
          <Note kind="first" title={`Canary ${way.canary.revision} runs, and ends with this`}>
            Abort or promote it first if you would rather keep it.
          </Note>
        </section>
      )}
      <NoteSection asked={asked} typed={typed} onType={setTyped} />
      {sending.failure && (
        <section>
          <ProblemNote
            problem={sending.failure.problem}
            still={`Nothing was rolled back: revision ${way.inForce} stays.`}
          />
        </section>
      )}
    </Dialog>
  );
}
