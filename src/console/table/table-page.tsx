import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { positionsOf } from "../../formats/console-positions.ts";
import { call, type Problem } from "../app/api.ts";
import { Badge, Busy, Panel, ProblemBox } from "../app/parts.tsx";
import { goTo } from "../app/router.ts";
import { knownTable, loadTable, mayChange } from "../app/session.ts";
import { draft } from "../app/typed.ts";
import { plural } from "../app/words.ts";
import { type Change, ConfirmChange, publish } from "./change.tsx";
import { isNotJson, readText } from "./check-text.ts";
import { DiffView } from "./diff-view.tsx";
import type { Editor } from "./editor.ts";

const CHECK_DELAY_MS = 300;
const FAULTS_SHOWN = 50;

/** The table as text: with completion, and with its faults where they stand. */
export default function TablePage() {
  const known = knownTable.value;
  // Others publish too.
  useEffect(() => void loadTable(), []);
  if (known === undefined) return <Busy what="Loading the table" />;
  return (
    <>
      <h1>Table</h1>
      <Draft known={known} />
    </>
  );
}

function Draft({ known }: { known: NonNullable<typeof knownTable.value> }) {
  const text = draft.value?.text ?? known.text;
  const basedOn = draft.value?.basedOn ?? known.revision;
  const [checkedText, setCheckedText] = useState(text);
  const [change, setChange] = useState<Change>();
  const [problem, setProblem] = useState<Problem>();
  const editor = useRef<Editor>(undefined);
  useEffect(() => {
    const timer = setTimeout(() => setCheckedText(text), CHECK_DELAY_MS);
    return () => clearTimeout(timer);
  }, [text]);
  // Only then: a text that comes back from the page late would undo what was typed since.
  useEffect(() => {
    const own = editor.current;
    if (draft.peek() === undefined && own !== undefined && own.view.state.doc.toString() !== known.text)
      own.setText(known.text);
  }, [known.text]);
  const checked = useMemo(() => readText(checkedText), [checkedText]);
  const isChanged = text !== known.text;
  const isOld = basedOn !== known.revision && isChanged;
  const plan = async () => {
    const now = readText(text);
    if (!now.ok) return;
    const answer = await call("/-/table/check", { method: "POST", text });
    setProblem(answer.ok ? undefined : answer.problem);
    if (!answer.ok) return;
    setChange({
      title: `Publish after revision ${basedOn}`,
      verb: "Publish",
      before: known.declared,
      after: now.value,
      send: async (note) => {
        const sent = await publish(text, basedOn, note);
        if (sent.ok) draft.value = undefined;
        return sent;
      },
    });
  };
  const format = () => {
    try {
      editor.current?.setText(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
    } catch {
      // The faults below say what is wrong.
    }
  };
  const discard = () => {
    draft.value = undefined;
    editor.current?.setText(known.text);
  };
  return (
    <>
      <div class="actions">
        <Badge>revision {basedOn}</Badge>
        {isChanged && <Badge mood="warn">not published</Badge>}
        {checked.ok ? (
          <Badge mood="good">no fault</Badge>
        ) : (
          <Badge mood="bad">{plural(checked.error.length, "fault")}</Badge>
        )}
        <button type="button" onClick={format}>
          Format
        </button>
        <button type="button" onClick={discard} disabled={!isChanged}>
          Discard
        </button>
        {mayChange.value && (
          <>
            <button
              type="button"
              class="main"
              disabled={!isChanged || !checked.ok || isOld}
              onClick={() => void plan()}
            >
              Plan and publish
            </button>
            <button type="button" disabled={!isChanged || !checked.ok} onClick={() => goTo("canary")}>
              Try as a canary
            </button>
          </>
        )}
      </div>
      {isOld && (
        <div class="box warn" role="alert">
          <p>
            Revision {known.revision} was published since. Your text began with {basedOn}: the difference below is to
            the newest.
          </p>
          <button
            type="button"
            onClick={() => {
              draft.value = { text, basedOn: known.revision };
            }}
          >
            I have looked: go on from revision {known.revision}
          </button>
        </div>
      )}
      <EditorFrame
        text={text}
        isReadOnly={!mayChange.value}
        onReady={(own) => {
          editor.current = own;
        }}
        onChange={(next) => {
          draft.value = next === known.text ? undefined : { text: next, basedOn };
        }}
      />
      {problem && <ProblemBox problem={problem} />}
      {!checked.ok && (
        <Panel title={plural(checked.error.length, "fault")}>
          <ol class="faults">
            {checked.error.slice(0, FAULTS_SHOWN).map((fault) => (
              <li key={fault.pointer + fault.message}>
                <button type="button" class="link" onClick={() => editor.current?.show(fault.pointer)}>
                  {fault.pointer || placeOfEnd(checkedText)}
                </button>{" "}
                {isNotJson(fault) ? "The text is not JSON from here on." : fault.message}
              </li>
            ))}
          </ol>
          {checked.error.length > FAULTS_SHOWN && <p>{checked.error.length - FAULTS_SHOWN} more.</p>}
        </Panel>
      )}
      {checked.ok && isChanged && checkedText !== known.text && (
        <Panel title="Effects of the change">
          <DiffView before={known.declared} after={checked.value} />
        </Panel>
      )}
      {change && (
        <ConfirmChange
          change={change}
          onClose={() => {
            setChange(undefined);
            void loadTable();
          }}
        />
      )}
    </>
  );
}

function placeOfEnd(text: string): string {
  const lines = text.slice(0, positionsOf(text).end).split("\n");
  return `Line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

interface FrameProps {
  readonly text: string;
  readonly isReadOnly: boolean;
  readonly onReady: (editor: Editor) => void;
  readonly onChange: (text: string) => void;
}

/** The editor is loaded when the page is opened. */
function EditorFrame({ text, isReadOnly, onReady, onChange }: FrameProps) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(onChange);
  latest.current = onChange;
  const editor = useRef<Editor>(undefined);
  const [isLoading, setLoading] = useState(true);
  useEffect(() => {
    let isGone = false;
    void import("./editor.ts").then(({ startEditor }) => {
      if (isGone || host.current === null) return;
      const own = startEditor(host.current, text, isReadOnly, (next) => latest.current(next));
      editor.current = own;
      onReady(own);
      setLoading(false);
    });
    return () => {
      isGone = true;
      editor.current?.stop();
    };
  }, [isReadOnly]);
  return (
    <>
      {isLoading && <Busy what="Loading the editor" />}
      <div ref={host} class="editor" />
    </>
  );
}
