import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { EntityPreview } from "../../formats/console-api.ts";
import type { Problem } from "../app/api.ts";
import { announcement, Busy, CopyButton, Panel, ProblemBox } from "../app/parts.tsx";
import { fragmentOf, goTo, place, setQuery } from "../app/router.ts";
import { keyed, reader, session } from "../app/session.ts";
import { asksAtOnce } from "../app/settings.ts";
import { pastedText } from "../app/typed.ts";
import { type Asked, ask, keyPath, previewOf } from "./ask.ts";
import { ManyIds } from "./many.tsx";
import { areSame, PASTED_CHARACTERS_MAX, type Pasted, type PastedList, readPasted } from "./read-pasted.ts";
import { chosenOf } from "./reader.ts";
import { ReadingView } from "./reading-view.tsx";
import { refusalOf } from "./rule-words.ts";

const LONG_PASTE = 10_000;

/** An ID in a link of the page, up to the longest that is read. */
const LINKED_MAX = 2_048;

export function LookUp() {
  const linked = place.value.query.get("id");
  const isOfList = place.value.query.has("list");
  const text = pastedText.value;
  const last = useRef<{ readonly text: string; readonly list: PastedList }>(undefined);
  const list = useMemo(() => {
    const next = readPasted(text, reader.value);
    const known = last.current;
    // Another table that finds the same IDs in the text: what the gateway said of them stays.
    const own = known?.text === text && areSame(known.list, next) ? known.list : next;
    last.current = { text, list: own };
    return own;
  }, [text, reader.value]);
  const one = list.items.length === 1 ? list.items[0] : undefined;
  // Opened from the list, which stays where it is.
  const opened = isOfList && list.items.length > 1 ? list.items.find(({ source }) => source === linked) : undefined;
  const shown = one ?? opened;
  useEffect(() => {
    if (linked !== null && linked !== pastedText.peek() && opened === undefined)
      pastedText.value = linked.slice(0, LINKED_MAX);
  }, [linked]);
  useEffect(() => {
    if (place.peek().page === "look-up" && opened === undefined)
      setQuery("look-up", one === undefined ? {} : { id: one.source });
  }, [one?.source, opened === undefined]);
  return (
    <>
      <h1>Look up</h1>
      <PasteBox />
      {opened !== undefined && (
        <div class="actions">
          <a href={fragmentOf("look-up")}>Back to the list</a>
        </div>
      )}
      {shown !== undefined && <OneId pasted={shown} key={shown.source} />}
      {list.items.length > 1 && (
        <div hidden={opened !== undefined}>
          <ManyIds
            key={list}
            list={list}
            reader={reader.value}
            onPick={({ source }) => goTo("look-up", { id: source, list: "1" })}
          />
        </div>
      )}
      {list.items.length === 0 && <Help />}
    </>
  );
}

function PasteBox() {
  const id = useId();
  const lines = Math.min(6, pastedText.value.split("\n", 7).length);
  const readFile = async (file: File | undefined) => {
    if (file !== undefined) pastedText.value = await file.text();
  };
  return (
    <div class="paste">
      <label for={id}>ID, short key, URL, or a list of them</label>
      <textarea
        id={id}
        rows={lines}
        value={pastedText.value}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        onPaste={(event) => {
          const text = event.clipboardData?.getData("text/plain") ?? "";
          if (text.length < LONG_PASTE) return;
          // To insert so much bit by bit takes a browser seconds.
          event.preventDefault();
          pastedText.value = text.slice(0, PASTED_CHARACTERS_MAX);
        }}
        placeholder="0192f0c1-7a30-8005-8040-8f3b2a1c9d77"
        onInput={(event) => {
          pastedText.value = event.currentTarget.value;
        }}
      />
      <div class="actions">
        <button
          type="button"
          onClick={() => {
            pastedText.value = "";
          }}
        >
          Clear
        </button>
        <label class="button">
          Open a CSV
          <input
            type="file"
            accept=".csv,.txt,text/csv,text/plain"
            class="hidden"
            onChange={(event) => void readFile(event.currentTarget.files?.[0])}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={asksAtOnce.value}
            onChange={(event) => {
              asksAtOnce.value = event.currentTarget.checked;
            }}
          />
          Ask the gateway at once
        </label>
      </div>
    </div>
  );
}

const Help = () => (
  <Panel title="About this page">
    <p>
      Paste an ID. The page reads it here: entity, country, time and bits. Nothing leaves the browser until you ask
      where it goes.
    </p>
    <p>
      Several lines or a CSV become a table to download. Press <kbd>Ctrl</kbd> <kbd>K</kbd> on any page to paste an ID.
    </p>
  </Panel>
);

type Loaded<Value> = { readonly problem?: Problem; readonly value?: Value; readonly isBusy?: boolean };

