import { init } from "./commands/init/init.ts";
import { runProgram } from "./run-program.ts";
import type { Runtime } from "./runtime.ts";

/** The program of `npm create waybill`: `waybill init` alone. */
export const create = (args: readonly string[], runtime: Runtime): Promise<number> =>
  runProgram(args, runtime, (program, act) => {
    init(program, act);
    const [made] = program.commands;
    if (made === undefined) throw new Error("init is a command");
    // A program of its own, with the settings of the one that it was made in.
    made.parent = null;
    return made.name("create-waybill").version(runtime.version, "-V, --version", "print the version");
  });
