import { command, type Row } from "../../command.ts";
import { oneOf } from "../../lib/input.ts";
import { linesText } from "../../lib/output.ts";
import { EXIT } from "../../runtime.ts";
import { candidatesFor } from "./candidates.ts";
import { SCRIPTS, type Shell } from "./scripts.ts";

const SHELLS = Object.keys(SCRIPTS) as readonly Shell[];

const shell = oneOf(SHELLS, `Write one of ${SHELLS.join(", ")}.`);

export const completion = command({
  name: "completion",
  description: "print a script that completes commands, options and names in a shell",
  args: [["<shell>", SHELLS.join(", "), shell]],
  help: `
Examples:
  $ eval "$(waybill completion bash)"
  $ eval "$(waybill completion zsh)"
  $ waybill completion fish | source

The script asks the command for what may follow: commands, options, layouts, and the names of the table in the current folder.
It needs waybill as a command of the shell, such as by PATH="$PWD/node_modules/.bin:$PATH".`,
  run: async (runtime, [name = ""]) => {
    await runtime.print(SCRIPTS[shell(name)]);
    return EXIT.ok;
  },
});

/** For the scripts alone. The first line is the kind of what may follow. */
export const complete: Row = (parent, act) =>
  command({
    name: "complete",
    isHidden: true,
    description: "print what may follow the words of a command line",
    args: [["[word...]", "the words behind the command's name, behind --; the last one is being typed"]],
    run: async (runtime, words) => {
      const found = await candidatesFor(parent, words, runtime);
      const lines = found.kind === "words" ? found.words.map(([word, text]) => `${word}\t${text}`) : [];
      await runtime.print(linesText([found.kind, ...lines]));
      return EXIT.ok;
    },
  })(parent, act);
