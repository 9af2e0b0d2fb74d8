import { run } from "../../src/cli/program.ts";
import type { Runtime } from "../../src/cli/runtime.ts";

/** The blocks of docs/reference/cli.md that come from `--help`. The block `common` has what commands share. Examples are omitted. */

interface Help {
  readonly usage: string;
  readonly description: string;
  /** Arguments and options with their descriptions. */
  readonly entries: readonly Entry[];
  readonly commands: readonly string[];
  /** The lines after the examples. */
  readonly notes: readonly string[];
}

interface Entry {
  readonly name: string;
  readonly text: string;
}

const COMMON_FROM = 2;

/** Commands listed twice. */
const TWICE = new Set(["explain", "mint"]);

/** Rewrites each block after `<!--help:…-->`. Throws if a command has no block. */
export async function cliPage(page: string): Promise<string> {
  const helps = await helpsBelow([]);
  const common = commonOf([...helps.values()]);
  // Groups contain only a list of their commands.
  const reported = [...helps].filter(([, { commands, notes }]) => commands.length === 0 || notes.length > 0);
  const blocks = new Map(reported.map(([name, help]) => [name, blockOf(help, common)]));
  blocks.set("common", [...columns(common.entries), ...common.notes].join("\n"));
  const missing = new Set(blocks.keys());
  const written = page.replace(/(<!--help:(\S+)-->\n```text\n)[\s\S]*?(?=```)/g, (_, head, name) => {
    missing.delete(name);
    return `${head}${blocks.get(name) ?? "no such command"}\n`;
  });
  if (missing.size > 0) throw new Error(`no block <!--help:${[...missing].join(", ")}--> in the page`);
  return written;
}

/** By the words of each command. The commands that are also under `id` appear once. */
async function helpsBelow(words: readonly string[]): Promise<ReadonlyMap<string, Help>> {
  const help = parse(await helpText(words));
  const helps = new Map([[words.length === 0 ? "waybill" : words.join("-"), help]]);
  for (const name of help.commands) {
    if (words[0] === "id" && TWICE.has(name)) continue;
    for (const [below, found] of await helpsBelow([...words, name])) helps.set(below, found);
  }
  return helps;
}

/** On lines as wide as needed, so that each entry is one line. */
async function helpText(words: readonly string[]): Promise<string> {
  let text = "";
  const print = async (part: string): Promise<void> => {
    text += part;
  };
  const columns = Number.MAX_SAFE_INTEGER;
  await run([...words, "--help"], { version: "", columns, print, report: () => undefined } as unknown as Runtime);
  return text;
}

function parse(text: string): Help {
  const [usage = "", description = "", ...sections] = text.trimEnd().split("\n\n");
  const entriesOf = (title: string): readonly Entry[] =>
    (sections.find((section) => section.startsWith(`${title}:\n`)) ?? "").split("\n").slice(1).map(entryOf);
  const notes = sections.filter((section) => !/^(?:Arguments|Options|Commands|Examples):\n/.test(section)).join("\n");
  return {
    usage: usage.replace("Usage: ", "").replace(" [options]", ""),
    description,
    entries: [...entriesOf("Arguments"), ...entriesOf("Options")].filter(({ name }) => name !== "-h, --help"),
    commands: entriesOf("Commands")
      .flatMap(({ name }) => name.split(" ").slice(0, 1))
      .filter((name) => name !== "help"),
    // The common block has the exit codes.
    notes: notes
      .replace(/(?<![^ \n])Exit code: [\s\S]*$/, "")
      .split("\n")
      .filter((line) => line !== ""),
  };
}

const entryOf = (line: string): Entry => {
  const [name = "", text = ""] = line.trim().split(/ {2,}(.*)/);
  return { name, text };
};

interface Common {
  readonly entries: readonly Entry[];
  readonly notes: ReadonlySet<string>;
}

/** The most frequent text of each option, so that a common name has one meaning. */
function commonOf(helps: readonly Help[]): Common {
  const entries = counted(helps.flatMap((help) => help.entries.map(({ name, text }) => `${name}\n${text}`)))
    .map((key) => ({ name: key.split("\n")[0] ?? "", text: key.split("\n")[1] ?? "" }))
    .filter(({ name }, at, all) => at === all.findIndex((other) => other.name === name));
  return { entries, notes: new Set(counted(helps.flatMap(({ notes }) => notes))) };
}

/** Keys that appear often enough, the most frequent first. */
function counted(keys: readonly string[]): readonly string[] {
  const times = new Map<string, number>();
  for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1);
  const common = [...times].filter(([, count]) => count >= COMMON_FROM);
  return common.toSorted(([, one], [, other]) => other - one).map(([key]) => key);
}

function blockOf({ usage, description, entries, notes }: Help, common: Common): string {
  const isCommon = ({ name, text }: Entry): boolean =>
    common.entries.some((entry) => entry.name === name && entry.text === text);
  const shared = entries.filter(isCommon).map(({ name }) => name.split(" ")[0]);
  return [
    usage,
    `  ${description}`,
    ...columns(entries.filter((entry) => !isCommon(entry))),
    ...(shared.length === 0 ? [] : [`  common: ${shared.join(" ")}`]),
    ...notes.filter((note) => !common.notes.has(note)),
  ].join("\n");
}

function columns(entries: readonly Entry[]): readonly string[] {
  const width = Math.max(...entries.map(({ name }) => name.length));
  return entries.map(({ name, text }) => `  ${name.padEnd(width)}  ${text}`);
}
