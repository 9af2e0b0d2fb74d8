import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Icon } from "./icons.tsx";

interface FieldProps {
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  /** The fault and its remedy. */
  readonly fault?: ComponentChildren;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: "text" | "password" | "number" | "date" | "datetime-local" | "search";
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly isTall?: boolean;
  /** Several lines. */
  readonly isLong?: boolean;
  readonly isReadOnly?: boolean;
  readonly autocomplete?: "off" | "current-password";
  /** In a window: it has the focus when the window opens. */
  readonly isFirst?: boolean;
}

export function Field(props: FieldProps) {
  const id = useId();
  const about = [props.hint ? `${id}-hint` : "", props.fault ? `${id}-fault` : ""].join(" ").trim();
  const shared = {
    id,
    class: props.isTall ? "input tall" : "input",
    value: props.value,
    required: props.isRequired === true,
    readOnly: props.isReadOnly === true,
    spellcheck: false,
    "aria-invalid": props.fault ? ("true" as const) : undefined,
    "aria-describedby": about === "" ? undefined : about,
    placeholder: props.placeholder,
    // The window's own place for it (HTML, dialog focusing steps): else its first button would have it.
    ...(props.isFirst && { autofocus: true }),
  };
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.isLong ? (
        <textarea {...shared} onInput={(event) => props.onInput(event.currentTarget.value)} />
      ) : (
        <input
          {...shared}
          {...(props.min !== undefined && { min: props.min })}
          {...(props.max !== undefined && { max: props.max })}
          {...(props.step !== undefined && { step: props.step })}
          // The types of Preact tell inputs apart by one fixed type each.
          type={(props.type ?? "text") as "text"}
          autocomplete={props.autocomplete ?? "off"}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
      )}
      {props.hint && <small id={`${id}-hint`}>{props.hint}</small>}
      {props.fault && (
        <small class="fault" id={`${id}-fault`} role="alert">
          <Icon name="bad" /> {props.fault}
        </small>
      )}
    </div>
  );
}

/** A field that filters what stands below it: its place says what it is for, and its label is for assistive technology. */
export const Search = ({
  label,
  placeholder = label,
  ...rest
}: {
  label: string;
  placeholder?: string;
  value: string;
  onInput: (value: string) => void;
}) => <Field {...rest} label={<span class="hidden">{label}</span>} type="search" placeholder={placeholder} />;

/** One of many, as a list that opens. */
export function Choice<Value extends string>(props: {
  label: string;
  hint?: string;
  value: Value;
  options: readonly (readonly [Value, string])[];
  onChange: (value: Value) => void;
  /** The label is for assistive technology alone. */
  isBare?: boolean;
}) {
  const id = useId();
  const select = (
    <select
      id={id}
      class={props.isBare ? "input auto" : "input"}
      aria-label={props.isBare ? props.label : undefined}
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value as Value)}
    >
      {props.options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
  if (props.isBare) return select;
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {select}
      {props.hint && <small>{props.hint}</small>}
    </div>
  );
}

/** A box to tick, or with `group` one of several. */
export function Check(props: {
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  children: ComponentChildren;
  hint?: ComponentChildren;
  group?: string;
  isOff?: boolean;
}) {
  return (
    <label class={props.isOff ? "check off" : "check"}>
      <input
        type={props.group === undefined ? "checkbox" : "radio"}
        name={props.group}
        checked={props.isOn}
        disabled={props.isOff === true}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <span>
        {props.children}
        {props.hint && <small>{props.hint}</small>}
      </span>
    </label>
  );
}

export interface GuardBox {
  readonly text: ComponentChildren;
  readonly hint?: ComponentChildren;
}

/** Boxes to tick before a step: it opens with the last one. */
export const Guard = (props: {
  label: string;
  boxes: readonly GuardBox[];
  /** By the place of the box. */
  ticked: ReadonlySet<number>;
  onChange: (ticked: ReadonlySet<number>) => void;
}) => (
  <fieldset class="guard">
    <legend class="hidden">{props.label}</legend>
    {props.boxes.map(({ text, hint }, at) => (
      <Check
        key={at}
        isOn={props.ticked.has(at)}
        {...(hint !== undefined && { hint })}
        onChange={(isOn) => {
          const others = [...props.ticked].filter((each) => each !== at);
          props.onChange(new Set(isOn ? [...others, at] : others));
        }}
      >
        {text}
      </Check>
    ))}
  </fieldset>
);
