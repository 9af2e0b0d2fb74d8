import { ok, type Result } from "../ids/index.ts";
import { linesOf } from "./lines.ts";
import { fail } from "./refuse.ts";
import { EXIT, type ExitCode, type Runtime } from "./world.ts";

/** How `eachId` tells of one ID: what goes to stdout, and what to stderr. */
export interface IdResult {
  readonly data: string;
  readonly report: string;
  readonly failed: boolean;
}

/**
 * Answers for IDs one after the other, as they come: arguments, or the lines of stdin for `-` and without any. An ID that fails is
 * reported, and the next one follows; the exit code tells whether one did.
 */
export const eachId = async (
  args: readonly string[],
  runtime: Runtime,
  answer: (id: string, index: number) => IdResult,
): Promise<ExitCode> => {
  let count = 0;
  let failures = 0;
  for await (const id of idsOf(args, runtime)) {
    if (!id.ok) {
      return fail(`error: line ${id.error} of stdin is too long for an ID\n`, runtime);
    }
    const { data, report, failed } = answer(id.value, count);
    if (data !== "") await runtime.print(data);
    if (report !== "") runtime.report(report);
    if (failed) failures += 1;
    count += 1;
  }
  if (count === 0) {
    return fail("error: stdin has no ID\n", runtime);
  }
  return failures === 0 ? EXIT.ok : EXIT.failed;
};

/** Whether nobody will give an ID: no argument, and a terminal where a list should be. Says so. */
export const lacksIds = (args: readonly string[], runtime: Runtime): boolean => {
  if (args.length > 0 || !runtime.stdin.isTerminal) return false;
  runtime.report("error: no ID; give one or more, or pipe them in, one a line\n");
  return true;
};

/** The IDs in order; empty lines of stdin are passed over. */
export async function* idsOf(args: readonly string[], { stdin }: Runtime): AsyncGenerator<Result<string, number>> {
  for (const arg of args.length === 0 ? ["-"] : args) {
    if (arg !== "-") yield ok(arg);
    else for await (const line of linesOf(stdin.chunks)) if (!line.ok || line.value !== "") yield line;
  }
}
