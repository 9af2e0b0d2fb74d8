import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";

interface DialogProps {
  readonly title: string;
  /** A sentence below the title. */
  readonly text?: ComponentChildren;
  readonly onClose: () => void;
  /** Its parts: each `section` has its room. */
  readonly children: ComponentChildren;
  readonly footer?: ComponentChildren;
  readonly isNarrow?: boolean;
  readonly class?: string;
}

/** A window above the page, from below on phones: the browser keeps the focus in it and closes it with Escape. */
export function Dialog(props: DialogProps) {
  const id = useId();
  return (
    <Modal
      labelledBy={id}
      class={`dialog ${props.isNarrow ? "narrow" : ""} ${props.class ?? ""}`}
      onClose={props.onClose}
    >
      <div class="dlg-head">
        <div>
          <h2 id={id}>{props.title}</h2>
          {props.text && <p>{props.text}</p>}
        </div>
        <Button kind="quiet" size="small" icon="cross" label="Close" onClick={props.onClose} />
      </div>
      <div class="body">{props.children}</div>
      {props.footer && <footer>{props.footer}</footer>}
    </Modal>
  );
}

/** A window without a form of its own. A click beside it closes it. */
export function Modal(props: {
  label?: string;
  labelledBy?: string;
  class: string;
  onClose: () => void;
  isClosedBeside?: boolean;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
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
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it too
    <dialog
      ref={dialog}
      class={props.class}
      aria-label={props.label}
      aria-labelledby={props.labelledBy}
      onClick={(event) => {
        if (props.isClosedBeside && event.target === dialog.current) props.onClose();
      }}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
    >
      {props.children}
    </dialog>
  );
}
