import type { Revision, Status } from "./gateway-answers.ts";
import { printable } from "./printable.ts";
import { outrunAdvice } from "./table-change.ts";
import { audienceText } from "./table-status.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

/** What commands have in common that begin or end a canary beside one that runs: nobody ends one that he has not seen. */

export type RunningCanary = NonNullable<Status["canary"]>;

/** `revision 42 (canary, by ann) serves 5 % of the IDs`. */
export const canaryText = (canary: RunningCanary, { author }: Revision): string =>
  printable(`revision ${canary.revision} (canary, by ${author}) serves ${audienceText(canary)}`);

/** Somebody else changed the table since `expected` was looked at. */
export const refuseStale = (expected: number, current: number, world: World): ExitCode => {
  world.report(`error: revision ${current} is the last one, not ${expected}: nothing was changed\n  `);
  world.report(outrunAdvice(expected, current));
  return EXIT.outrun;
};

/** Where nobody is asked, nobody has looked at what runs. */
export const unnamedText = (what: string, revision: number): string =>
  `error: --yes ends ${what} only if it is named: say --expect ${revision} if it is the one that you mean\n`;
