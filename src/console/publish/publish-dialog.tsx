import { useEffect, useMemo, useState } from "preact/hooks";
import { Button } from "../app/parts/button.tsx";
import { Dialog } from "../app/parts/dialog.tsx";
import { Check } from "../app/parts/fields.tsx";
import { Empty, Note, ProblemNote, Skeleton } from "../app/parts/sheet.tsx";
import { fragmentOf } from "../app/router.ts";
import { mayChange, session } from "../app/session.ts";
import { draft, note } from "../app/typed.ts";
import { plural } from "../app/words.ts";
import { ChangesView } from "./changes-view.tsx";
import { changesInWords } from "./diff-words.ts";
import { goesOn, leftBehindBy, needsName } from "./left-behind.ts";
import { follow, made } from "./made.ts";
import { Meanwhile } from "./meanwhile.tsx";
import { AHEAD_MS_MIN, momentAfter, onlyNewIds } from "./only-new.ts";
import { type Plan, type Planned, planOf } from "./plan.ts";
import { Progress, UndoButton } from "./progress.tsx";
import { effectOf } from "./requests/effect.ts";
import { useFigures } from "./requests/figures.ts";
import {
  CANARY_SHARE,
  environmentName,
  type How,
  HowSection,
  LeftBehindSection,
  NoteSection,
  type Who,
} from "./sections.tsx";
import { around, publish, type Settled, settle, startCanary } from "./send.ts";
import { diffTexts } from "./text/text-lines.ts";
import { TextView } from "./text/text-view.tsx";

/** The draft, what it does and what it costs, before it is sent; then how far it has come. */
export function PublishDialog({ onClose }: { onClose: () => void }) {
  const own = draft.value;
  const [planned, setPlanned] = useState<Planned>();
  const [asked, setAsked] = useState(0);
  const [isSent, setSent] = useState(false);
  const [text, basedOn] = [own?.text, own?.basedOn];
  useEffect(() => {
    if (text === undefined || basedOn === undefined) return;
    let isOld = false;
    setPlanned(undefined);
    void planOf(text, basedOn).then((found) => {
      if (!isOld) setPlanned(found);
    });
    return () => {
      isOld = true;
    };
  }, [text, basedOn, asked]);
  if (isSent && made.value) return <SentDialog onClose={onClose} />;
  if (planned?.ok) {
    return (
      <Review
        key={`${planned.plan.basedOn} ${planned.plan.newest?.revision.revision} ${asked}`}
        plan={planned.plan}
        onClose={onClose}
        onSent={() => setSent(true)}
        onStale={() => setAsked(asked + 1)}
      />
    );
  }
  return (
    <Dialog title="Publish the draft" onClose={onClose}>
      {own === undefined ? (
        <Empty icon="editor" title="There is no draft">
          Change the table first: nothing differs from the revision in force.
        </Empty>
      ) : planned === undefined ? (
        <Skeleton label="The gateway checks the text" />
      ) : (
        <section>
          <ProblemNote problem={planned.problem} still="The draft is kept." onRetry={() => setAsked(asked + 1)} />
          {planned.isFaulty && <Button href={fragmentOf("editor")}>Open the editor</Button>}
        </section>
      )}
    </Dialog>
  );
}

export function SentDialog({ onClose }: { onClose: () => void }) {
  const own = made.value;
  if (own === undefined) return null;
  return (
    <Dialog
      title={own.title}
      onClose={onClose}
      footer={
        <>
          <UndoButton of={own} />
          <Button kind="main" isFirst onClick={onClose}>
            Close
          </Button>
        </>
      }
    >
      <section>
        <Progress of={own} />
      </section>
    </Dialog>
  );
}

interface ReviewProps {
  readonly plan: Plan;
  readonly onClose: () => void;
  readonly onSent: () => void;
  /** Another change came first. */
  readonly onStale: () => void;
}

const TICK_MS = 15_000;

