import { ownGroups } from "../pages.ts";
import { Dialog } from "../parts/dialog.tsx";
import { goTo } from "../router.ts";
import { pastedText } from "../typed.ts";
import { isHelpOpen, isPaletteOpen } from "../windows.ts";

/** Keys that hold on every page, and their help. */

export function lookUp(text: string): void {
  pastedText.value = text;
  goTo("look-up", text.includes("\n") ? {} : { id: text });
}

const PASTED_MAX = 2_000_000;

/** How soon the letter of a page follows the G. */
const SECOND_KEY_MS = 1_500;

export function watchKeys(): void {
  let goneAtMs = 0;
  addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, timeStamp } = event;
    if ((ctrlKey || metaKey) && key.toLowerCase() === "k") {
      event.preventDefault();
      isPaletteOpen.value = !isPaletteOpen.value;
      return;
    }
    if (ctrlKey || metaKey || altKey || isTextBox(event.target)) return;
    if (key === "?") isHelpOpen.value = true;
    const page = timeStamp - goneAtMs < SECOND_KEY_MS ? pageOfKey(key) : undefined;
    goneAtMs = key.toLowerCase() === "g" ? timeStamp : 0;
    if (page !== undefined) goTo(page.name);
  });
  addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain").slice(0, PASTED_MAX).trim() ?? "";
    if (text === "" || isTextBox(event.target)) return;
    event.preventDefault();
    lookUp(text);
  });
}

const isTextBox = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  (target.closest("input, textarea, select, dialog, [contenteditable]") !== null || target.shadowRoot !== null);

const ownPages = () => ownGroups.value.flatMap(({ pages }) => pages);

const pageOfKey = (key: string) => ownPages().find((page) => page.key === key.toUpperCase());

export const KeysHelp = () => (
  <Dialog
    title="Keys"
    text="They hold outside of text boxes, on every page."
    isNarrow
    onClose={() => {
      isHelpOpen.value = false;
    }}
  >
    <section>
      <dl class="facts keys">
        <dt>
          <kbd>Ctrl K</kbd>
        </dt>
        <dd>Find a page, a command or an ID</dd>
        <dt>
          <kbd>Ctrl V</kbd>
        </dt>
        <dd>Look up the ID, URL or list that was copied</dd>
        {ownPages().map(({ name, title, key }) => (
          <>
            <dt key={name}>
              <kbd>G</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{title}</dd>
          </>
        ))}
        <dt>
          <kbd>Esc</kbd>
        </dt>
        <dd>Close what is open</dd>
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>These keys</dd>
      </dl>
    </section>
  </Dialog>
);
