import { Command, Help } from "commander";
import { group, type Row } from "./command.ts";

/** Commands whose code is loaded when they are run. Until then each is a name with a description. */

export type Load = () => Promise<Row>;

export interface Later {
  readonly name: string;
  /** Not in the help. */
  readonly isHidden?: boolean;
  readonly load: Load;
}

export interface LaterGroup {
  readonly name: string;
  readonly description: string;
  readonly commands: readonly Later[];
}

export type Entry = Later | LaterGroup;

/** How the help of its parent shows a command. */
export type Summary = readonly [term: string, description: string];

/** Ends a run whose words name a command that is not loaded yet. */
export class Unloaded extends Error {
  readonly load: Load;

  constructor(load: Load) {
    super("the command is not loaded");
    this.load = load;
  }
}

interface Placeholder extends Command {
  readonly term?: string;
  readonly load?: Load;
}

/** The name alone: to run the command or to show its help ends the run. */
const placeholder =
  ({ name, isHidden = false, load }: Later, [term, description]: Summary): Row =>
  (parent) => {
    const end = (): never => {
      throw new Unloaded(load);
    };
    const made = parent.command(name, { hidden: isHidden }).description(description);
    // Its own options, `--help` among them, are known when it is loaded.
    made.helpOption(false).allowUnknownOption().allowExcessArguments().action(end);
    Object.assign(made, { term, load, help: end });
  };

/** Rows of all entries. `summaries` are by the words of a command; `loaded` has those that are no placeholders. */
export const rowsOf = (
  entries: readonly Entry[],
  summaries: Readonly<Record<string, Summary>>,
  loaded: ReadonlyMap<Load, Row>,
): readonly Row[] => {
  const row = (entry: Later, ...groups: readonly string[]): Row =>
    loaded.get(entry.load) ?? placeholder(entry, summaries[[...groups, entry.name].join(" ")] ?? [entry.name, ""]);
  return entries.map((entry) =>
    "load" in entry
      ? row(entry)
      : group(
          entry.name,
          entry.description,
          entry.commands.map((each) => row(each, entry.name)),
        ),
  );
};

/** The term of a command in the help of its parent. */
export const termOf = (command: Command): string => (command as Placeholder).term ?? new Help().subcommandTerm(command);

/** The command itself, for a placeholder. */
export const whole = async (command: Command): Promise<Command> => {
  const { load } = command as Placeholder;
  if (load === undefined) return command;
  const parent = new Command();
  (await load())(parent, () => () => Promise.resolve());
  return parent.commands[0] ?? command;
};
