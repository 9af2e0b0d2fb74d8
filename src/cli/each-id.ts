import { ok, type Result } from "../ids/index.ts";
import { linesOf } from "./lines.ts";
import { refuse } from "./refuse.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

/** How `eachId` tells of one ID: what goes to stdout, and what to stderr. */
export interface IdAnswer {
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
  world: World,
  answer: (id: string, index: number) => IdAnswer,
): Promise<ExitCode> => {
  let count = 0;
  let failures = 0;
  for await (const id of idsOf(args, world)) {
    if (!id.ok) {
      return refuse(`error: line ${id.error} of stdin is too long for an ID\n`, world);
    }
    const { data, report, failed } = answer(id.value, count);
    if (data !== "") await world.print(data);
    if (report !== "") world.report(report);
    if (failed) failures += 1;
    count += 1;
  }
  if (count === 0) {
    return refuse("error: stdin has no ID\n", world);
  }
  return failures === 0 ? EXIT.ok : EXIT.failed;
};

/** Whether nobody will give an ID: no argument, and a terminal where a list should be. Says so. */
export const lacksIds = (args: readonly string[], world: World): boolean => {
  if (args.length > 0 || !world.stdin.isTerminal) return false;
  world.report("error: no ID; give one or more, or pipe them in, one a line\n");
  return true;
};

/** The IDs in order; empty lines of stdin are passed over. */
export async function* idsOf(args: readonly string[], { stdin }: World): AsyncGenerator<Result<string, number>> {
  for (const arg of args.length === 0 ? ["-"] : args) {
    if (arg !== "-") yield ok(arg);
    else for await (const line of linesOf(stdin.chunks)) if (!line.ok || line.value !== "") yield line;
  }
}
