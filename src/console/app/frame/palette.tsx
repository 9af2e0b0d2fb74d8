import { signal } from "@preact/signals";
import { Fragment } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { readPasted } from "../../lookup/read-pasted.ts";
import { chosenOf, type Reading } from "../../lookup/reader.ts";
import { tableDraft } from "../../routing/draft.ts";
import { gatewayNow } from "../clock.ts";
import { ownGroups } from "../pages.ts";
import { Modal } from "../parts/dialog.tsx";
import { Icon, type IconName } from "../parts/icons.tsx";
import { RegionChip } from "../parts/region.tsx";
import { goTo } from "../router.ts";
import { mayChange, mayView, reader, session, signOut } from "../session.ts";
import { textSize, theme } from "../settings.ts";
import { isHelpOpen, isPaletteOpen, isSigningIn } from "../windows.ts";
import { countryName } from "../words.ts";
import { lookUp } from "./keys.tsx";

/** One box for everything: an ID is looked up, a word finds a page or a command. */

interface Choice {
  readonly group: "ID" | "Pages" | "Commands";
  readonly name: string;
  readonly icon: IconName;
  readonly key?: string;
  readonly region?: string | undefined;
  readonly hint?: string;
  run(): void;
}

const pages = (): readonly Choice[] =>
  ownGroups.value.flatMap((group) =>
    group.pages.map(
      ({ name, title, icon, key }): Choice => ({ group: "Pages", name: title, icon, key, run: () => goTo(name) }),
    ),
  );

const command = (icon: IconName, name: string, run: () => void, hint = ""): Choice => ({
  group: "Commands",
  name,
  icon,
  run,
  hint,
});

const setTheme = (value: typeof theme.value) => () => {
  theme.value = value;
};

const setText = (value: typeof textSize.value) => () => {
  textSize.value = value;
};

const commands = (): readonly Choice[] => [
  ...(tableDraft.value ? [command("editor", "Go on with the draft", () => goTo("editor"))] : []),
  ...(mayChange.value ? [command("undo", "Roll back to another revision…", () => goTo("history"), "asks first")] : []),
  command("eye", "Dark theme", setTheme("dark")),
  command("eye", "Light theme", setTheme("light")),
  command("eye", "Theme of the system", setTheme("system")),
  command("eye", "Small text", setText("small")),
  command("eye", "Normal text", setText("normal")),
  command("eye", "Large text", setText("large")),
  command("info", "Keys", () => {
    isHelpOpen.value = true;
  }),
  ...(session.value
    ? [command("sign-out", "Sign out", () => void signOut())]
    : [
        command("sign-out", "Sign in", () => {
          isSigningIn.value = true;
        }),
      ]),
];

/** Whether the text is rather an ID than the name of a command. */
const isLikeId = (text: string): boolean => /[0-9/]/.test(text) || text.length > 24;

/** `this order of Kazakhstan`, or the text itself where it is not clear. */
function nameOf(text: string, reading: Reading): string {
  const chosen = chosenOf(reading);
  if (chosen === undefined) return text;
  const code = reader.value.country(chosen.fields["country"] ?? "");
  return `this ${chosen.entity ?? chosen.layout}${code === undefined ? "" : ` of ${countryName(code)}`}`;
}

function idChoices(text: string): readonly Choice[] {
  if (!isLikeId(text)) return [];
  const [one] = readPasted(text, reader.value).items;
  const reading = one && reader.value.read(one, gatewayNow());
  const name = reading === undefined ? text : nameOf(text, reading);
  const region = reading?.decision?.region;
  const look: Choice = { group: "ID", name: `Look up ${name}`, icon: "look-up", region, run: () => lookUp(text) };
  if (reading?.decision === undefined || !mayView.value) return [look];
  return [look, { group: "ID", name: `Move ${name}…`, icon: "moves", run: () => goTo("moves", { id: reading.text }) }];
}

/** All that a text finds, in the order in which it is shown. */
function choicesOf(typed: string): readonly Choice[] {
  const text = typed.trim();
  const sought = text.toLowerCase();
  const found = [...pages(), ...commands()].filter(({ name }) => name.toLowerCase().includes(sought));
  return [...idChoices(text), ...found];
}

const typed = signal("");

export function Palette() {
  const [at, setAt] = useState(0);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  useEffect(() => document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" }), [at]);
  const choices = choicesOf(typed.value);
  const close = () => {
    isPaletteOpen.value = false;
    typed.value = "";
  };
  const run = (choice: Choice | undefined) => {
    close();
    choice?.run();
  };
  const move = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.min(choices.length - 1, at + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (event.key === "Enter" && choices.length > 0) run(choices[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal label="Find" class="palette" onClose={close} isClosedBeside>
      <div class="ask">
        <Icon name="search" />
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
        <kbd>Esc</kbd>
      </div>
      <Found id={id} choices={choices} at={at} run={run} />
      <div class="hints">
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> choose
        </span>
        <span>
          <kbd>Enter</kbd> open
        </span>
        <span>Pasted text stays in this browser.</span>
      </div>
    </Modal>
  );
}

interface FoundProps {
  readonly id: string;
  readonly choices: readonly Choice[];
  readonly at: number;
  readonly run: (choice: Choice) => void;
}

const Found = ({ id, choices, at, run }: FoundProps) => (
  <>
    <div id={id} role="listbox" aria-label="Found" class="found">
      {(["ID", "Pages", "Commands"] as const).map((group) => {
        const own = choices.flatMap((choice, index) => (choice.group === group ? [{ choice, index }] : []));
        return own.length === 0 ? null : (
          // biome-ignore lint/a11y/useSemanticElements: options of a list box stand in groups (ARIA 1.2, listbox)
          <div key={group} role="group" aria-label={group}>
            <p aria-hidden="true">{group}</p>
            {own.map(({ choice, index }) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the box above has the keys
              <div
                key={choice.name}
                id={`${id}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === at}
                onClick={() => run(choice)}
              >
                <Icon name={choice.icon} />
                <span>{choice.name}</span>
                <Beside choice={choice} />
              </div>
            ))}
          </div>
        );
      })}
    </div>
    {choices.length === 0 && (
      <p class="none" role="status">
        Nothing is called that.
      </p>
    )}
  </>
);

function Beside({ choice: { region, key, hint } }: { choice: Choice }) {
  if (region !== undefined) {
    return (
      <span class="to">
        <Icon name="arrow" />
        <RegionChip name={region} />
      </span>
    );
  }
  if (key !== undefined) {
    return (
      <span aria-hidden="true">
        <kbd>G {key}</kbd>
      </span>
    );
  }
  return hint ? <span class="faint">{hint}</span> : <Fragment />;
}