/** The moment for new IDs, chosen anew before it comes too near. */
function useMoment(): number {
  const [atMs, setAt] = useState(() => momentAfter(Date.now()));
  useEffect(() => {
    const timer = setInterval(() => {
      if (atMs - Date.now() < AHEAD_MS_MIN) setAt(momentAfter(Date.now()));
    }, TICK_MS);
    return () => clearInterval(timer);
  }, [atMs]);
  return atMs;
}

/** The draft as it is, or for new IDs alone, with all that follows from it. */
function useReview(plan: Plan, who: Who) {
  const figures = useFigures();
  const atMs = useMoment();
  const { before, after, text, basedOn } = plan;
  const whole = useMemo(() => changesInWords(before.declared, after, Date.now()), [plan]);
  const left = useMemo(() => leftBehindBy(whole, Date.now()), [whole]);
  const only = useMemo(
    () => (left === undefined ? undefined : onlyNewIds(before.declared, after, text, atMs)),
    [plan, left, atMs],
  );
  const going = useMemo(() => left && goesOn(before.declared, after, Date.now()), [plan, left]);
  const isNew = who === "new" && only?.ok === true;
  const changes = useMemo(
    () => (isNew ? changesInWords(before.declared, only.table, Date.now()) : whole),
    [plan, whole, isNew, only],
  );
  const sent = isNew ? only.text : text;
  const lines = useMemo(() => diffTexts(before.text, sent), [plan, sent]);
  const effect = effectOf(changes, basedOn, figures?.hour, figures?.day);
  // No ID is minted in the future, so none goes elsewhere yet.
  const costly = isNew ? { ...changes, ways: [] } : changes;
  const costs = effectOf(costly, basedOn, figures?.hour);
  const name = needsName(costly, costs, figures === undefined || figures.hour !== undefined)
    ? environmentName()
    : undefined;
  return { figures, atMs, left, only, going, changes, sent, lines, effect, name };
}

function Review({ plan, onClose, onSent, onStale }: ReviewProps) {
  const [who, setWho] = useState<Who>("all");
  const own = useReview(plan, who);
  const { left, changes, effect, lines, name } = own;
  const [how, setHow] = useState<How>(changes.ways.length > 0 ? "canary" : "all");
  const [isCopied, setCopied] = useState(false);
  const [endsCanary, setEndsCanary] = useState(false);
  const [typed, setTyped] = useState("");
  const [isShown, setShown] = useState(false);
  const sending = useSending(plan, own.sent, how, onSent, onStale);
  const reason = reasonOf({
    isNewer: plan.newest !== undefined,
    isUncopied: left !== undefined && who === "all" && !isCopied,
    isRunning: plan.canary !== null && !endsCanary,
    isUntyped: name !== undefined && typed !== name,
    name,
  });
  const verb = how === "canary" ? `Start the canary at ${CANARY_SHARE} %` : `Publish revision ${plan.next}`;
  return (
    <Dialog
      title={`Publish revision ${plan.next}`}
      text={`From revision ${plan.basedOn}. The gateway checked the text: no fault.`}
      onClose={onClose}
      footer={
        <>
          <small>
            {plural(lines.differ, "line")} of text {lines.differ === 1 ? "differs" : "differ"}.{" "}
            <button type="button" class="link" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
              {isShown ? "Hide it" : "Show it"}
            </button>
          </small>
          <Button onClick={onClose}>Back to the draft</Button>
          {mayChange.value && (
            <Button
              kind="main"
              icon={how === "canary" ? "canary" : "arrow"}
              isBusy={sending.isBusy}
              disabledBecause={reason}
              onClick={() => void sending.send()}
            >
              {sending.busyWords ?? verb}
            </Button>
          )}
        </>
      }
    >
      {plan.newest && <Meanwhile plan={plan} newest={plan.newest} />}
      <section>
        <h3>What changes</h3>
        {own.figures === undefined ? (
          <Skeleton label="Counting the requests" lines={2} />
        ) : (
          <ChangesView changes={changes} effect={effect} isBoxed />
        )}
        {isShown && <TextView diff={lines} />}
      </section>
      {left && own.only && (
        <LeftBehindSection
          left={left}
          goesOn={own.going}
          isTicked={isCopied}
          onTick={setCopied}
          limited={{ who, onWho: setWho, only: own.only, atMs: own.atMs }}
        />
      )}
      {plan.canary && <CanaryRuns canary={plan.canary} how={how} isTicked={endsCanary} onTick={setEndsCanary} />}
      {changes.ways.length > 0 && (
        <HowSection how={how} onHow={setHow} effect={effect} who={who} force="As a rule everywhere within 2 minutes." />
      )}
      <NoteSection name={name} typed={typed} onType={setTyped} />
      {sending.failure && <Failure of={sending.failure} basedOn={plan.basedOn} />}
    </Dialog>
  );
}

