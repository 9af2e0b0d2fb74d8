import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatText } from "../../../formats/console/edit.ts";
import { type Positions, positionsOf } from "../../../formats/console/positions.ts";
import type { Fault } from "../../../routing/index.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { Button } from "../../app/parts/button.tsx";
import { Note, PageHead, Skeleton } from "../../app/parts/sheet.tsx";
import { Mark, Tag } from "../../app/parts/state.tsx";
import { Scroll } from "../../app/parts/table.tsx";
import { fragmentOf, place } from "../../app/router.ts";
import { type KnownTable, knownTable, mayChange } from "../../app/session.ts";
import { draft } from "../../app/typed.ts";
import { countText, plural } from "../../app/words.ts";
import { openPublish } from "../../publish/open.ts";
import { isNotJson, readText } from "../check-text.ts";
import { discardDraft, rebaseDraft, setDraft, tableDraft } from "../draft.ts";
import { Effect } from "../effect.tsx";
import { faultInWords, placeInWords } from "../fault-words.ts";
import { lineAndColumn } from "../lines.ts";
import { VIEWERS_MAY_NOT } from "../reasons.ts";
import type { Editor } from "./editor.ts";
import { EditorFrame } from "./editor-frame.tsx";
import { fixesOf } from "./fixes.ts";
import { Outline } from "./outline.tsx";
import "../../style/routing.css";

const CHECK_DELAY_MS = 300;
const FAULTS_SHOWN = 50;

/** The table as text: with completion, and with its faults where they stand. */
export default function EditorPage() {
  const known = knownTable.value;
  if (known !== undefined) return <Draft known={known} />;
  return (
    <>
      <PageHead title="Editor" />
      <section class="sheet">
        <Skeleton label="Loading the table" lines={8} />
      </section>
    </>
  );
}

type Checked = ReturnType<typeof readText>;

function Draft({ known }: { known: KnownTable }) {
  const text = draft.value?.text ?? known.text;
  const [checkedText, setCheckedText] = useState(text);
  const editor = useRef<Editor>(undefined);
  /** The revision whose text the editor has, where there is no draft. */
  const shown = useRef(known.revision);
  useEffect(() => {
    const timer = setTimeout(() => setCheckedText(text), CHECK_DELAY_MS);
    return () => clearTimeout(timer);
  }, [text]);
  // A remedy, a discarded draft or a publication changes the text from outside. Asked is the draft of now: what the page drew may be older
  // than what is typed.
  useEffect(() => {
    const now = draft.peek()?.text ?? known.text;
    const own = editor.current;
    shown.current = known.revision;
    if (own !== undefined && own.view.state.doc.toString() !== now) own.setText(now);
  }, [text, known.revision]);
  const checked = useMemo(() => readText(checkedText), [checkedText]);
  const basedOn = draft.value?.basedOn ?? known.revision;
  const isOld = tableDraft.value !== undefined && basedOn !== known.revision;
  useJump(editor, known);
  return (
    <>
      <Head checked={checked} isOld={isOld} />
      {isOld && <OldDraft basedOn={basedOn} known={known} />}
      <section class="sheet editor">
        <Outline
          text={checkedText}
          table={checked.ok ? checked.value : undefined}
          onJump={(pointer) => editor.current?.show(pointer)}
        />
        <div class="editor-main">
          <Bar checked={checked} known={known} editor={editor} text={text} />
          <EditorFrame
            text={text}
            original={known.text}
            isReadOnly={!mayChange.value}
            onReady={(own) => {
              editor.current = own;
              jump(own, place.peek().query);
            }}
            onChange={(next) => setDraft(next, shown.current)}
          />
        </div>
        <aside aria-label="The draft">
          <Scroll label="The draft in words">
            {checked.ok ? (
              <Changes known={known} table={checked.value} isChanged={checkedText !== known.text} />
            ) : (
              <Faults faults={checked.error} text={checkedText} editor={editor} />
            )}
          </Scroll>
        </aside>
      </section>
    </>
  );
}

/** A link opens the editor at a line, or at a part by its pointer. */
function useJump(editor: RefObject<Editor | undefined>, known: KnownTable): void {
  const { query } = place.value;
  const asked = `${query.get("line") ?? ""} ${query.get("at") ?? ""}`;
  useEffect(() => {
    if (editor.current) jump(editor.current, query);
  }, [asked, known.revision]);
}

function jump(editor: Editor, query: URLSearchParams): void {
  const line = Number(query.get("line") ?? Number.NaN);
  const pointer = query.get("at");
  if (Number.isInteger(line) && line > 0) editor.showLine(line);
  else if (pointer) editor.show(pointer);
}

