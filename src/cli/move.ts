import type { Command } from "commander";
import type { Act } from "./action.ts";
import { showStatus } from "./move-status.ts";
import { type MoveOptions, takeSteps } from "./move-take.ts";
import { countingNumber } from "./values.ts";

/** `waybill move`: takes entities from region to region, one step of the table at a time. */
export const addMove = (program: Command, act: Act): void => {
  const move = program
    .command("move")
    .description("move single entities from region to region, one step of the table at a time")
    .addHelpText("after", HELP);
  for (const [name, description] of STEPS) {
    const step = move.command(name).description(description).argument("<id...>", IDS);
    if (name === "start") {
      step
        .requiredOption("--to <region>", "where the entities are to go")
        .option("--epoch <n>", "begin at this epoch at least, where regions know of higher ones", countingNumber);
    }
    step
      .option("--table <file>", "the routing table that is edited (default: routing-table.json)")
      .option("--dry-run", "show what would change, and write nothing")
      .option("--json", "one JSON object a line, in the order of the IDs")
      .action(act((runtime, args, options: MoveOptions) => takeSteps(name, runtime, args, options)));
  }
  move
    .command("status")
    .description("show where entities are; without IDs, every move under way")
    .argument("[id...]", IDS)
    .option("--table <file>", "the routing table (default: routing-table.json)")
    .option("--json", "one JSON object a line, in the order of the IDs")
    .action(act(showStatus));
};

const IDS = "the IDs; - reads them from stdin, one a line";

const STEPS = [
  ["start", "note that entities are to move; their requests stay where they are"],
  ["fence", "stop writes to entities whose move was started; reads go on"],
  ["switch", "send the requests of fenced entities to their new region"],
  ["finish", "drop the entries of moved entities that the routes lead to the same region by themselves"],
  ["abort", "end a move that was not switched; the entities stay where they are"],
  ["gone", "answer 410 for entities that were removed from every region"],
] as const;

const HELP = `
Examples:
  $ waybill move start 0192f0c1-7a30-8005-8040-8f3b2a1c9d77 --to us
  $ waybill move fence 0192f0c1-7a30-8005-8040-8f3b2a1c9d77
  $ waybill move switch - < ids.txt
  $ waybill move status

Each step edits the table file, keeps its layout, and says what to do next; docs/guides/move-entities.md has the whole protocol. All IDs
take the step, or none does. Exit code: 0, or 1 when a step is refused and nothing was written.`;
