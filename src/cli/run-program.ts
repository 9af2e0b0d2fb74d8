import { Command, CommanderError, type OutputConfiguration } from "commander";
import { asTyped, markDashed } from "./command.ts";
import { tinted } from "./lib/output.ts";
import { type Act, EXIT, type Runtime, Stop } from "./runtime.ts";

/** Runs a program of commander on a runtime: its exit code, its output, and the errors that end it. */
export async function runProgram(
  args: readonly string[],
  runtime: Runtime,
  build: (program: Command, act: Act) => Command,
): Promise<number> {
  let exitCode = 0;
  const act: Act = (action) =>
    async function (this: Command) {
      const { args: typed, options } = asTyped<Parameters<typeof action>[2]>(this);
      exitCode = await action(runtime, typed, options);
    };
  const base = new Command()
    .version(runtime.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .exitOverride()
    .configureOutput(outputOf(runtime))
    .showHelpAfterError("Run the command with --help for its usage.");
  const program = build(base, act);
  try {
    await program.parseAsync(markDashed(args), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError && error.code === "commander.excessArguments") {
      runtime.report(hintOfNpm(args, program, runtime));
    }
    if (error instanceof CommanderError) return error.exitCode === EXIT.ok ? EXIT.ok : EXIT.usage;
    if (error instanceof Stop) {
      if (error.data !== "") await runtime.print(tinted(error.data, runtime.paint));
      runtime.report(error.message);
      return error.code;
    }
    throw error;
  }
  return exitCode;
}

/** npm takes options that no `--` precedes, and passes their values on as arguments. `--yes` is one of its own. */
function hintOfNpm(args: readonly string[], program: Command, { env }: Runtime): string {
  const called = args.reduce((at, word) => at.commands.find((each) => each.name() === word) ?? at, program);
  const taken = called.options
    .map(({ long }) => long ?? "")
    .filter((long) => long !== "--yes" && env(`npm_config_${long.slice(2).replaceAll("-", "_")}`));
  return taken.length === 0
    ? ""
    : `npm took ${taken.join(", ")} for itself; write -- before the options, and npm passes them on\n`;
}

/** Width of help without a terminal. */
const COLUMNS_DEFAULT = 80;

/** Replaces what commander would ask the process. */
const outputOf = ({ print, report, columns, reportColumns }: Runtime): OutputConfiguration => ({
  writeOut: (text) => void print(text),
  writeErr: report,
  getOutHelpWidth: () => columns ?? COLUMNS_DEFAULT,
  getErrHelpWidth: () => reportColumns ?? COLUMNS_DEFAULT,
  getOutHasColors: () => false,
  getErrHasColors: () => false,
});
