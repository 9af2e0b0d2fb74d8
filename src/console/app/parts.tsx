import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RegionHealth, RegionState } from "../../formats/region-state.ts";
import { announcement } from "./announce.ts";
import type { Problem } from "./api.ts";
import { download } from "./download.ts";

/** Small parts of pages that are not yet made of those in `parts/`. */

export { announcement, download };

export function ProblemBox({ problem, onRetry }: { problem: Problem; onRetry?: () => void }) {
  return (
    <div class="box bad" role="alert">
      <strong>{problem.title}</strong>
      {problem.detail !== "" && <p>{problem.detail}</p>}
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

export const Busy = ({ what }: { what: string }) => (
  <p class="busy" role="status">
    {what}…
  </p>
);

export function Panel(props: {
  title: string;
  children: ComponentChildren;
  class?: string;
  aside?: ComponentChildren;
}) {
  const id = useId();
  return (
    <section class={`panel ${props.class ?? ""}`} aria-labelledby={id}>
      <div class="head">
        <h2 id={id}>{props.title}</h2>
        {props.aside}
      </div>
      {props.children}
    </section>
  );
}

export type Mood = "good" | "warn" | "bad" | "plain";

export const Badge = ({ mood = "plain", children }: { mood?: Mood; children: ComponentChildren }) => (
  <span class={`badge ${mood}`}>{children}</span>
);

const STATES: Readonly<Record<RegionState, readonly [mood: Mood, word: string]>> = {
  healthy: ["good", "Healthy"],
  testing: ["warn", "Testing"],
  degraded: ["warn", "Degraded"],
  down: ["bad", "Down"],
  "not-asked": ["plain", "Not asked"],
};

/** How a region is, and what that is based on. */
export function Health({ of }: { of: RegionHealth | undefined }) {
  const [mood, word] = STATES[of?.state ?? "not-asked"];
  return of === undefined ? null : (
    <>
      <Badge mood={mood}>{word}</Badge> <small>{of.basis}</small>
    </>
  );
}

/** A name and what it says, row by row. */
export const Facts = ({ rows }: { rows: readonly (readonly [string, ComponentChildren] | undefined)[] }) => (
  <dl class="facts">
    {rows.map(
      (row) =>
        row && (
          <div key={row[0]}>
            <dt>{row[0]}</dt>
            <dd>{row[1]}</dd>
          </div>
        ),
    )}
  </dl>
);

export function CopyButton({ text, label, name = "Copy" }: { text: string; label: string; name?: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => {
    void navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      announcement.value = `${label} copied`;
    });
  };
  return (
    <button type="button" class="small" onClick={copy} aria-label={name === "Copy" ? `Copy ${label}` : name}>
      {isCopied ? "Copied" : name}
    </button>
  );
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: "text" | "password" | "number" | "date";
  readonly min?: number;
  readonly max?: number;
  readonly isRequired?: boolean;
  readonly autocomplete?: "off" | "current-password";
  /** In a window: it has the focus when the window opens. */
  readonly isFirst?: boolean;
}

export function Field({
  label,
  hint,
  value,
  onInput,
  type = "text",
  isRequired,
  autocomplete = "off",
  min,
  max,
  isFirst,
}: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...(min !== undefined && { min })}
        {...(max !== undefined && { max })}
        // The window's own place for it (HTML, dialog focusing steps): else its first button would have it.
        {...(isFirst && { autofocus: true })}
        id={id}
        // The types of Preact tell inputs apart by one fixed type each.
        type={type as "text"}
        value={value}
        autocomplete={autocomplete}
        required={isRequired === true}
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
        {...(hint && { "aria-describedby": `${id}-hint` })}
      />
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export function Choice<Value extends string>(props: {
  label: string;
  value: Value;
  options: readonly (readonly [Value, string])[];
  onChange: (value: Value) => void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <select id={id} value={props.value} onChange={(event) => props.onChange(event.currentTarget.value as Value)}>
        {props.options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A window above the page: the browser keeps the focus in it and closes it with Escape. */
export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren; class?: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next key: what is typed at once must arrive in the window.
  useLayoutEffect(() => {
    const own = dialog.current;
    const before = document.activeElement;
    if (own && !own.open) own.showModal();
    return () => {
      own?.close();
      // The browser gives the focus back only of a window that is still in the page.
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={props.class ?? ""}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
    >
      <div class="head">
        <h2 id={id}>{props.title}</h2>
        <button type="button" class="small" onClick={props.onClose}>
          Close
        </button>
      </div>
      {props.children}
    </dialog>
  );
}

/** A wide table scrolls in itself, by keyboard too. */
export const Scroll = (props: {
  label: string;
  children: ComponentChildren;
  class?: string;
  onScroll?: (top: number) => void;
}) => (
  <section
    class={`scroll ${props.class ?? ""}`}
    aria-label={props.label}
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard (WCAG 2.1.1)
    tabIndex={0}
    onScroll={(event) => props.onScroll?.(event.currentTarget.scrollTop)}
  >
    {props.children}
  </section>
);

type Column = string | { readonly number: string };

/** Rows below the names of their columns; those of numbers stand to the right. */
export const Table = ({
  label,
  columns,
  children,
  class: own = "",
}: {
  label: string;
  class?: string;
  columns: readonly Column[];
  children: ComponentChildren;
}) => (
  <Scroll label={label} class={own}>
    <table>
      <thead>
        <tr>
          {columns.map((column) => {
            const name = typeof column === "string" ? column : column.number;
            return (
              <th key={name} scope="col" class={name === column ? undefined : "number"}>
                {name}
              </th>
            );
          })}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </Scroll>
);
