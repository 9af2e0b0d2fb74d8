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
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { positionsOf, spanOf } from "../../formats/console-positions.ts";
import { faultsOf, isNotJson } from "./check-text.ts";
import { membersAt, valuesAt } from "./complete.ts";

/** The editor of the table. In a shadow root its styles are adopted sheets: the page's policy allows no other. */

export interface Editor {
  readonly view: EditorView;
  setText(text: string): void;
  /** Shows the place of a fault. */
  show(pointer: string): void;
  stop(): void;
}

const LINT_DELAY_MS = 300;

export function startEditor(
  host: HTMLElement,
  text: string,
  isReadOnly: boolean,
  onChange: (text: string) => void,
): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const parent = document.createElement("div");
  root.append(parent);
  const view = new EditorView({
    root,
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
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
        LOOK,
      ],
    }),
  });
  // It scrolls, so the keyboard must reach it (WCAG 2.1.1).
  view.scrollDOM.tabIndex = 0;
  return {
    view,
    setText: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    show: (pointer) => {
      const positions = positionsOf(view.state.doc.toString());
      const { from, to } = pointer === "" ? { from: positions.end, to: positions.end } : spanOf(positions, pointer);
      view.dispatch({ selection: { anchor: from, head: Math.min(to, view.state.doc.length) }, scrollIntoView: true });
      view.focus();
    },
    stop: () => view.destroy(),
  };
}

/** Two texts as one, with what went and what came. */
export function startComparison(host: HTMLElement, before: string, after: string): () => void {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const parent = document.createElement("div");
  root.append(parent);
  const extensions = [
    lineNumbers(),
    json(),
    syntaxHighlighting(COLOURS),
    EditorState.readOnly.of(true),
    EditorView.contentAttributes.of({ "aria-label": "The texts compared" }),
    EditorView.lineWrapping,
    unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } }),
    LOOK,
  ];
  const view = new EditorView({ root, parent, state: EditorState.create({ doc: after, extensions }) });
  view.scrollDOM.tabIndex = 0;
  return () => view.destroy();
}

const FAULTS_MAX = 200;

/** Faults where they stand, by the check that publication makes. */
function diagnose({ state }: EditorView): readonly Diagnostic[] {
  const text = state.doc.toString();
  const faults = faultsOf(text);
  if (faults.length === 0) return [];
  const positions = positionsOf(text);
  return faults.slice(0, FAULTS_MAX).map((fault) => {
    const { pointer, message, kind } = fault;
    const { from, to } = isNotJson(fault) ? { from: positions.end, to: positions.end + 1 } : spanOf(positions, pointer);
    const start = Math.min(from, text.length);
    return { from: start, to: Math.max(start, Math.min(to, text.length)), severity: "error", message, source: kind };
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
    ...(color !== undefined && { color: color === "#a11" ? "var(--good)" : "var(--warn)" }),
  })),
);

/** Variables reach into a shadow root, so both themes are the page's. */
const LOOK = EditorView.theme({
  "&": {
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--edge)",
    borderRadius: "6px",
  },
  "&.cm-focused": { outline: "3px solid var(--accent)" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: "0.875rem", maxHeight: "60vh", overflow: "auto" },
  ".cm-scroller:focus-visible": { outline: "3px solid var(--accent)", outlineOffset: "-3px" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--soft)", border: "0" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 8%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 18%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "var(--accent-ground)" },
  ".cm-changedLine": { backgroundColor: "var(--good-ground)" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-ground)" },
  ".cm-changedText, .cm-deletedText": { background: "none", fontWeight: "700" },
  ".cm-collapsedLines": { background: "var(--raised)", color: "var(--text)" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", color: "var(--text)", border: "1px solid var(--edge)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-diagnostic": { fontFamily: "inherit" },
  ".cm-lintRange-error": { backgroundImage: "none", borderBottom: "2px solid var(--bad)" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)" },
  // The package's own are of light themes alone.
  ".cm-panels .cm-textfield": {
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--edge)",
  },
  ".cm-panels .cm-button": {
    backgroundImage: "none",
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--edge)",
  },
  ".cm-panels [name=close]": { color: "var(--text)" },
  ".cm-panels :focus-visible": { outline: "3px solid var(--accent)", outlineOffset: "1px" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-ground)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
});
