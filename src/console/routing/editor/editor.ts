import { autocompletion, type CompletionContext, closeBrackets, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import {
  bracketMatching,
  defaultHighlightStyle,
  foldGutter,
  HighlightStyle,
  syntaxHighlighting,
  syntaxTree,
} from "@codemirror/language";
import { type Diagnostic, linter, lintGutter, lintKeymap } from "@codemirror/lint";
import { unifiedMergeView } from "@codemirror/merge";
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorSelection, EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { positionsOf, spanOf } from "../../../formats/console/positions.ts";
import { faultsOf, isNotJson } from "../check-text.ts";
import { faultInWords } from "../fault-words.ts";
import { membersAt, valuesAt } from "./complete.ts";
import { fixesOf } from "./fixes.ts";

/** The editor of the table. In a shadow root its styles are adopted sheets: the page's policy allows no other. */

export interface Editor {
  readonly view: EditorView;
  setText(text: string): void;
  /** The text in force: lines that differ from it are marked, and what they were stands above them. */
  setOriginal(text: string): void;
  /** Shows the place of a fault. */
  show(pointer: string): void;
  /** From 1. */
  showLine(line: number): void;
  find(): void;
  stop(): void;
}

const LINT_DELAY_MS = 300;

export function startEditor(
  host: HTMLElement,
  text: string,
  original: string,
  isReadOnly: boolean,
  onChange: (text: string) => void,
): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const parent = document.createElement("div");
  root.replaceChildren(parent);
  parent.style.setProperty("height", "100%");
  const marks = new Compartment();
  const extensions = [...extensionsOf(isReadOnly, onChange), marks.of(differences(original))];
  const view = new EditorView({ root, parent, state: EditorState.create({ doc: text, extensions }) });
  // It scrolls, so the keyboard must reach it (WCAG 2.1.1).
  view.scrollDOM.tabIndex = 0;
  const select = (from: number, to: number) => {
    const end = view.state.doc.length;
    const selection = EditorSelection.single(Math.min(from, end), Math.min(to, end));
    view.dispatch({ selection, effects: EditorView.scrollIntoView(selection.main, { y: "center" }) });
    view.focus();
  };
  return {
    view,
    setText: (next) => replaceText(view, next),
    setOriginal: (next) => view.dispatch({ effects: marks.reconfigure(differences(next)) }),
    show: (pointer) => {
      const positions = positionsOf(view.state.doc.toString());
      const { from, to } = pointer === "" ? { from: positions.end, to: positions.end } : spanOf(positions, pointer);
      select(from, to);
    },
    showLine: (line) => {
      const { from, to } = view.state.doc.line(Math.min(line, view.state.doc.lines));
      select(from, to);
    },
    find: () => openSearchPanel(view),
    stop: () => view.destroy(),
  };
}

const extensionsOf = (isReadOnly: boolean, onChange: (text: string) => void): readonly Extension[] => [
  lineNumbers(),
  foldGutter(),
  history(),
  drawSelection({ cursorBlinkRate: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 1_200 }),
  bracketMatching(),
  closeBrackets(),
  highlightActiveLine(),
  highlightSelectionMatches(),
  search({ top: true }),
  lintGutter(),
  json(),
  syntaxHighlighting(COLOURS),
  autocompletion({ override: [complete], icons: false }),
  linter(diagnose, { delay: LINT_DELAY_MS }),
  keymap.of([...completionKeymap, ...lintKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap]),
  EditorState.readOnly.of(isReadOnly),
  EditorView.contentAttributes.of({ "aria-label": "Routing table, JSON" }),
  EditorView.lineWrapping,
  EditorView.updateListener.of((update) => {
    if (update.docChanged) onChange(update.state.doc.toString());
  }),
  TALL,
  LOOK,
];

const differences = (original: string): Extension => unifiedMergeView({ original, mergeControls: false });

/** Only the piece that differs: the cursor, the scrolled place and the way back stay. */
function replaceText(view: EditorView, next: string): void {
  const now = view.state.doc.toString();
  const most = Math.min(now.length, next.length);
  let from = 0;
  while (from < most && now[from] === next[from]) from++;
  let same = 0;
  while (same < most - from && now[now.length - 1 - same] === next[next.length - 1 - same]) same++;
  view.dispatch({ changes: { from, to: now.length - same, insert: next.slice(from, next.length - same) } });
}

const FAULTS_MAX = 200;

/** Faults where they stand, by the check that publication makes. */
function diagnose({ state }: EditorView): readonly Diagnostic[] {
  const text = state.doc.toString();
  const faults = faultsOf(text);
  if (faults.length === 0) return [];
  const positions = positionsOf(text);
  return faults.slice(0, FAULTS_MAX).map((fault) => {
    const { pointer } = fault;
    const { from, to } = isNotJson(fault) ? { from: positions.end, to: positions.end + 1 } : spanOf(positions, pointer);
    const start = Math.min(from, text.length);
    return {
      from: start,
      to: Math.max(start, Math.min(to, text.length)),
      severity: "error",
      message: faultInWords(fault),
      actions: state.readOnly
        ? []
        : fixesOf(fault).map(({ name, apply }) => ({
            name,
            apply: (view) => replaceText(view, apply(view.state.doc.toString())),
          })),
    };
  });
}

