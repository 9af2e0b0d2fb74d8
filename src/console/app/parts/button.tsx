import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { announcement } from "../announce.ts";
import { Icon, type IconName } from "./icons.tsx";

export interface ButtonProps {
  readonly kind?: "main" | "plain" | "quiet" | "danger" | "danger main";
  readonly icon?: IconName;
  readonly size?: "small" | "normal" | "tall";
  /** Without words: the icon alone, which then needs a `label`. */
  readonly label?: string;
  readonly children?: ComponentChildren;
  /** A link in place of a button. */
  readonly href?: string;
  readonly onClick?: () => void;
  readonly isSubmit?: boolean;
  readonly isPressed?: boolean;
  /** Why it cannot be used now. It stands beside the button, which keeps the focus and does nothing. */
  readonly disabledBecause?: string | undefined;
  /** It works, and cannot be pressed again. */
  readonly isBusy?: boolean;
  readonly isFirst?: boolean;
  readonly class?: string;
}

export function Button(props: ButtonProps) {
  const { kind = "plain", icon, size = "normal", label, children, href, disabledBecause, isBusy } = props;
  const id = useId();
  const classes = [
    "btn",
    kind === "plain" ? "" : kind,
    size === "normal" ? "" : size,
    children === undefined ? "square" : "",
    props.class ?? "",
  ].join(" ");
  const inner = (
    <>
      {icon && <Icon name={icon} />}
      {children}
    </>
  );
  if (href !== undefined && disabledBecause === undefined) {
    return (
      <a class={classes} href={href} aria-label={label}>
        {inner}
      </a>
    );
  }
  const isOff = disabledBecause !== undefined || isBusy === true;
  return (
    <>
      <button
        type={props.isSubmit ? "submit" : "button"}
        class={classes}
        aria-label={label}
        aria-pressed={props.isPressed}
        aria-disabled={isOff ? "true" : undefined}
        aria-describedby={disabledBecause ? id : undefined}
        {...(props.isFirst && { autofocus: true })}
        onClick={(event) => {
          if (isOff) event.preventDefault();
          else props.onClick?.();
        }}
      >
        {inner}
      </button>
      {disabledBecause && (
        <small class="reason" id={id}>
          {disabledBecause}
        </small>
      )}
    </>
  );
}

const COPIED_MS = 1_500;

/** `name`: the words on it; without them it is the icon alone. */
export function Copy({ text, label, name, ...rest }: { text: string; label: string; name?: string } & CopyLook) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => {
    void navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      announcement.value = `${label} copied`;
    });
  };
  return (
    <Button
      kind="quiet"
      size="small"
      {...rest}
      icon={isCopied ? "check" : "copy"}
      {...(name === undefined && { label: `Copy ${label}` })}
      onClick={copy}
    >
      {name !== undefined && isCopied ? "Copied" : name}
    </Button>
  );
}

type CopyLook = Pick<ButtonProps, "kind" | "size">;

interface Segment<Value extends string> {
  readonly value: Value;
  readonly text: ComponentChildren;
}

/** One of a few: a group of radio buttons. */
export function Segments<Value extends string>(props: {
  label: string;
  /** The label is on the page. */
  isLabelled?: boolean;
  value: Value;
  options: readonly (Segment<Value> | readonly [Value, string])[];
  onChange: (value: Value) => void;
}) {
  const id = useId();
  return (
    <>
      {props.isLabelled && (
        <span class="label" id={id}>
          {props.label}
        </span>
      )}
      <div
        class="seg"
        role="radiogroup"
        {...(props.isLabelled ? { "aria-labelledby": id } : { "aria-label": props.label })}
      >
        {props.options.map((option) => {
          const { value, text } = "value" in option ? option : { value: option[0], text: option[1] };
          return (
            <label key={value}>
              <input
                type="radio"
                name={id}
                value={value}
                checked={value === props.value}
                onChange={() => props.onChange(value)}
              />
              {text}
            </label>
          );
        })}
      </div>
    </>
  );
}
