import type { Revision, Status } from "./gateway-answers.ts";
import { escapeControls } from "./printable.ts";
import { conflictAdvice } from "./table-change.ts";
import { formatAudience } from "./table-status.ts";
import { EXIT, type ExitCode, type Runtime } from "./world.ts";

/** What commands have in common that begin or end a canary beside one that runs: nobody ends one that he has not seen. */

export type RunningCanary = NonNullable<Status["canary"]>;

/** `revision 42 (canary, by ann) serves 5 % of the IDs`. */
export const formatCanary = (canary: RunningCanary, { author }: Revision): string =>
  escapeControls(`revision ${canary.revision} (canary, by ${author}) serves ${formatAudience(canary)}`);

/** Somebody else changed the table since `expected` was looked at. */
export const refuseStale = (expected: number, current: number, runtime: Runtime): ExitCode => {
  runtime.report(`error: revision ${current} is the last one, not ${expected}: nothing was changed\n  `);
  runtime.report(conflictAdvice(expected, current));
  return EXIT.conflict;
};

/** Where nobody is asked, nobody has looked at what runs. */
export const formatUnnamed = (what: string, revision: number): string =>
  `error: --yes ends ${what} only if it is named: say --expect ${revision} if it is the one that you mean\n`;
