import { version } from "../../host/parts.ts";
import { onSupportedNode } from "./node-version.ts";

/** The program of the package `waybill`. Its version alone needs none of the command. */
const words = process.argv.slice(2);
if (words.length === 1 && /^(?:-V|--version)$/.test(words[0] ?? "")) process.stdout.write(`${version}\n`);
else if (words[0] === "health") await onSupportedNode("waybill", probe);
else await onSupportedNode("waybill", () => import("../../cli/main.ts"));

/** A probe runs every few seconds, and loads none of the other commands. */
async function probe(): Promise<void> {
  const [{ health }, { runProcess }, { runProgram }] = await Promise.all([
    import("../../cli/commands/project/health.ts"),
    import("../../cli/process-runtime.ts"),
    import("../../cli/run-program.ts"),
  ]);
  await runProcess("waybill", (args, runtime) =>
    runProgram(args, runtime, (program, act) => {
      health(program.name("waybill"), act);
      return program;
    }),
  );
}
