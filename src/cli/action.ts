import type { Command, OptionValues } from "commander";
import type { ExitCode, Runtime } from "./world.ts";

/** What a command does with its arguments, in order, and its options, by name. */
export type Action<Options> = (runtime: Runtime, args: readonly string[], options: Options) => Promise<ExitCode>;

/** Makes an action of ours one that commander calls. */
export type Act = <Options extends OptionValues>(action: Action<Options>) => (this: Command) => Promise<void>;
