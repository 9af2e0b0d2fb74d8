import type { Argument, Command, Option } from "commander";
import { everyLayout } from "../../../ids/index.ts";
import { parseJson, plainJson } from "../../../routing/schema/json-scanner.ts";
import { whole } from "../../lazy.ts";
import { TABLE_FILE_DEFAULT } from "../../lib/input.ts";
import { objectOf } from "../../lib/json-values.ts";
import type { Runtime } from "../../runtime.ts";

/** Possible next words: names with a description each, or the shell's own files or folders. */

export type Candidates =
  | { readonly kind: "files" | "folders" }
  | { readonly kind: "words"; readonly words: readonly Candidate[] };

type Candidate = readonly [word: string, description: string];

type Table = Readonly<Record<string, unknown>>;

/** A larger table would keep the shell waiting. */
const TABLE_BYTES_SHOWN_MAX = 1_000_000;

/** `words`: those behind the program's name; the last one is being typed, and may be empty. */
export const candidatesFor = async (
  program: Command,
  words: readonly string[],
  runtime: Runtime,
): Promise<Candidates> => {
  const typed = words.at(-1) ?? "";
  const read = await readWords(program, words.slice(0, -1));
  const table = () => openTable(read.values.get("--table"), runtime);
  const fitting = (found: Candidates, before = ""): Candidates => {
    if (found.kind !== "words") return found;
    const whole = found.words.map(([word, text]) => [before + word, text] as const);
    return { kind: "words", words: whole.filter(([word]) => word.startsWith(typed)) };
  };
  if (read.awaiting !== undefined) return fitting(valuesOf(read.awaiting, table));
  const [, long, sign] = /^(--[^=]+)(=)/.exec(typed) ?? [];
  if (sign !== undefined && !read.isEnded) {
    const option = takingValue(read.command, long);
    return option === undefined ? NOTHING : fitting(valuesOf(option, table), `${long}=`);
  }
  if (typed.startsWith("-") && !read.isEnded) return fitting(optionsOf(read.command));
  if (read.isHelp || (read.position === 0 && read.command.commands.length > 0))
    return fitting(commandsOf(read.command));
  const args = read.command.registeredArguments;
  const argument = args[read.position] ?? (args.at(-1)?.variadic ? args.at(-1) : undefined);
  return argument === undefined ? NOTHING : fitting(valuesOf(argument, table));
};

const NOTHING: Candidates = { kind: "words", words: [] };

/** Reads the finished words as commander does. `awaiting`: an option whose value comes next. */
const readWords = async (program: Command, words: readonly string[]) => {
  let command = program;
  let position = 0;
  let isEnded = false;
  let awaiting: Option | undefined;
  const values = new Map<string, string>();
  for (const word of words) {
    if (awaiting !== undefined && takesWord(awaiting, word)) {
      values.set(awaiting.long ?? "", word);
      awaiting = undefined;
      continue;
    }
    awaiting = undefined;
    const [, long = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    const option = isEnded ? undefined : takingValue(command, long);
    const below = commandIn(command, position, word);
    if (isEnded) position++;
    else if (word === "--") isEnded = true;
    else if (option !== undefined && value !== undefined) values.set(long, value);
    else if (option !== undefined) awaiting = option;
    else if (below !== undefined) command = await whole(below);
    else if (isOperand(word)) position++;
  }
  const isHelp = words[0] === "help";
  return { command, position, isEnded, isHelp, awaiting: awaiting?.required ? awaiting : undefined, values };
};

const takesWord = ({ required }: Option, word: string): boolean => required || !word.startsWith("-");

/** A single dash is a file: stdin. */
const isOperand = (word: string): boolean => !word.startsWith("-") || word === "-";

const commandIn = ({ commands }: Command, position: number, word: string): Command | undefined =>
  position === 0 ? commands.find((each) => each.name() === word) : undefined;

const takingValue = ({ options }: Command, long: string | undefined): Option | undefined =>
  options.find((option) => option.long === long && (option.required || option.optional));

const shown = (each: Command): boolean => (each as unknown as { readonly _hidden?: boolean })._hidden !== true;

const commandsOf = ({ commands }: Command): Candidates => ({
  kind: "words",
  words: commands.filter(shown).map((each) => [each.name(), each.description()]),
});

const optionsOf = (command: Command): Candidates => ({
  kind: "words",
  words: [
    ...command.options.map((option) => [option.long ?? option.flags, option.description] as const),
    ["--help", "print this help"],
  ],
});

const FILES = /^(?:file|table|openapi|examples|ranges|log|before|after|source)$/;
const FOLDERS = /^(?:folder|build)$/;

/** The values of an option or an argument: those that its parser names, those of its kind, or paths. */
const valuesOf = (slot: Option | Argument, table: () => Table): Candidates => {
  const { argChoices, names = argChoices } = slot as (Option | Argument) & { readonly names?: readonly string[] };
  if (names !== undefined) return wordsOf(names);
  const isOption = "flags" in slot;
  const label = isOption ? (/[<[]([^>\].]+)/.exec(slot.flags)?.[1] ?? "") : slot.name();
  const named = NAMES[isOption ? `--${slot.name()}` : label] ?? NAMES[label];
  if (named !== undefined) return wordsOf(named(table()));
  if (FILES.test(label)) return { kind: "files" };
  return FOLDERS.test(label) ? { kind: "folders" } : NOTHING;
};

/** bash puts a word into the line as it is: an unchecked table's name must mean nothing to a shell. Names of a right table do not. */
const PLAIN = /^[\w./:,@%+-]+$/;

const wordsOf = (names: readonly string[]): Candidates => ({
  kind: "words",
  words: names.filter((name) => PLAIN.test(name)).map((name) => [name, ""]),
});

const keysOf =
  (part: string) =>
  (table: Table): readonly string[] =>
    Object.keys(objectOf(table[part]) ?? {});

const layoutNames = (table: Table): readonly string[] => [
  ...new Set([...everyLayout.map(({ name }) => name), ...keysOf("layouts")(table)]),
];

const routePointers = ({ routes }: Table): readonly string[] =>
  Array.isArray(routes) ? routes.map((_, index) => `/routes/${index}`) : [];

/** By the option, or by the name of the value or argument. */
const NAMES: Readonly<Record<string, (table: Table) => readonly string[]>> = {
  layout: layoutNames,
  "--layout": layoutNames,
  spelling: layoutNames,
  "--entity": keysOf("entities"),
  "--region": keysOf("regions"),
  region: keysOf("regions"),
  "--country": keysOf("countries"),
  directory: keysOf("directory"),
  route: routePointers,
};

/** The table's text, unchecked: it may be in the middle of an edit. */
const openTable = (path = TABLE_FILE_DEFAULT, { readFile, fileExists }: Runtime): Table => {
  const file = fileExists(path) ? readFile(path) : undefined;
  if (file?.ok !== true || file.value.length > TABLE_BYTES_SHOWN_MAX) return {};
  return objectOf(parseJson(plainJson(new TextDecoder().decode(file.value)))) ?? {};
};
