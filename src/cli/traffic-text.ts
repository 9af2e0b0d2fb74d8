import { alignColumns } from "./columns.ts";
import { formatCount } from "./grouped.ts";
import { formatPercent } from "./percent-text.ts";
import { escapeControls } from "./printable.ts";
import { countOf } from "./table-file.ts";
import type { LogChange, ReplaySummary } from "./traffic-replay.ts";

/** `order  ap → us  120 requests  12 %`: where the changed ones go, of all requests. */
export const changeLines = ({ requests, changes }: ReplaySummary): readonly string[] =>
  alignColumns(changes.map((change) => changeCells(change, requests).map(escapeControls)));

const changeCells = ({ entity, from, to, requests }: LogChange, all: number): readonly string[] => [
  entity === "" ? "(no entity)" : entity,
  `${from} → ${to}`,
  requests === 1 ? "1 request" : `${formatCount(requests)} requests`,
  formatPercent((requests / all) * 100),
];

/** `1,000 requests: 12 go elsewhere, 985 do not, 3 are open`, and what was passed over. */
export const formatSummary = ({ requests, same, changed, open, others, unreadable }: ReplaySummary): string => {
  const counts = [`${formatCount(changed)} go elsewhere`, `${formatCount(same)} do not`];
  const openCount = open === 0 ? [] : [`of ${formatCount(open)} the log does not hold what decides`];
  const first = `${requests === 1 ? "1 request" : `${formatCount(requests)} requests`}: ${[...counts, ...openCount].join(", ")}\n`;
  const passed = others === 0 ? "" : `passed over: ${countOf(others, "line")} of other events\n`;
  const lost =
    unreadable.lines === 0
      ? ""
      : `passed over: ${countOf(unreadable.lines, "line")} that cannot be read, the first is line ${unreadable.first}\n`;
  return first + passed + lost;
};
