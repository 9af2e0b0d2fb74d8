import { alignColumns } from "./columns.ts";
import { grouped } from "./grouped.ts";
import { percentText } from "./percent-text.ts";
import { printable } from "./printable.ts";
import { countOf } from "./table-file.ts";
import type { TrafficTally, TrafficWay } from "./traffic-replay.ts";

/** `order  ap → us  120 requests  12 %`: where the changed ones go, of all requests. */
export const wayLines = ({ requests, changes }: TrafficTally): readonly string[] =>
  alignColumns(changes.map((way) => wayCells(way, requests).map(printable)));

const wayCells = ({ entity, from, to, requests }: TrafficWay, all: number): readonly string[] => [
  entity === "" ? "(no entity)" : entity,
  `${from} → ${to}`,
  requests === 1 ? "1 request" : `${grouped(requests)} requests`,
  percentText((requests / all) * 100),
];

/** `1,000 requests: 12 go elsewhere, 985 do not, 3 are open`, and what was passed over. */
export const tallyText = ({ requests, same, changed, open, others, unreadable }: TrafficTally): string => {
  const counts = [`${grouped(changed)} go elsewhere`, `${grouped(same)} do not`];
  const openCount = open === 0 ? [] : [`of ${grouped(open)} the log does not hold what decides`];
  const first = `${requests === 1 ? "1 request" : `${grouped(requests)} requests`}: ${[...counts, ...openCount].join(", ")}\n`;
  const passed = others === 0 ? "" : `passed over: ${countOf(others, "line")} of other events\n`;
  const lost =
    unreadable.lines === 0
      ? ""
      : `passed over: ${countOf(unreadable.lines, "line")} that cannot be read, the first is line ${unreadable.first}\n`;
  return first + passed + lost;
};
