import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Problem } from "../api.ts";
import { Button } from "./button.tsx";
import { Icon, type IconName } from "./icons.tsx";

interface SheetProps {
  readonly title: string;
  /** At the right of the title: a word, a link, buttons. */
  readonly aside?: ComponentChildren;
  readonly footer?: ComponentChildren;
  /** The content has room around it; a table or a list reaches the edges without it. */
  readonly isIn?: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A card with its header. */
export function Sheet({ title, aside, footer, isIn, class: own = "", children }: SheetProps) {
  const id = useId();
  return (
    <section class={`sheet ${own}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {isIn ? <div class="in">{children}</div> : children}
      {footer && <footer>{footer}</footer>}
    </section>
  );
}

/** The title of a page, a sentence below it, and its actions. */
export const PageHead = (props: { title: string; text?: ComponentChildren; children?: ComponentChildren }) => (
  <div class="head">
    <div>
      <h1>{props.title}</h1>
      {props.text && <p>{props.text}</p>}
    </div>
    {props.children && <div class="row">{props.children}</div>}
  </div>
);

const NOTES = {
  know: ["", "info"],
  done: ["good", "good"],
  first: ["warn", "warn"],
  bad: ["bad", "bad"],
} as const satisfies Readonly<Record<string, readonly [string, IconName]>>;

interface NoteProps {
  /** To know, done or kept, to look at first, or what happened. */
  readonly kind: keyof typeof NOTES;
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
  /** Below the text. */
  readonly actions?: ComponentChildren;
  /** One action at the right. */
  readonly aside?: ComponentChildren;
  /** It is said at once. */
  readonly isAlert?: boolean;
  /** It stands on the page itself, in no sheet: its title is one of the second level. */
  readonly isTop?: boolean;
}

export function Note({ kind, title, children, actions, aside, isAlert, isTop }: NoteProps) {
  const [mood, icon] = NOTES[kind];
  const Title = isTop ? "h2" : "h3";
  return (
    <div class={`note ${mood}`} role={isAlert ? "alert" : undefined}>
      <Icon name={icon} />
      <div>
        <Title>{title}</Title>
        {children && <p>{children}</p>}
      </div>
      {aside}
      {actions && <div class="row">{actions}</div>}
    </div>
  );
}

/** A problem in the gateway's words. `still`: the things that hold all the same. */
export const ProblemNote = (props: { problem: Problem; still?: string; onRetry?: () => void; isTop?: boolean }) => (
  <Note
    kind="bad"
    {...(props.isTop && { isTop: true })}
    isAlert
    title={props.problem.title}
    aside={
      props.onRetry && (
        <Button size="small" onClick={props.onRetry}>
          Try again
        </Button>
      )
    }
  >
    {[props.problem.detail, props.still].filter((text) => text).join(" ")}
  </Note>
);

/** Requests fail now. */
export const Alarm = (props: { title: string; children?: ComponentChildren; actions?: ComponentChildren }) => (
  <div class="alarm" role="alert">
    <Icon name="bad" />
    <div>
      <h2>{props.title}</h2>
      {props.children}
    </div>
    {props.actions && <div class="row">{props.actions}</div>}
  </div>
);

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
}

/** Nothing is there: why, and what to do. */
export const Empty = ({ icon, title, children, actions }: EmptyProps) => (
  <div class="empty">
    <Icon name={icon} />
    <h3>{title}</h3>
    {children && <p>{children}</p>}
    {actions && <div class="row">{actions}</div>}
  </div>
);

/** In place of what is asked for. `label`: such as `Loading the regions`. */
export const Skeleton = ({ label, lines = 4 }: { label: string; lines?: number }) => (
  <div class="in pile small" role="status" aria-label={label}>
    {Array.from({ length: lines }, (_, at) => (
      <span key={at} class={`skel ${["a", "b", "c", "b"][at % 4]}`} />
    ))}
  </div>
);