function Head({ checked, isOld }: { checked: Checked; isOld: boolean }) {
  const isChanged = tableDraft.value !== undefined;
  const because = !mayChange.value
    ? VIEWERS_MAY_NOT
    : !isChanged
      ? "Nothing differs from the table in force."
      : !checked.ok
        ? `The draft has ${plural(checked.error.length, "fault")}.`
        : isOld
          ? "Another change came first: look at it below."
          : undefined;
  return (
    <PageHead title="Editor" text="The table as text. The draft stays in this tab until it is published.">
      {mayChange.value && isChanged && (
        <>
          <Button icon="undo" onClick={discardDraft}>
            Discard
          </Button>
          {checked.ok && (
            <Button icon="canary" href={fragmentOf("canary")}>
              Try as a canary
            </Button>
          )}
        </>
      )}
      <Button kind="main" disabledBecause={because} onClick={openPublish}>
        Review and publish
      </Button>
    </PageHead>
  );
}

const OldDraft = ({ basedOn, known }: { basedOn: number; known: KnownTable }) => (
  <Note
    kind="first"
    isAlert
    title={`Revision ${known.revision} was published since`}
    actions={<Button onClick={rebaseDraft}>I have looked: go on from revision {known.revision}</Button>}
  >
    Your text began with {basedOn}. What it would change is below, against the newest.
  </Note>
);

interface BarProps {
  readonly checked: Checked;
  readonly known: KnownTable;
  readonly editor: RefObject<Editor | undefined>;
  readonly text: string;
}

/** Above the text: how the draft stands, and what one can do with the text. */
function Bar({ checked, known, editor, text }: BarProps) {
  const own = tableDraft.value;
  return (
    <header class="bar-in">
      <div class="row">
        {own ? <Tag kind="dashed">draft</Tag> : <Tag kind="line">revision {known.revision}</Tag>}
        <span class="soft">
          {own
            ? `${plural(own.changedLines, "line")} ${own.changedLines === 1 ? "differs" : "differ"} from revision ${known.revision}`
            : "in force"}
        </span>
        <span role="status">
          {checked.ok ? (
            <Mark mood="good" icon="good">
              No fault
            </Mark>
          ) : (
            <Mark mood="bad" icon="bad">
              {plural(checked.error.length, "fault")}
            </Mark>
          )}
        </span>
      </div>
      <div class="row">
        <Button kind="quiet" size="small" icon="search" onClick={() => editor.current?.find()}>
          Find
        </Button>
        {mayChange.value && (
          <Button kind="quiet" size="small" onClick={() => setDraft(formatText(text))}>
            Format
          </Button>
        )}
      </div>
    </header>
  );
}

function Changes({ known, table, isChanged }: { known: KnownTable; table: DeclaredTable; isChanged: boolean }) {
  return (
    <>
      <header class="bar-in">
        <h2>What would change</h2>
        <small>as you type</small>
      </header>
      <div class="in pile small" aria-live="polite">
        {isChanged ? (
          <Effect before={known.declared} after={table} />
        ) : (
          <p class="soft">Nothing: the text is the table in force.</p>
        )}
      </div>
    </>
  );
}

interface FaultsProps {
  readonly faults: readonly Fault[];
  readonly text: string;
  readonly editor: RefObject<Editor | undefined>;
}

/** Each with its place, and the remedies that it names. */
function Faults({ faults, text, editor }: FaultsProps) {
  const positions = useMemo(() => positionsOf(text), [text]);
  return (
    <>
      <header class="bar-in">
        <h2>{plural(faults.length, "fault")}</h2>
        <small>as you type</small>
      </header>
      <ol class="faults">
        {faults.slice(0, FAULTS_SHOWN).map((fault) => (
          <li key={fault.pointer + fault.message}>
            <button type="button" class="jump" onClick={() => editor.current?.show(fault.pointer)}>
              {placeOf(fault, text, positions)}
            </button>
            <p>{isNotJson(fault) ? "The text is not JSON from here on." : faultInWords(fault)}</p>
            {mayChange.value && (
              <span class="row tight">
                {fixesOf(fault).map(({ name, apply }) => (
                  <Button key={name} size="small" onClick={() => setDraft(apply(draft.peek()?.text ?? text))}>
                    {name}
                  </Button>
                ))}
              </span>
            )}
          </li>
        ))}
      </ol>
      {faults.length > FAULTS_SHOWN && <p class="in soft">{countText(faults.length - FAULTS_SHOWN)} more.</p>}
    </>
  );
}

function placeOf({ pointer }: Fault, text: string, positions: Positions): string {
  const span = positions.keys.get(pointer) ?? positions.values.get(pointer);
  const at = pointer === "" ? positions.end : span?.from;
  if (at === undefined) return placeInWords(pointer);
  const [line, column] = lineAndColumn(text, at);
  return pointer === "" ? `Line ${line}, column ${column}` : `Line ${line}: ${placeInWords(pointer)}`;
}
