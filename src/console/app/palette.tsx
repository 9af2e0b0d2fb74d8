import { computed, signal } from "@preact/signals";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { readPasted } from "../lookup/read-pasted.ts";
import { chosenOf } from "../lookup/reader.ts";
import { PAGES } from "./pages.ts";
import { Dialog } from "./parts.tsx";
import { goTo, type PageName } from "./router.ts";
import { reader, session, signOut } from "./session.ts";
import { textSize, theme } from "./settings.ts";
import { pastedText } from "./typed.ts";

/** One box for everything: an ID is looked up, a word finds a page or a command. Ctrl K, or a paste anywhere. */

export const isPaletteOpen = signal(false);
const typed = signal("");

interface Command {
  readonly name: string;
  run(): void;
}

const open = (page: PageName) => () => goTo(page);

const commands = computed((): readonly Command[] => [
  ...PAGES.filter(({ scopes }) => scopes === undefined || scopes.some((scope) => scope === session.value?.scope)).map(
    ({ name, title }) => ({ name: `Go to ${title}`, run: open(name) }),
  ),
  ...(["dark", "light", "system"] as const).map((value) => ({
    name: value === "system" ? "Theme of the system" : `${value === "dark" ? "Dark" : "Light"} theme`,
    run: () => {
      theme.value = value;
    },
  })),
  ...(["small", "normal", "large"] as const).map((value) => ({
    name: `Text size ${value}`,
    run: () => {
      textSize.value = value;
    },
  })),
  ...(session.value ? [{ name: "Sign out", run: () => void signOut() }] : []),
]);

function lookUp(text: string): void {
  pastedText.value = text;
  goTo("look-up", text.includes("\n") ? {} : { id: text });
}

/** Whether the text is rather an ID than the name of a command. */
const isLikeId = (text: string): boolean => /[0-9/]/.test(text) || text.length > 24;

export function Palette() {
  const [at, setAt] = useState(0);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  useEffect(() => document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" }), [at]);
  const text = typed.value.trim();
  const close = () => {
    isPaletteOpen.value = false;
    typed.value = "";
  };
  const [one] = text === "" ? [] : readPasted(text, reader.value).items;
  const reading = one && isLikeId(text) ? reader.value.read(one, Date.now()) : undefined;
  const chosen = reading && chosenOf(reading);
  const found = commands.value.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  const what = chosen === undefined ? "" : ` (${chosen.entity ?? chosen.layout})`;
  const choices: readonly Command[] = [
    ...(isLikeId(text) ? [{ name: `Look up ${text}${what}`, run: () => lookUp(text) }] : []),
    ...found,
  ];
  const run = (command: Command | undefined) => {
    close();
    command?.run();
  };
  const move = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.min(choices.length - 1, at + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (event.key === "Enter") run(choices[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Find" onClose={close} class="palette">
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="An ID, a page or a command"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={choices.length > 0 ? `${id}-${at}` : undefined}
        spellcheck={false}
        autocomplete="off"
        value={typed.value}
        placeholder="Paste an ID, or type a page"
        onInput={(event) => {
          typed.value = event.currentTarget.value;
          setAt(0);
        }}
        onKeyDown={move}
      />
      <div id={id} role="listbox" aria-label="Choices" class="choices">
        {choices.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the box above has the keys
          <div
            key={command.name}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => run(command)}
          >
            {command.name}
          </div>
        ))}
      </div>
      {choices.length === 0 && <p role="status">Nothing is called that.</p>}
    </Dialog>
  );
}

const isTextBox = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  (target.closest("input, textarea, select, dialog") !== null || target.shadowRoot !== null);

const PASTED_MAX = 2_000_000;

export function watchKeys(): void {
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      isPaletteOpen.value = !isPaletteOpen.value;
    }
  });
  addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain").slice(0, PASTED_MAX).trim() ?? "";
    if (text === "" || isTextBox(event.target)) return;
    event.preventDefault();
    lookUp(text);
  });
}
