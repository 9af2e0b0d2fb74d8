import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Status } from "../../formats/table-api.ts";
import { NOTE_CHARACTERS_MAX, NOTE_HEADER } from "../../formats/table-requests.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { type Answer, call, hasExpired, type Problem } from "../app/api.ts";
import { Badge, Dialog, Field, ProblemBox } from "../app/parts.tsx";
import { loadTable, session } from "../app/session.ts";
import { note } from "../app/typed.ts";
import { DiffView } from "./diff-view.tsx";

/** Every change is shown once more, with what it does and who makes it, before it is sent. */

export interface Change {
  readonly title: string;
  /** On the button. */
  readonly verb: string;
  readonly before: DeclaredTable;
  readonly after: DeclaredTable;
  readonly about?: ComponentChildren;
  /** A reason against it: a box to tick first. */
  readonly guard?: { readonly what: string; readonly tick: string };
  send(note: string): Promise<Answer<{ readonly revision?: number }>>;
}

const entityTag = (revision: number): string => `"${revision}"`;

export const publish = (text: string, basedOn: number, note: string): Promise<Answer<{ revision?: number }>> =>
  call("/-/table", {
    method: "PUT",
    text,
    headers: { "if-match": entityTag(basedOn), [NOTE_HEADER]: encodeURIComponent(note) },
  });

/** `POST` of a change whose note is in its body. `text`: a body that must go as it is. */
export const post = (
  path: string,
  basedOn: number,
  body: object,
  text?: string,
): Promise<Answer<{ revision?: number }>> =>
  call(path, {
    method: "POST",
    ...(text === undefined ? { body } : { text }),
    headers: { "if-match": entityTag(basedOn) },
  });

export function ConfirmChange({ change, onClose }: { change: Change; onClose: () => void }) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [isSent, setSent] = useState(false);
  const [isTicked, setTicked] = useState(change.guard === undefined);
  const send = async () => {
    setBusy(true);
    const sentAtMs = Date.now();
    const answer = await change.send(note.value);
    setBusy(false);
    setProblem(answer.ok ? undefined : answer.problem);
    if (!answer.ok) return;
    note.value = "";
    setSent(true);
    void follow(answer.value?.revision ?? Number.NaN, sentAtMs);
  };
  return (
    <Dialog title={change.title} onClose={onClose} class="wide">
      {!isSent ? (
        <>
          {change.about}
          {change.guard && (
            <div class="box bad">
              <p>{change.guard.what}</p>
              <label class="check">
                <input
                  type="checkbox"
                  checked={isTicked}
                  onChange={(event) => setTicked(event.currentTarget.checked)}
                />
                {change.guard.tick}
              </label>
            </div>
          )}
          <DiffView before={change.before} after={change.after} />
          <Field
            label="Note"
            hint={`For the history: why. At most ${NOTE_CHARACTERS_MAX} characters.`}
            value={note.value}
            onInput={(text) => {
              note.value = text.slice(0, NOTE_CHARACTERS_MAX);
            }}
          />
          {problem && <ProblemBox problem={problem.status === 412 ? otherChange(problem) : problem} />}
          <div class="actions">
            <button
              type="button"
              class="main"
              disabled={!isTicked}
              aria-disabled={isBusy}
              onClick={() => isBusy || void send()}
            >
              {isBusy ? "Sending…" : change.verb}
            </button>
            <button type="button" onClick={onClose}>
              Cancel
            </button>
            <small>The history will name {session.value?.name}.</small>
          </div>
        </>
      ) : (
        <Progress onClose={onClose} />
      )}
    </Dialog>
  );
}

const otherChange = (problem: Problem): Problem => ({
  ...problem,
  title: "Another change came first",
  detail: `${problem.detail} Close this, load the newest table, and look at the difference again.`,
});

const ASK_MS = 300;

const stored = (revision: number) => ({ revision, isWritten: false, isInForce: false, afterMs: 0 });

/** The last change that was sent. */
const followed = signal(stored(0));

/** Watches a change until it is in force, whether or not its window is open: then the pages show it. */
async function follow(revision: number, sentAtMs: number): Promise<void> {
  let last = stored(revision);
  followed.value = last;
  while (!last.isInForce && session.peek()) {
    const answer = hasExpired.peek() ? undefined : await call<Status>("/-/table/status");
    // A later change is watched instead.
    if (followed.peek() !== last) return;
    if (answer?.ok) followed.value = last = { ...stateOf(revision, answer.value), afterMs: Date.now() - sentAtMs };
    if (!last.isInForce) await new Promise((resolve) => setTimeout(resolve, ASK_MS));
  }
  if (last.isInForce) await loadTable();
}

/** `revision` is `NaN` for a change that makes none. A later revision has this one in it, or was put in its place. */
function stateOf(revision: number, { pending, kv, isolate }: Status) {
  const isWritten = !pending && (kv?.revision ?? 0) >= 0;
  const isHeld = Number.isNaN(revision) || isolate.revision >= revision || isolate.canary?.revision === revision;
  return { revision, isWritten, isInForce: isWritten && isHeld };
}

/** From the control plane to the isolate that answers. */
function Progress({ onClose }: { onClose: () => void }) {
  const { revision, isWritten, isInForce, afterMs } = followed.value;
  const close = useRef<HTMLButtonElement>(null);
  // The element with the focus is gone.
  useEffect(() => close.current?.focus(), []);
  const steps = [
    ["Stored in the control plane", true],
    ["Written to KV", isWritten],
    ["In force in the isolate that answers", isInForce],
  ] as const;
  return (
    <>
      <ol class="steps" aria-live="polite">
        {steps.map(([name, isDone]) => (
          <li key={name}>
            {name} <Badge mood={isDone ? "good" : "plain"}>{isDone ? "done" : "waiting"}</Badge>
          </li>
        ))}
      </ol>
      <p role="status">
        {isInForce
          ? `${Number.isNaN(revision) ? "The change" : `Revision ${revision}`} is in force here after ${(afterMs / 1000).toFixed(2)} s; on Cloudflare within 2 minutes everywhere.`
          : "You may close this: nothing more is needed."}
      </p>
      <button ref={close} type="button" class="main" onClick={onClose}>
        Close
      </button>
    </>
  );
}
