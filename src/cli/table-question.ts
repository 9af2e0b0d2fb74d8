import { err, ok, type Result } from "../ids/index.ts";
import { EXIT, type ExitCode, type NoAnswer, type Runtime } from "./world.ts";

/** Whether a person wants a change of the published table, or said so before; the exit code where not. */
export const confirm = async (
  question: string,
  yes: boolean,
  runtime: Runtime,
): Promise<Result<undefined, ExitCode>> => {
  if (yes) return ok(undefined);
  const answer = await runtime.prompt(`${question} [y/N] `);
  if (answer.ok && /^y(es)?$/i.test(answer.value.trim())) return ok(undefined);
  runtime.report(`${answer.ok ? "" : BEFORE[answer.error]}nothing was changed\n`);
  return err(!answer.ok && answer.error === "interrupted" ? EXIT.interrupted : EXIT.failed);
};

/** The keys that end a question leave the cursor behind it. */
const BEFORE: Readonly<Record<NoAnswer, string>> = {
  nobody: "error: nobody is at the terminal to be asked; say --yes\n",
  ended: "\n",
  interrupted: "\n",
};
