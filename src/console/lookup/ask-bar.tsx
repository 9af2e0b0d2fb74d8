import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../app/parts/button.tsx";
import { Check } from "../app/parts/fields.tsx";
import { Icon } from "../app/parts/icons.tsx";
import { session } from "../app/session.ts";
import { asksAtOnce } from "../app/settings.ts";
import { pastedText } from "../app/typed.ts";
import { plural } from "../app/words.ts";
import { PASTED_CHARACTERS_MAX, type PastedList } from "./read-pasted.ts";

/** The box that everything begins with. A list in it is named, and opens again to be edited. */

const LONG_PASTE = 10_000;
const ROWS_MAX = 6;

/** The file that the text came from. */
const fileName = signal<string | undefined>(undefined);
/** The reader of the page writes in the box now. */
const isEditing = signal(false);

export const focusBox = (): void => {
  isEditing.value = true;
  // The box may not be there before the next drawing.
  requestAnimationFrame(() => document.getElementById(BOX)?.focus());
};

const BOX = "pasted";

export function take(text: string, from?: string): void {
  fileName.value = from;
  pastedText.value = text.slice(0, PASTED_CHARACTERS_MAX);
  isEditing.value = false;
}

export function AskBar({ list }: { list: PastedList }) {
  const isList = list.items.length > 1 && !isEditing.value;
  return isList ? <ListBar list={list} /> : <Box />;
}

function Box() {
  const text = pastedText.value;
  const rows = Math.min(ROWS_MAX, text.split("\n", ROWS_MAX + 1).length);
  return (
    <search class="ask">
      <Icon name="look-up" />
      <textarea
        id={BOX}
        rows={rows}
        aria-label="ID, short key, URL, public ID, or a list"
        value={text}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        placeholder="Paste an ID, a URL or a list"
        onPaste={(event) => {
          const pasted = event.clipboardData?.getData("text/plain") ?? "";
          fileName.value = undefined;
          const isWhole = text === "" && pasted.includes("\n");
          if (pasted.length < LONG_PASTE && !isWhole) return;
          // To insert so much bit by bit takes a browser seconds.
          event.preventDefault();
          take(pasted);
        }}
        onInput={(event) => {
          isEditing.value = true;
          pastedText.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") isEditing.value = false;
        }}
      />
      {text !== "" && <Clear />}
      <OpenFile />
    </search>
  );
}

function ListBar({ list: { items, left, sheet } }: { list: PastedList }) {
  const column = sheet?.heading?.[sheet.column];
  const name = fileName.value;
  return (
    <div class="ask">
      <Icon name="layouts" />
      <p class="grow">
        <b>{plural(items.length, "ID")}</b>{" "}
        <span class="soft">
          {name !== undefined && `from ${name}`}
          {name !== undefined && column !== undefined && ", "}
          {column !== undefined && (
            <>
              column <code>{column}</code>
            </>
          )}
          {left > 0 && ` ${plural(left, "more ID")} were left out.`}
        </span>
      </p>
      <Button icon="pencil" size="small" onClick={focusBox}>
        Edit
      </Button>
      <Clear />
    </div>
  );
}

const Clear = () => (
  <Button
    kind="quiet"
    size="small"
    icon="cross"
    label="Clear"
    onClick={() => {
      take("");
      focusBox();
    }}
  />
);

function OpenFile() {
  const readFile = async (input: HTMLInputElement) => {
    const [file] = input.files ?? [];
    if (file !== undefined) take(await file.text(), file.name);
    // The same file again is another one.
    input.value = "";
  };
  return (
    <label class="btn small">
      <Icon name="file" />
      <span class="txt">Open a CSV</span>
      <input
        type="file"
        accept=".csv,.txt,text/csv,text/plain"
        class="hidden"
        onChange={(event) => void readFile(event.currentTarget)}
      />
    </label>
  );
}

/** Whether what is pasted is sent at once. Only where the reader said so. */
export const AskAtOnce = () =>
  session.value ? (
    <Check
      isOn={asksAtOnce.value}
      onChange={(isOn) => {
        asksAtOnce.value = isOn;
      }}
    >
      Ask the gateway at once
    </Check>
  ) : null;

/** Nothing is in the way of the first paste. */
export const useFocusOnce = (isEmpty: boolean): void =>
  useEffect(() => {
    // A phone would cover the page with its keys.
    const isTouched = matchMedia("(pointer: coarse)").matches;
    if (isEmpty && !isTouched && document.activeElement === document.body) document.getElementById(BOX)?.focus();
  }, []);