/** The names of the members around a place, from the top. */
function placeIn(state: EditorState, at: number) {
  const path: string[] = [];
  let isName = false;
  for (let node = syntaxTree(state).resolveInner(at, -1); ; ) {
    const { parent } = node;
    if (node.name === "PropertyName") isName = true;
    if (node.name === "Property" && !(isName && path.length === 0 && node.to >= at)) {
      const name = node.getChild("PropertyName");
      if (name) path.unshift(nameIn(state.sliceDoc(name.from, name.to)));
    }
    if (parent?.name === "Array") path.unshift("0");
    if (parent === null) return { path, isName };
    node = parent;
  }
}

function nameIn(text: string): string {
  try {
    return JSON.parse(text);
  } catch {
    return text.replaceAll('"', "");
  }
}

function complete(context: CompletionContext) {
  const word = context.matchBefore(/"[\w$.-]*/) ?? context.matchBefore(/[\w$.-]*/);
  if (word === null || (word.from === word.to && !context.explicit)) return null;
  const { path, isName } = placeIn(context.state, context.pos);
  const line = context.state.doc.lineAt(context.pos);
  const isValue = /:\s*"?[\w$.-]*$/.test(line.text.slice(0, context.pos - line.from)) && !isName;
  const text = context.state.doc.toString();
  const typed = word.text.replace('"', "").toLowerCase();
  const members = (isValue ? valuesAt(path, text) : membersAt(path)).filter(({ name }) =>
    name.toLowerCase().includes(typed),
  );
  const after = context.state.sliceDoc(context.pos, context.pos + 1) === '"' ? 1 : 0;
  return {
    from: word.from,
    to: context.pos + after,
    // The package would compare the closing quote too, which is behind the cursor.
    filter: false,
    options: members.map(({ name, description, value }) => ({
      label: JSON.stringify(name),
      ...(description !== undefined && { info: description }),
      apply: isValue ? value : `${JSON.stringify(name)}: `,
    })),
  };
}

/** The package's own style, in the colours of both themes: its greens and blues are unreadable in the dark. */
const COLOURS = HighlightStyle.define(
  defaultHighlightStyle.specs.map(({ color, ...spec }) => ({
    ...spec,
    ...(color !== undefined && { color: color === "#a11" ? "var(--code-text)" : "var(--code-number)" }),
  })),
);

/** Variables reach into a shadow root, so both themes are the page's. */
const LOOK = EditorView.theme({
  // The frame of the focus stands in the room around: lines would cover it.
  "&": { color: "var(--ink)", backgroundColor: "var(--sheet)", padding: "2px" },
  "&.cm-focused": { outline: "2px solid var(--ink)", outlineOffset: "-2px" },
  ".cm-scroller": {
    fontFamily: "var(--mono)",
    fontSize: "var(--t-2)",
    lineHeight: "1.6",
    maxHeight: "60vh",
    overflow: "auto",
  },
  ".cm-scroller:focus-visible": { outline: "2px solid var(--ink)", outlineOffset: "-2px" },
  ".cm-gutters": { backgroundColor: "var(--sheet)", color: "var(--ink-3)", border: "0" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--ink) 5%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--ink) 18%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "var(--pressed)" },
  // Seen through: the selection is painted below.
  "&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine": {
    backgroundColor: "color-mix(in srgb, var(--good) 12%, transparent)",
  },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-paper)", paddingLeft: "6px" },
  ".cm-deletedChunk .cm-deletedLine": { backgroundColor: "var(--bad-paper)" },
  ".cm-changedText, .cm-deletedText": { background: "none !important", fontWeight: "700", textDecoration: "none" },
  "&.cm-merge-b .cm-changedLineGutter": { backgroundColor: "var(--good)" },
  ".cm-deletedLineGutter": { backgroundColor: "var(--bad)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--rule-strong)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--ink)", color: "var(--on-ink)" },
  ".cm-diagnostic": { fontFamily: "var(--sans)", borderLeft: "3px solid var(--bad)" },
  ".cm-diagnosticAction": {
    backgroundColor: "var(--ink)",
    color: "var(--on-ink)",
    border: "0",
    borderRadius: "4px",
    minHeight: "24px",
    padding: "0 8px",
    margin: "4px 4px 0 0",
  },
  ".cm-lintRange-error": { backgroundImage: "none", borderBottom: "2px solid var(--bad)" },
  ".cm-lint-marker-error": { content: "normal", borderRadius: "50%", backgroundColor: "var(--bad)", scale: "0.7" },
  ".cm-foldPlaceholder": {
    backgroundColor: "var(--hover)",
    border: "1px solid var(--rule-strong)",
    color: "var(--ink-2)",
  },
  ".cm-panels": { backgroundColor: "var(--well)", color: "var(--ink)" },
  // The package's own are of light themes alone.
  ".cm-panels .cm-textfield": {
    minHeight: "24px",
    backgroundColor: "var(--sheet)",
    color: "var(--ink)",
    border: "1px solid var(--edge)",
  },
  ".cm-panels .cm-button": {
    minHeight: "24px",
    backgroundImage: "none",
    backgroundColor: "var(--sheet)",
    color: "var(--ink)",
    border: "1px solid var(--edge)",
  },
  ".cm-panels [name=close]": { color: "var(--ink)" },
  ".cm-panels :focus-visible": { outline: "2px solid var(--ink)", outlineOffset: "1px" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-paper)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--warn)", color: "var(--sheet)" },
});

/** As tall as its place. */
const TALL = EditorView.theme({ "&": { height: "100%" }, ".cm-scroller": { maxHeight: "none" } });
