import { useEffect, useState } from "preact/hooks";
import { gatewayNow } from "../../app/clock.ts";
import { Button } from "../../app/parts/button.tsx";
import { Dialog } from "../../app/parts/dialog.tsx";
import { Note, ProblemNote } from "../../app/parts/sheet.tsx";
import { Share, type Step, Stepper } from "../../app/parts/table.tsx";
import { fragmentOf } from "../../app/router.ts";
import { session } from "../../app/session.ts";
import { countText, plural } from "../../app/words.ts";
import type { Force } from "./force-of.ts";
import { type Followed, made, UNDO_MS, type Undone, undo } from "./made.ts";
import { unwatched } from "./unwatched.ts";

const secondsText = (ms: number): string => `${countText(Math.round(ms / 10) / 100)} s`;

/** How far a change has come, from the control plane to all isolates or machines. */
function Progress({ of }: { of: Followed }) {
  const { force, isHere, hereAfterMs, allAfterMs, revision } = of;
  const own = revision === undefined ? "The change" : `Revision ${revision}`;
  const isHandedOn = force?.isHandedOn === true;
  const kind = force?.kind ?? "isolates";
  const steps: Step[] = [
    { key: "stored", is: "done", title: "Stored by the control plane" },
    { key: "handed", is: isHandedOn ? "done" : "now", title: "Handed to all places" },
    { key: "here", is: isHere ? "done" : isHandedOn ? "now" : "later", title: "In force where this page asks" },
    {
      key: "all",
      is: allAfterMs !== undefined ? "done" : isHere ? "now" : "later",
      title: force === undefined ? `In force on all ${WORDS[kind][1]}` : `In force on ${forceText(force)}`,
      children: force && <Share of={force.of === 0 ? 0 : force.inForce / force.of} />,
    },
  ];
  return (
    <>
      <Stepper steps={steps} isFlat />
      <p role="status">
        {isHere && hereAfterMs !== undefined
          ? `${own} is in force here after ${secondsText(hereAfterMs)}${allText(of)}.`
          : "Not in force here yet."}{" "}
        {allAfterMs === undefined && "You may close this: it goes on by itself."}
      </p>
      {force?.lastError && !isHandedOn && (
        <Note kind="first" title="A step failed and is tried again">
          {force.lastError}
        </Note>
      )}
    </>
  );
}

const WORDS = { isolates: ["instance", "instances"], machines: ["machine", "machines"] } as const;

const forceText = ({ inForce, of, isLeast, kind }: Force): string =>
  `${isLeast ? "at least " : ""}${countText(inForce)} of ${plural(of, WORDS[kind][0])}`;

function allText({ force, allAfterMs }: Followed): string {
  if (force === undefined) return "";
  if (allAfterMs === undefined) return `, and on ${forceText(force)}`;
  const all = force.of === 1 ? `the only ${WORDS[force.kind][0]}` : `all ${plural(force.of, WORDS[force.kind][0])}`;
  return `, and on ${all} after ${secondsText(allAfterMs)}`;
}

/** Minutes and seconds until the way back is over; `undefined` once it is. */
function useLeft(change: Followed | undefined): string | undefined {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  const leftMs = change === undefined ? 0 : change.atMs + UNDO_MS - gatewayNow();
  if (leftMs <= 0) return undefined;
  const seconds = Math.ceil(leftMs / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** One click, no question: it puts back the table before, and never another person's change. */
function UndoButton({ of }: { of: Followed }) {
  const left = useLeft(of);
  const [isBusy, setBusy] = useState(false);
  const [isLost, setLost] = useState(false);
  const [result, setResult] = useState<Exclude<Undone, { is: "undone" }>>();
  if (left === undefined || of.revision === undefined || of.before === undefined) return null;
  const start = async () => {
    setBusy(true);
    const done = await undo(of, () => setLost(true));
    setBusy(false);
    setLost(false);
    setResult(done.is === "undone" ? undefined : done);
  };
  if (result?.is === "stale") return <Meanwhile change={of} result={result} />;
  return (
    <>
      {result && <ProblemNote problem={result.problem} still="Nothing was undone." />}
      <Button icon="undo" isBusy={isBusy} onClick={() => void start()}>
        {isLost ? "Asking whether it is undone…" : isBusy ? "Undoing…" : "Undo"}
      </Button>
      <small class="soft" aria-hidden="true">
        {left} left
      </small>
    </>
  );
}

function Meanwhile({ change, result }: { change: Followed; result: Extract<Undone, { is: "stale" }> }) {
  const { revision, by } = result;
  const from = change.revision;
  const isOther = revision !== undefined && from !== undefined && revision > from;
  return (
    <Note
      kind="first"
      isAlert
      title={isOther ? `Revision ${revision} came meanwhile` : "Another change came meanwhile"}
      actions={
        isOther && (
          <Button href={fragmentOf("history", { from: `${from}`, to: `${revision}` })}>
            See {from} to {revision}
          </Button>
        )
      }
    >
      {by === undefined || !isOther ? "" : `It is by ${by}. `}Nothing was undone: an undo would take that change back
      too.
    </Note>
  );
}

/** In its place while a change is on its way whose window was closed, and when nothing came of it. */
export function UnwatchedBar() {
  const own = unwatched.value;
  if (own === undefined) return null;
  return (
    <section class="undo" aria-label="Last change">
      <b role="status">{own.title}</b>
      {own.why !== undefined && <p class="soft">{own.why}</p>}
      {own.why !== undefined && (
        <div class="row">
          <Button
            kind="quiet"
            onClick={() => {
              unwatched.value = undefined;
            }}
          >
            Put away
          </Button>
        </div>
      )}
    </section>
  );
}

/** Stands at the foot of every page until the way back is over or it is put away. */
export function UndoBar({ onShow, onHide }: { onShow: () => void; onHide: () => void }) {
  const own = made.value;
  const left = useLeft(own);
  if (own === undefined || left === undefined || own.author !== session.value?.name) return null;
  const { force, title } = own;
  return (
    <section class="undo" aria-label="Last change">
      <b>{title}</b>
      <p class="soft" role="status">
        {force === undefined ? "Stored." : `In force on ${forceText(force)}.`}
      </p>
      <div class="row">
        <UndoButton of={own} />
        <Button kind="quiet" onClick={onShow}>
          Progress
        </Button>
        <Button kind="quiet" onClick={onHide}>
          Put away
        </Button>
      </div>
    </section>
  );
}

/** The window of a change that was made. */
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
