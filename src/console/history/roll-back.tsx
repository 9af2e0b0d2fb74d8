import { useEffect, useMemo, useState } from "preact/hooks";
import type { Status } from "../../formats/table-api.ts";
import { call, type Problem } from "../app/api.ts";
import { Button } from "../app/parts/button.tsx";
import { Dialog } from "../app/parts/dialog.tsx";
import { Note, ProblemNote, Skeleton } from "../app/parts/sheet.tsx";
import { session } from "../app/session.ts";
import { note } from "../app/typed.ts";
import { ChangesView } from "../publish/changes-view.tsx";
import { changesInWords } from "../publish/diff-words.ts";
import { goesOn, leftBehindBy, needsName } from "../publish/left-behind.ts";
import { follow, made } from "../publish/made.ts";
import { showLastChange } from "../publish/open.ts";
import { SentDialog } from "../publish/publish-dialog.tsx";
import { effectOf } from "../publish/requests/effect.ts";
import { useFigures } from "../publish/requests/figures.ts";
import { environmentName, LeftBehindSection, NoteSection } from "../publish/sections.tsx";
import { around, post, type Settled, settle } from "../publish/send.ts";
import { type RevisionTable, revisionOf } from "../publish/table-of.ts";

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
    const nowMs = Date.now();
    const changes = changesInWords(before.declared, after.declared, nowMs);
    const left = leftBehindBy(changes, nowMs);
    return { changes, left, going: left && goesOn(before.declared, after.declared, nowMs) };
  }, [before, after]);
  const effect = effectOf(own.changes, inForce, figures?.hour, figures?.day);
  const isRead = figures === undefined || figures.hour !== undefined;
  return { ...own, figures, effect, name: needsName(own.changes, effect, isRead) ? environmentName() : undefined };
}

function Review({ to, way, onClose, onSent, onStale }: ReviewProps) {
  const { changes, left, going, figures, effect, name } = useReview(way);
  const [isCopied, setCopied] = useState(false);
  const [typed, setTyped] = useState("");
  const sending = useSending(to, way, onSent, onStale);
  const reason =
    left !== undefined && !isCopied
      ? "First say what becomes of the data."
      : name !== undefined && typed !== name
        ? `First type ${name}.`
        : undefined;
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
            disabledBecause={reason}
            onClick={() => void sending.send()}
          >
            {sending.busyWords ?? "Roll back"}
          </Button>
        </>
      }
    >
      <section>
        <h3>What changes</h3>
        {figures === undefined ? (
          <Skeleton label="Counting the requests" lines={2} />
        ) : (
          <ChangesView changes={changes} effect={effect} isBoxed />
        )}
      </section>
      {left && <LeftBehindSection left={left} goesOn={going} isTicked={isCopied} onTick={setCopied} />}
      {way.canary && (
        <section>
          <Note kind="first" title={`Canary ${way.canary.revision} runs, and ends with this`}>
            Abort or promote it first if you would rather keep it.
          </Note>
        </section>
      )}
      <NoteSection name={name} typed={typed} onType={setTyped} />
      {sending.failure && (
        <section>
          <ProblemNote
            problem={sending.failure.problem}
            still={
              sending.failure.is === "not-made"
                ? `The gateway was asked: nothing was rolled back, and revision ${way.inForce} stays.`
                : "Nothing was rolled back."
            }
          />
        </section>
      )}
    </Dialog>
  );
}

function useSending(to: number, way: Way, onSent: () => void, onStale: () => void) {
  const [busyWords, setBusyWords] = useState<string>();
  const [failure, setFailure] = useState<Exclude<Settled, { is: "made" }>>();
  const send = async () => {
    const author = session.peek()?.name ?? "";
    const own = note.peek();
    const expected = way.canary?.revision ?? way.inForce;
    setFailure(undefined);
    setBusyWords("Sending…");
    const settled = await settle(
      { action: "rollback", note: own, send: () => post("/-/table/rollback", expected, { to, note: own }) },
      around(author, () => setBusyWords("The answer was lost. Asking whether it is rolled back…")),
    );
    setBusyWords(undefined);
    if (settled.is !== "made") {
      setFailure(settled);
      if (settled.is === "stale") onStale();
      return;
    }
    note.value = "";
    const { revision } = settled;
    const title = `Revision ${to} is back, as revision ${revision}`;
    void follow({
      ...(revision !== undefined && { revision }),
      title,
      before: way.inForce,
      author,
      atMs: settled.sentAtMs,
    });
    showLastChange();
    onSent();
  };
  return { busyWords, failure, send };
}
