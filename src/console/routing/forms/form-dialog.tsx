import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { gatewayNow } from "../../app/clock.ts";
import { Button } from "../../app/parts/button.tsx";
import { Dialog } from "../../app/parts/dialog.tsx";
import { Choice } from "../../app/parts/fields.tsx";
import { Note } from "../../app/parts/sheet.tsx";
import { fragmentOf, holdPlace } from "../../app/router.ts";
import { plural } from "../../app/words.ts";
import { momentAfter } from "../../publish/only-new.ts";
import { openPublish } from "../../publish/open.ts";
import { readText } from "../check-text.ts";
import { currentRevision, currentText, setDraft, tableDraft } from "../draft.ts";
import { Effect } from "../effect.tsx";
import type { Planned } from "./planned.ts";

/** A form's window: its fields, its effect in words, and the way on. */

/** The table that a form changes: the draft's, else the one in force. `undefined`: the draft has faults. */
export function useBase(): {
  readonly text: string;
  readonly table: DeclaredTable | undefined;
  readonly faults: number;
  /** The revision of the text, or the one that the draft began with. */
  readonly revision: number | undefined;
} {
  return useMemo(() => {
    const text = currentText.peek() ?? "";
    const checked = readText(text);
    const [table, faults] = checked.ok ? [checked.value, 0] : [undefined, checked.error.length];
    return { text, table, faults, revision: currentRevision() };
  }, []);
}

export interface FormProps {
  readonly base: Base;
  readonly onClose: () => void;
}

interface Base {
  readonly text: string;
  readonly table: DeclaredTable;
  readonly revision: number | undefined;
}

/** From when on IDs are new: every instance has the table by then. */
export const newIdsFrom = (): string => new Date(momentAfter(gatewayNow())).toISOString().replace(/\.\d+/, "");

const PLAN_DELAY_MS = 200;

interface Props {
  readonly title: string;
  readonly text?: ComponentChildren;
  readonly base: Base;
  /** The change of the values that stand in the fields. */
  readonly plan: () => Planned;
  /** All of them as one text: the change is planned again when it differs. */
  readonly values: string;
  /** The fields, with what is wrong at each. */
  readonly children: (faultAt: (field: string) => string | undefined) => ComponentChildren;
  readonly onClose: () => void;
}

export function FormDialog({ title, text, base, plan, values, children, onClose }: Props) {
  const [planned, setPlanned] = useState<{ readonly of: string; readonly is: Planned }>();
  // Faults of what was not touched yet would only be in the way.
  const [begun] = useState(values);
  const [isTried, setTried] = useState(false);
  const [leaving, setLeaving] = useState<{ readonly to?: string }>();
  const leave = () => (values === begun ? onClose() : setLeaving({}));
  // Before the next key: Back may follow at once.
  useLayoutEffect(() => (values === begun ? undefined : holdPlace((to) => setLeaving({ to }))), [values]);
  useEffect(() => {
    const timer = setTimeout(() => setPlanned({ of: values, is: plan() }), PLAN_DELAY_MS);
    return () => clearTimeout(timer);
  }, [values]);
  const isShown = isTried || values !== begun;
  const now = planned?.is;
  const faults = now?.ok === false && isShown ? now.faults : [];
  const faultAt = (field: string) => faults.find((fault) => fault.field === field)?.message;
  const take = (isReviewed: boolean) => {
    const own = planned?.of === values ? planned.is : plan();
    setPlanned({ of: values, is: own });
    setTried(true);
    if (!own.ok) return;
    // Another may have published since the window was opened.
    setDraft(own.text, base.revision);
    onClose();
    if (isReviewed) openPublish();
  };
  return (
    <Dialog
      title={title}
      text={text}
      onClose={leave}
      class="routing-form"
      footer={
        <>
          <small>Nothing is in force before you publish.</small>
          <Button onClick={() => take(false)}>Keep as a draft</Button>
          <Button kind="main" onClick={() => take(true)}>
            Review and publish
          </Button>
        </>
      }
    >
      <section class="pile small">{children(faultAt)}</section>
      <Below planned={now} faults={faults.filter(({ field }) => field === undefined)} before={base.table} />
      {leaving && (
        <Leaving
          title={title}
          onStay={() => setLeaving(undefined)}
          onLeave={() => {
            onClose();
            if (leaving.to !== undefined) location.hash = leaving.to;
          }}
        />
      )}
    </Dialog>
  );
}

/** Escape, Back or a slip must not lose what was filled in. */
const Leaving = ({ title, onStay, onLeave }: { title: string; onStay: () => void; onLeave: () => void }) => (
  <Dialog
    title={`${title}: discard what you filled in?`}
    text="Nothing of it is in the draft yet."
    isNarrow
    onClose={onStay}
    footer={
      <>
        <Button kind="danger" onClick={onLeave}>
          Discard
        </Button>
        <Button kind="main" isFirst onClick={onStay}>
          Go on
        </Button>
      </>
    }
  >
    {null}
  </Dialog>
);

function Below(props: { planned: Planned | undefined; faults: readonly { message: string }[]; before: DeclaredTable }) {
  const { planned, faults, before } = props;
  return (
    <section class="pile small" aria-live="polite">
      {faults.map(({ message }) => (
        <Note key={message} kind="first" title="This cannot be done so">
          {message}
        </Note>
      ))}
      {planned?.ok && (
        <>
          <h3>Its effect</h3>
          <Effect before={before} after={planned.table} />
          {planned.notes.map((note) => (
            <Note key={note} kind="know" title={note} />
          ))}
        </>
      )}
      {planned === undefined && <p class="soft">Looking at the effect…</p>}
    </section>
  );
}

/** Instead of a form, while the draft is no table. */
export function DraftFirst({ title, faults, onClose }: { title: string; faults: number; onClose: () => void }) {
  return (
    <Dialog title={title} onClose={onClose} isNarrow>
      <section>
        <Note
          kind="first"
          title={`The draft has ${plural(faults, "fault")}`}
          actions={
            <Button kind="main" href={fragmentOf("editor")}>
              Open the editor
            </Button>
          }
        >
          A form changes the draft{tableDraft.value ? "" : ", which is the table in force"}: correct it first, or
          discard it.
        </Note>
      </section>
    </Dialog>
  );
}

/** `none`: the words for no region, where that is a choice. */
export function RegionChoice(props: {
  table: DeclaredTable;
  value: string;
  fault: string | undefined;
  onChange: (region: string) => void;
  label?: string;
  none?: string;
  except?: string;
}) {
  const names = Object.keys(props.table.regions).filter((name) => name !== props.except);
  return (
    <div>
      <Choice
        label={props.label ?? "Go to"}
        value={props.value}
        options={[["", props.none ?? "Choose a region"], ...names.map((name) => [name, name] as const)]}
        onChange={props.onChange}
      />
      {props.fault && (
        <small class="fault" role="alert">
          {props.fault}
        </small>
      )}
    </div>
  );
}