const CanaryRuns = (props: {
  canary: NonNullable<Plan["canary"]>;
  how: How;
  isTicked: boolean;
  onTick: (isTicked: boolean) => void;
}) => (
  <section>
    <Note kind="first" title={`Canary ${props.canary.revision} runs`}>
      {props.how === "canary"
        ? "The new one takes its place."
        : "It ends with this publication, and is not part of it."}
    </Note>
    <Check isOn={props.isTicked} onChange={props.onTick}>
      Canary {props.canary.revision} may end
    </Check>
  </section>
);

interface Missing {
  readonly isNewer: boolean;
  readonly isUncopied: boolean;
  readonly isRunning: boolean;
  readonly isUntyped: boolean;
  readonly name: string | undefined;
}

/** The first thing that is missing. */
function reasonOf({ isNewer, isUncopied, isRunning, isUntyped, name }: Missing): string | undefined {
  if (isNewer) return "Put your lines on the newest revision first.";
  if (isUncopied) return "First say what becomes of the data.";
  if (isRunning) return "First tick that the canary may end.";
  return isUntyped ? `First type ${name}.` : undefined;
}

type Failed = Exclude<Settled, { is: "made" }>;

/** Sends once, and asks until it is known what became of it. */
function useSending(plan: Plan, text: string, how: How, onSent: () => void, onStale: () => void) {
  const [busyWords, setBusyWords] = useState<string>();
  const [failure, setFailure] = useState<Failed>();
  const send = async () => {
    const author = session.peek()?.name ?? "";
    const [isCanary, own] = [how === "canary", note.peek()];
    const expected = plan.canary?.revision ?? plan.basedOn;
    setFailure(undefined);
    setBusyWords("Sending…");
    const onDoubt = () => setBusyWords("The answer was lost. Asking whether it is published…");
    const settled = await settle(
      {
        action: isCanary ? "canary" : "publish",
        note: own,
        send: () => (isCanary ? startCanary(text, expected, CANARY_SHARE, own) : publish(text, expected, own)),
      },
      around(author, onDoubt),
    );
    setBusyWords(undefined);
    if (settled.is === "made") {
      note.value = "";
      draft.value = undefined;
      const { revision } = settled;
      void follow({
        ...(revision !== undefined && { revision }),
        title: isCanary
          ? `Canary ${revision} runs for ${CANARY_SHARE} % of the IDs`
          : `Revision ${revision} is published`,
        before: plan.basedOn,
        author,
        atMs: settled.sentAtMs,
        ...(isCanary && { isCanary }),
      });
      return onSent();
    }
    setFailure(settled);
    if (settled.is === "stale") onStale();
  };
  return { isBusy: busyWords !== undefined, busyWords, failure, send };
}

/** Not published, and why. */
export const Failure = ({ of, basedOn }: { of: Failed; basedOn: number }) => (
  <section>
    <ProblemNote
      problem={of.problem}
      still={
        of.is === "not-made"
          ? `The gateway was asked: nothing was published, and revision ${basedOn} stays. Your draft is kept; send it again.`
          : "Nothing was published. Your draft is kept."
      }
    />
  </section>
);
