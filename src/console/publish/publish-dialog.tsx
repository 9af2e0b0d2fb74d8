import { useEffect, useMemo, useState } from "preact/hooks";
import { gatewayNow } from "../app/clock.ts";
import { Button } from "../app/parts/button.tsx";
import { Dialog } from "../app/parts/dialog.tsx";
import { Check } from "../app/parts/fields.tsx";
import { Empty, Note, ProblemNote, Skeleton } from "../app/parts/sheet.tsx";
import { fragmentOf } from "../app/router.ts";
import { mayChange } from "../app/session.ts";
import { draft } from "../app/typed.ts";
import { plural } from "../app/words.ts";
import { changesInWords } from "./diff-words.ts";
import { goesOn, leftBehindBy, needsName } from "./left-behind.ts";
import { made } from "./made/made.ts";
import { SentDialog } from "./made/progress.tsx";
import { Meanwhile } from "./meanwhile.tsx";
import { AHEAD_MS_MIN, momentAfter, onlyNewIds } from "./only-new.ts";
import { type Plan, type Planned, planOf } from "./plan.ts";
import { effectOf } from "./requests/effect.ts";
import { useFigures } from "./requests/figures.ts";
import {
  CANARY_SHARE,
  EffectSection,
  type How,
  HowSection,
  LeftBehindSection,
  missingName,
  NoteSection,
  nameToType,
  type Who,
} from "./sections.tsx";
import { publish, startCanary } from "./send.ts";
import { diffTexts } from "./text/text-lines.ts";
import { TextView } from "./text/text-view.tsx";
import { type Failed, useSending } from "./use-sending.ts";

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

interface ReviewProps {
  readonly plan: Plan;
  readonly onClose: () => void;
  readonly onSent: () => void;
  /** Another change came first. */
  readonly onStale: () => void;
}

const TICK_MS = 15_000;

