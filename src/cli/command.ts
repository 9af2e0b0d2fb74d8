import { type Command, Option } from "commander";
import type { Act, ExitCode, Runtime } from "./runtime.ts";

/** Adds a command, or a group of them, to its parent. */
export type Row = (parent: Command, act: Act) => void;

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
type Parse<Value> = (text: string, before: Value | undefined) => Value;

type Make<Given extends boolean> = <const Flags extends string, Value = ValueOf<Flags>>(
  flags: Flags,
  description: string,
  parse?: Parse<Value>,
) => TypedOption<Flags, Value, Given>;

const make: Make<boolean> = (flags, description, parse) => {
  const made = new Option(flags, description);
  return parse === undefined ? made : made.argParser(parse);
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
  readonly description: string;
  /** `parse` only checks: `run` gets the words. */
  readonly args?: readonly (readonly [name: string, description: string, parse?: (text: string) => unknown])[];
  readonly options?: Rows;
  /** Examples, notes and exit codes. */
  readonly help?: string;
  readonly run: (runtime: Runtime, args: readonly string[], options: OptionsOf<Rows>) => Promise<ExitCode>;
}

/** A command as a row: commander reads the words, and `run` gets what they say. */
export const command =
  <const Rows extends readonly Option[] = readonly []>({
    name,
    description,
    args = [],
    help = "",
    ...spec
  }: Spec<Rows>): Row =>
  (parent, act) => {
    const made = parent.command(name).description(description).addHelpText("after", help);
    for (const [spelling, text, parse = (word: string): unknown => word] of args) made.argument(spelling, text, parse);
    for (const each of spec.options ?? []) made.addOption(each);
    made.action(act<OptionsOf<Rows>>(spec.run));
  };

export const group =
  (name: string, description: string, rows: readonly Row[], help = ""): Row =>
  (parent, act) => {
    const made = parent.command(name).description(description).addHelpText("after", help);
    for (const row of rows) row(made, act);
  };
