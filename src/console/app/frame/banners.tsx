import { useEffect, useState } from "preact/hooks";
import { type TableDraft, tableDraft } from "../../routing/draft.ts";
import { askAgain, hasExpired, isReachable, nextAttemptMs, unreachableSinceMs } from "../api.ts";
import { gatewayNow } from "../clock.ts";
import { download } from "../download.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icons.tsx";
import { Note, ProblemNote } from "../parts/sheet.tsx";
import { enter, loadTable, namesProblem, type Session, session, undoSignIn } from "../session.ts";
import { clockText, wholeText } from "../words.ts";
import { draftText } from "./nav.tsx";
import { RefusedToken, TokenField, useSignIn } from "./sign-in.tsx";

/** News for all pages: the gateway is out of reach, the session has ended, the table cannot be read. */
export function Banners({ onSignIn }: { onSignIn: (() => void) | undefined }) {
  return (
    <>
      {!isReachable.value && <Offline />}
      {onSignIn && (
        <div class="banner">
          <Note
            kind="first"
            isTop
            title="Your session has ended"
            isAlert
            aside={
              <Button size="small" onClick={onSignIn}>
                Sign in again
              </Button>
            }
          >
            What you see is from before. Your text is kept in this tab.
          </Note>
        </div>
      )}
      {namesProblem.value && session.value && isReachable.value && !hasExpired.value && (
        <div class="banner">
          <ProblemNote
            isTop
            problem={namesProblem.value}
            still="IDs are read by the built-in layouts until then."
            onRetry={() => void loadTable()}
          />
        </div>
      )}
    </>
  );
}

const SECOND_MS = 1_000;

function Offline() {
  const [nowMs, setNow] = useState(gatewayNow());
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    const timer = setInterval(() => setNow(gatewayNow()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  const sinceMs = unreachableSinceMs.value ?? nowMs;
  const left = Math.ceil((nextAttemptMs.value - nowMs) / SECOND_MS);
  const ask = async () => {
    setAsking(true);
    await askAgain();
    setAsking(false);
  };
  return (
    <div class="offline">
      <Icon name="offline" />
      <b role="alert">The gateway does not answer since {clockText(sinceMs / 1000, false)}.</b>
      {/* Not in the alert: the seconds would be said one by one. */}
      <span class="grow">
        What you see is from then. {left > 0 ? `It is asked again in ${wholeText(left)} s.` : "It is asked again now."}
      </span>
      <Button size="small" isBusy={isAsking} onClick={() => void ask()}>
        Ask now
      </Button>
    </div>
  );
}

/** The session ended while one was at work: the page stays, and the draft with it. */
export function Expired({ onClose }: { onClose: () => void }) {
  const before = session.value;
  const [other, setOther] = useState<Session>();
  const signing = useSignIn(async (own) => {
    // The draft of one is not the next one's: its end is asked for.
    if (tableDraft.peek() && own.name !== before?.name) setOther(own);
    else await enter(own);
  });
  if (other !== undefined)
    return <SomeoneElse other={other} before={before?.name ?? ""} onBack={() => setOther(undefined)} />;
  const draft = tableDraft.value;
  return (
    <Dialog
      title="Your session has ended"
      text={endedText(before?.by)}
      isNarrow
      onClose={onClose}
      footer={
        <>
          {draft && <SaveDraft />}
          <Button kind="main" isBusy={signing.isBusy} onClick={() => void signing.submit()}>
            {signing.isBusy ? "Signing in…" : "Sign in and go on"}
          </Button>
        </>
      }
    >
      <section>
        <Kept draft={draft} />
      </section>
      <section>
        <form
          class="pile small"
          onSubmit={(event) => {
            event.preventDefault();
            void signing.submit();
          }}
        >
          <TokenField
            label={`Token of ${before?.name ?? "the one who was signed in"}`}
            hint={draft ? "Someone else? Signing in by another name discards the draft, and asks before." : undefined}
            signing={signing}
            isFirst
          />
          <RefusedToken problem={signing.problem} />
        </form>
      </section>
    </Dialog>
  );
}

const Kept = ({ draft }: { draft: TableDraft | undefined }) =>
  draft ? (
    <Note kind="done" title="Your draft is kept">
      {draftText(draft)}. It is in this tab alone: do not close it.
    </Note>
  ) : (
    <Note kind="done" title="You go on where you are">
      Nothing that you typed is lost.
    </Note>
  );

const endedText = (by: string | undefined): string =>
  by === "session" ? "After 30 minutes without use, or 8 hours in all." : "The gateway does not know you any more.";

const SaveDraft = () => (
  <Button
    kind="quiet"
    icon="download"
    onClick={() => {
      const draft = tableDraft.peek();
      if (draft) download("table-draft.json", "application/json", draft.text);
    }}
  >
    Save the draft as a file
  </Button>
);

/** Another name signed in: the draft stays until it is clear what becomes of it. */
function SomeoneElse({ other, before, onBack }: { other: Session; before: string; onBack: () => void }) {
  const back = async () => {
    const ended = await undoSignIn();
    if (ended.ok) onBack();
  };
  return (
    <Dialog
      title={`The draft is of ${before}`}
      text={`You signed in as ${other.name}.`}
      isNarrow
      onClose={() => void back()}
      footer={
        <>
          <SaveDraft />
          <Button kind="danger main" onClick={() => void enter(other)}>
            Discard it and go on as {other.name}
          </Button>
        </>
      }
    >
      <section>
        <Note
          kind="first"
          title="Going on discards the draft"
          actions={
            <Button size="small" onClick={() => void back()}>
              Sign in as {before}
            </Button>
          }
        >
          {tableDraft.value ? draftText(tableDraft.value) : ""}. Save it as a file, or sign in as {before}.
        </Note>
      </section>
    </Dialog>
  );
}