/** The moment for new IDs, chosen again before it comes too near. */
function useMoment(): number {
  const [atMs, setAt] = useState(() => momentAfter(gatewayNow()));
  useEffect(() => {
    const timer = setInterval(() => {
      if (atMs - gatewayNow() < AHEAD_MS_MIN) setAt(momentAfter(gatewayNow()));
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
  const whole = useMemo(() => changesInWords(before.declared, after, gatewayNow()), [plan]);
  const left = useMemo(() => leftBehindBy(whole, gatewayNow()), [whole]);
  const only = useMemo(
    () => (left === undefined ? undefined : onlyNewIds(before.declared, after, text, atMs)),
    [plan, left, atMs],
  );
  const going = useMemo(() => left && goesOn(before.declared, after, gatewayNow()), [plan, left]);
  const isNew = who === "new" && only?.ok === true;
  const changes = useMemo(
    () => (isNew ? changesInWords(before.declared, only.table, gatewayNow()) : whole),
    [plan, whole, isNew, only],
  );
  const sent = isNew ? only.text : text;
  const lines = useMemo(() => diffTexts(before.text, sent), [plan, sent]);
  const effect = effectOf(changes, basedOn, figures?.hour, figures?.day, before.declared);
  // No ID is minted in the future, so none goes elsewhere yet.
  const costly = isNew ? { ...changes, ways: [] } : changes;
  const costs = effectOf(costly, basedOn, figures?.hour, undefined, before.declared);
  const isRead = figures === undefined || figures.hour !== undefined;
  const asked = nameToType(needsName(costly, costs, isRead));
  return { figures, atMs, left, only, going, isNew, changes, sent, lines, effect, asked };
}

/** Answers to the questions of the window. */
function useAnswers(plan: Plan) {
  const [who, setWho] = useState<Who>("all");
  const own = useReview(plan, who);
  const [how, setHow] = useState<How>(own.changes.ways.length > 0 ? "canary" : "all");
  const [isCopied, setCopied] = useState(false);
  const [endsCanary, setEndsCanary] = useState(false);
  const [typed, setTyped] = useState("");
  const answers = { who, setWho, how, setHow, isCopied, setCopied, endsCanary, setEndsCanary, typed, setTyped };
  return { ...own, ...answers, reason: reasonOf(plan, { ...own, ...answers }) };
}

interface Answers extends Pick<ReturnType<typeof useReview>, "figures" | "left" | "isNew" | "asked"> {
  readonly isCopied: boolean;
  readonly endsCanary: boolean;
  readonly typed: string;
}

/** The first thing that is missing. */
function reasonOf(
  { newest, canary }: Plan,
  { figures, left, isNew, isCopied, endsCanary, asked, typed }: Answers,
): string | undefined {
  if (newest !== undefined) return "Put your lines on the newest revision first.";
  if (left !== undefined && !isNew && !isCopied) return "First say what becomes of the data.";
  if (canary !== null && !endsCanary) return "First tick that the canary may end.";
  return missingName(asked, typed, figures !== undefined);
}

function Review({ plan, onClose, onSent, onStale }: ReviewProps) {
  const own = useAnswers(plan);
  const { left, only, changes, effect, lines, how, who } = own;
  const [isShown, setShown] = useState(false);
  const sending = useDraftSending(plan, own.sent, how, { onSent, onStale });
  return (
    <Dialog
      title={`Publish revision ${plan.next}`}
      text={`From revision ${plan.basedOn}. The gateway checked the text: no fault.`}
      onClose={onClose}
      footer={
        <>
          <Lines differ={lines.differ} isShown={isShown} onShow={setShown} />
          <Button onClick={onClose}>Back to the draft</Button>
          {mayChange.value && (
            <Send isCanary={how === "canary"} next={plan.next} reason={own.reason} sending={sending} />
          )}
        </>
      }
    >
      {plan.newest && <Meanwhile plan={plan} newest={plan.newest} />}
      <EffectSection changes={changes} effect={effect} isReady={own.figures !== undefined}>
        {isShown && <TextView diff={lines} />}
      </EffectSection>
      {left && only && (
        <LeftBehindSection
          left={left}
          goesOn={own.going}
          isTicked={own.isCopied}
          onTick={own.setCopied}
          limited={{ who, onWho: own.setWho, only, atMs: own.atMs }}
        />
      )}
      {plan.canary && (
        <CanaryRuns canary={plan.canary} how={how} isTicked={own.endsCanary} onTick={own.setEndsCanary} />
      )}
      {changes.ways.length > 0 && <HowSection how={how} onHow={own.setHow} effect={effect} who={who} />}
      <NoteSection asked={own.asked} typed={own.typed} onType={own.setTyped} />
      {sending.failure && <Failure of={sending.failure} basedOn={plan.basedOn} />}
    </Dialog>
  );
}

const Send = (props: {
  isCanary: boolean;
  next: number;
  reason: string | undefined;
  sending: ReturnType<typeof useSending>;
}) => (
  <Button
    kind="main"
    icon={props.isCanary ? "canary" : "arrow"}
    isBusy={props.sending.busyWords !== undefined}
    disabledBecause={props.reason}
    onClick={() => void props.sending.send()}
  >
    {props.sending.busyWords ??
      (props.isCanary ? `Start the canary at ${CANARY_SHARE} %` : `Publish revision ${props.next}`)}
  </Button>
);

const Lines = (props: { differ: number; isShown: boolean; onShow: (isShown: boolean) => void }) => (
  <small>
    {plural(props.differ, "line")} of text {props.differ === 1 ? "differs" : "differ"}.{" "}
    <button type="button" class="link" aria-expanded={props.isShown} onClick={() => props.onShow(!props.isShown)}>
      {props.isShown ? "Hide it" : "Show it"}
    </button>
  </small>
);

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

function useDraftSending(
  plan: Plan,
  text: string,
  how: How,
  on: { readonly onSent: () => void; readonly onStale: () => void },
) {
  const isCanary = how === "canary";
  const expected = plan.canary?.revision ?? plan.basedOn;
  return useSending({
    action: isCanary ? "canary" : "publish",
    send: (own) => (isCanary ? startCanary(text, expected, CANARY_SHARE, own) : publish(text, expected, own)),
    doubt: "The answer was lost. Asking whether it is published…",
    madeOf: (revision) => ({
      title: isCanary
        ? `Canary ${revision} runs for ${CANARY_SHARE} % of the IDs`
        : `Revision ${revision} is published`,
      before: plan.basedOn,
      ...(isCanary && { isCanary }),
    }),
    onMade: () => {
      // A text that was typed since is not published.
      if (draft.peek()?.text === plan.text) draft.value = undefined;
      on.onSent();
    },
    onStale: on.onStale,
  });
}

/** Not published, and why. */
const Failure = ({ of, basedOn }: { of: Failed; basedOn: number }) => (
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
