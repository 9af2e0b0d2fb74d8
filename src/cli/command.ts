import { type Command, Option, type OptionValues } from "commander";
import type { Act, ExitCode, Runtime } from "./runtime.ts";

/** Adds a command, or a group of them, to its parent. */
export type Row = (parent: Command, act: Act) => void;

/** commander takes a word with a leading dash as an option. This character before it, of private use, makes it an argument. */
const MARK = "\u{e000}";

/** One dash and at least five more characters: no option is spelled so, and IDs are, such as every pushID. */
const DASHED = /^-[0-9A-Za-z_~][0-9A-Za-z_~-]{4,}$/;

/** The words of a command line, where those like an ID are arguments. */
export const markDashed = (words: readonly string[]): readonly string[] => {
  const end = words.indexOf("--");
  return words.map((word, at) => (DASHED.test(word) && (end === -1 || at < end) ? MARK + word : word));
};

const unmark = (word: string): string => (word.startsWith(MARK) ? word.slice(MARK.length) : word);

const takesIds = ({ registeredArguments }: Command): boolean =>
  registeredArguments.some((argument) => /^(?:id|key)$/.test(argument.name()));

const HOW = "An ID or a key that begins with a dash can stand behind --, which ends the options.\n";

/** The arguments and options as they were typed. A command that takes no IDs takes no dashed word either. */
export const asTyped = <Options extends OptionValues>(made: Command) => {
  const dashed = made.args.find((word) => word.startsWith(MARK));
  if (dashed !== undefined && !takesIds(made)) {
    made.error(`error: unknown option '${unmark(dashed)}'`, { code: "commander.unknownOption" });
  }
  const plain = (value: unknown): unknown =>
    typeof value === "string" ? unmark(value) : Array.isArray(value) ? value.map(plain) : value;
  const options = Object.entries(made.opts()).map(([name, value]) => [name, plain(value)]);
  return { args: made.args.map(unmark), options: Object.fromEntries(options) as Options };
};

/** An option that knows the type of its value. `Given`: it always has one, by a default or because it is required. */
export interface TypedOption<Flags extends string, Value, Given extends boolean> extends Option {
  readonly typed?: readonly [Flags, Value, Given];
}

type Camel<Text> = Text extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Text;
type LongName<Flags> = Flags extends `--no-${infer Name}`
  ? Name
  : Flags extends `--${infer Name} ${string}`
    ? Name
    : Flags extends `--${infer Name}`
      ? Name
      : never;
type ValueOf<Flags> = Flags extends `--no-${string}`
  ? false
  : Flags extends `${string}...>`
    ? readonly string[]
    : Flags extends `${string}>`
      ? string
      : boolean;

/** The values of options by their names in camel case, as commander gives them. */
export type OptionsOf<Rows extends readonly unknown[]> = {
  readonly [Row in Rows[number] as Row extends TypedOption<infer Flags, unknown, true>
    ? Camel<LongName<Flags>>
    : never]: Row extends TypedOption<string, infer Value, true> ? Value : never;
} & {
  readonly [Row in Rows[number] as Row extends TypedOption<infer Flags, unknown, false>
    ? Camel<LongName<Flags>>
    : never]?: Row extends TypedOption<string, infer Value, false> ? Value : never;
};

/** `before`: the value so far, where the option may be repeated. */
type Parse<Value> = ((text: string, before: Value | undefined) => Value) & Named;

/** Names that completion offers. */
type Named = { readonly names?: readonly string[] };

type Make<Given extends boolean> = <const Flags extends string, Value = ValueOf<Flags>>(
  flags: Flags,
  description: string,
  parse?: Parse<Value>,
) => TypedOption<Flags, Value, Given>;

const make: Make<boolean> = (flags, description, parse) => {
  const made = new Option(flags, description);
  if (parse === undefined) return made;
  made.argParser<never>((text, before) => parse(unmark(text), before) as never);
  return Object.assign(made, { names: parse.names });
};

export const option = make as Make<false>;

export const required = ((...parts) => make(...parts).makeOptionMandatory()) as Make<true>;

export const withDefault = <const Flags extends string, Value = ValueOf<Flags>>(
  flags: Flags,
  description: string,
  value: Value,
  parse?: Parse<Value>,
) => make(flags, description, parse).default(value) as TypedOption<Flags, Value, true>;

interface Spec<Rows extends readonly Option[]> {
  readonly name: string;
  /** Not in the help. */
  readonly isHidden?: boolean;
  readonly description: string;
  /** `parse` only checks: `run` gets the words. */
  readonly args?: readonly (readonly [
    name: string,
    description: string,
    parse?: ((text: string) => unknown) & Named,
  ])[];
  readonly options?: Rows;
  /** Whether options that it does not have are arguments, for another program. */
  readonly passesOptions?: boolean;
  /** Examples, notes and exit codes. */
  readonly help?: string;
  readonly run: (runtime: Runtime, args: readonly string[], options: OptionsOf<Rows>) => Promise<ExitCode>;
}

const plain: ((word: string) => unknown) & Named = (word) => word;

/** A command as a row: commander reads the words, and `run` gets what they say. */
export const command =
  <const Rows extends readonly Option[] = readonly []>({
    name,
    isHidden = false,
    description,
    args = [],
    help = "",
    ...spec
  }: Spec<Rows>): Row =>
  (parent, act) => {
    const made = parent.command(name, { hidden: isHidden }).description(description).addHelpText("after", help);
    for (const [spelling, text, parse = plain] of args) {
      const argument = made.createArgument(spelling, text).argParser((word: string) => parse(unmark(word)));
      made.addArgument(Object.assign(argument, { names: parse.names }));
    }
    if (takesIds(made)) {
      made.configureOutput({
        outputError: (error, write) => write(error.startsWith("error: unknown option") ? error + HOW : error),
      });
    }
    for (const each of spec.options ?? []) made.addOption(each);
    made.allowUnknownOption(spec.passesOptions === true);
    made.action(act<OptionsOf<Rows>>(spec.run));
  };

export const group =
  (name: string, description: string, rows: readonly Row[], help = ""): Row =>
  (parent, act) => {
    const made = parent.command(name).description(description).addHelpText("after", help);
    for (const row of rows) row(made, act);
  };
