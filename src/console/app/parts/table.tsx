import { type ComponentChildren, Fragment, type TdHTMLAttributes } from "preact";
import { Icon, type IconName } from "./icons.tsx";
import { regionClass } from "./region.tsx";

export interface Column {
  readonly name: string;
  /** Figures stand to the right. */
  readonly isNumber?: boolean;
  /** The name is for assistive technology alone, such as that of a column of buttons. */
  readonly isHidden?: boolean;
  /** A class for its head and its cells. */
  readonly class?: string;
  /** On a phone the cell says its value without the name. */
  readonly isPlain?: boolean;
}

export interface Row {
  readonly key: string | number;
  /** One for each column; the first is the head of the row. */
  readonly cells: readonly ComponentChildren[];
  readonly class?: string;
  readonly isSelected?: boolean;
  /** A row of its own below, over all columns. */
  readonly below?: ComponentChildren;
  readonly onClick?: () => void;
}

interface TableProps {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** Rows stay rows on a phone, and scroll. */
  readonly isWide?: boolean;
  readonly class?: string;
}

/** Rows below the names of their columns. On phones each row is a card, and each cell names its column. */
export function Table({ label, columns, rows, isWide, class: own = "" }: TableProps) {
  return (
    <Scroll label={label}>
      <table class={`tbl ${isWide ? "" : "cards"} ${own}`}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={classOf(column)}>
                {column.isHidden ? <span class="hidden">{column.name}</span> : column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Fragment key={row.key}>
              <RowOf row={row} columns={columns} />
              {row.below !== undefined && (
                <tr class={`sub ${row.class ?? ""}`}>
                  <td colSpan={columns.length}>{row.below}</td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const classOf = (column: Column): string => `${column.isNumber ? "num" : ""} ${column.class ?? ""}`.trim();

const RowOf = ({ row, columns }: { row: Row; columns: readonly Column[] }) => (
  <tr class={row.class} aria-selected={row.isSelected} onClick={row.onClick}>
    {columns.map((column, at) => {
      const shared: TdHTMLAttributes = { class: classOf(column) };
      const cell = row.cells[at];
      if (at === 0) {
        return (
          <th key={column.name} scope="row" {...shared}>
            {cell}
          </th>
        );
      }
      return (
        <td key={column.name} {...shared} data-l={column.isHidden || column.isPlain ? undefined : column.name}>
          {cell}
        </td>
      );
    })}
  </tr>
);

/** Wide content scrolls in itself, by keyboard too. */
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

/** A name and what it says, row by row. */
export const Facts = (props: {
  rows: readonly (readonly [string, ComponentChildren] | undefined)[];
  isRuled?: boolean;
}) => (
  <dl class={props.isRuled ? "facts ruled" : "facts"}>
    {props.rows.map(
      (row) =>
        row && (
          <Fragment key={row[0]}>
            <dt>{row[0]}</dt>
            <dd>{row[1]}</dd>
          </Fragment>
        ),
    )}
  </dl>
);

interface ShareProps {
  /** From 0 to 1. */
  readonly of: number;
  /** In words, such as `27.7 %`; it stands before the bar. */
  readonly text?: ComponentChildren;
  readonly region?: string;
  readonly mood?: "bad" | "warn";
}

/** A share as a bar. The figure stands beside it, since a bar alone says nothing to those who do not see it. */
export function Share({ of, text, region, mood }: ShareProps) {
  const width = Math.min(1, Math.max(0, of)) * 100;
  const own = region === undefined ? (mood ?? "") : regionClass(region);
  const bar = (
    <svg class={`bar ${own}`} viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="bg" width="100" height="6" />
      <rect class="fg" width={width} height="6" />
    </svg>
  );
  if (text === undefined) return bar;
  return (
    <span class="meter">
      <span class="num">{text}</span>
      {bar}
    </span>
  );
}

const RUNGS = {
  passed: ["miss", "cross"],
  took: ["hit", "good"],
  "not-reached": ["off", "none"],
  stopped: ["stop", "bad"],
} as const satisfies Readonly<Record<string, readonly [string, IconName]>>;

const RUNG_WORDS: Readonly<Record<keyof typeof RUNGS, string>> = {
  passed: "does not apply",
  took: "decides",
  "not-reached": "not reached",
  stopped: "stops here",
};

export interface Rung {
  readonly key: string | number;
  readonly is: keyof typeof RUNGS;
  readonly text: ComponentChildren;
  readonly small?: ComponentChildren;
  readonly aside?: ComponentChildren;
}

/** Rules in the order in which they are asked. */
export const Ladder = ({ rungs }: { rungs: readonly Rung[] }) => (
  <ol class="ladder">
    {rungs.map(({ key, is, text, small, aside }) => (
      <li key={key} class={RUNGS[is][0]}>
        <Icon name={RUNGS[is][1]} />
        <div>
          <p>
            <span class="hidden">{RUNG_WORDS[is]}: </span>
            {text}
          </p>
          {small && <small>{small}</small>}
        </div>
        {aside}
      </li>
    ))}
  </ol>
);

export interface Step {
  readonly key: string | number;
  readonly is: "done" | "now" | "later";
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** Steps one after the other. `isFlat`: in a window, without room at the left. */
export const Stepper = ({ steps, isFlat }: { steps: readonly Step[]; isFlat?: boolean }) => (
  <ol class={isFlat ? "stepper flat" : "stepper"}>
    {steps.map(({ key, is, title, children }, at) => (
      <li key={key} class={is === "later" ? undefined : is} aria-current={is === "now" ? "step" : undefined}>
        <span class="dot">{is === "done" ? <Icon name="check" /> : at + 1}</span>
        <h3>
          {is === "done" && <span class="hidden">Done: </span>}
          {title}
        </h3>
        {children}
      </li>
    ))}
  </ol>
);