function OneId({ pasted }: { pasted: Pasted }) {
  const reading = useMemo(() => reader.value.read(pasted, Date.now()), [pasted, reader.value]);
  const [asked, setAsked] = useState<Loaded<Asked>>({});
  const isSignedIn = Boolean(session.value);
  const turn = useRef(0);
  const go = async () => {
    setAsked({ isBusy: true });
    const own = ++turn.current;
    const show = (next: Loaded<Asked>): void => {
      if (own === turn.current) setAsked(next);
    };
    let last: Asked | undefined;
    const problem = await ask(pasted, keyed.value, (value) => {
      last = value;
      show({ value });
    });
    if (own !== turn.current) return;
    if (problem !== undefined) show({ problem });
    announcement.value = problem === undefined ? toldText(last) : problem.title;
  };
  useEffect(() => {
    if (isSignedIn && asksAtOnce.peek()) void go();
  }, [isSignedIn]);
  const link = `${location.origin}${location.pathname}${fragmentOf("look-up", { id: pasted.source })}`;
  return (
    <div data-reading={pasted.id}>
      <div class="actions">
        <button
          type="button"
          class="main"
          onClick={() => asked.isBusy || void go()}
          disabled={!isSignedIn}
          aria-disabled={asked.isBusy === true}
        >
          Ask where it goes
        </button>
        <CopyButton text={link} label="link" name="Copy link to this view" />
        {!isSignedIn && <small>Sign in to ask the gateway.</small>}
      </div>
      {asked.isBusy && <Busy what="Asking the gateway" />}
      {asked.problem && <ProblemBox problem={asked.problem} onRetry={() => void go()} />}
      <ReadingView
        reader={reader.value}
        reading={reading}
        asked={asked.value}
        onPick={(text) => {
          pastedText.value = text;
        }}
      />
      {asked.value && <Preview pasted={pasted} asked={asked.value} />}
    </div>
  );
}

/** The answer in one sentence, for those who do not see it. */
function toldText(asked: Asked | undefined): string {
  const region = asked?.explanation.decision?.region ?? asked?.whole?.region;
  if (region !== undefined) return `It goes to ${region}.`;
  return refusalOf(asked?.explanation.error?.reason) ?? asked?.whole?.problem?.title ?? "No region is known for it.";
}

/** The entity itself, as its region answers: shown as text, never as a page. */
function Preview({ pasted, asked }: { pasted: Pasted; asked: Asked }) {
  const [shown, setShown] = useState<Loaded<EntityPreview>>({});
  const { explanation } = asked;
  const isKnown = explanation.decision !== undefined || explanation.publicOf !== undefined;
  const path = isKnown ? undefined : ownPathOf(pasted, asked);
  if (!isKnown && path === undefined && chosenOf(explanation) === undefined) return null;
  const open = async () => {
    setShown({ isBusy: true });
    const answer = await previewOf(pasted.id, path);
    setShown(answer.ok ? { value: answer.value } : { problem: answer.problem });
  };
  return (
    <Panel title="At its owner">
      <button type="button" onClick={() => void open()} disabled={shown.isBusy === true}>
        Show the entity
      </button>
      {shown.isBusy && <Busy what="Asking its region" />}
      {shown.problem && <ProblemBox problem={shown.problem} />}
      {shown.value && <Entity preview={shown.value} />}
    </Panel>
  );
}

/** The entity's own path, for a text that alone says no entity or another one. */
function ownPathOf({ id, path }: Pasted, { whole }: Asked): string | undefined {
  const { owner, region, source, ids = [] } = whole ?? {};
  if (region === undefined || source !== undefined) return undefined;
  const ofKey = keyed.value.find(({ entity }) => entity === owner);
  if (ofKey !== undefined) return keyPath(ofKey, id);
  const placed = ids.find(({ place }) => place === "path");
  const own = placed && reader.value.ownPath(placed.entity, placed.layout ?? "", id);
  return own !== undefined && path?.startsWith(own) ? own : undefined;
}

function Entity({ preview: { status, region, contentType, text, truncated } }: { preview: EntityPreview }) {
  return (
    <div role="status">
      <p>
        {region ?? "The gateway"} answered with status {status}.{truncated && " Only the beginning is shown."}
      </p>
      {text === null ? (
        <p>The answer is no JSON, but {contentType ?? "nothing"}.</p>
      ) : (
        <JsonTable value={jsonIn(text)} />
      )}
    </div>
  );
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const NESTED_MAX = 6;

/** JSON as rows for people. */
function JsonTable({ value, depth = 0 }: { value: unknown; depth?: number }) {
  if (typeof value !== "object" || value === null || depth >= NESTED_MAX) {
    return <>{typeof value === "string" ? value : JSON.stringify(value)}</>;
  }
  return (
    <dl class="facts nested">
      {Object.entries(value).map(([name, member]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <JsonTable value={member} depth={depth + 1} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
