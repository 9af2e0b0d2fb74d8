import { INTERVAL_PERCENT, type ShareDifference } from "../../formats/canary-verdict.ts";
import type { MetricsHistory } from "../../formats/console-api.ts";
import { Table } from "../app/parts/table.tsx";
import { clockText } from "../app/words.ts";
import { comparedRows } from "./figures.ts";

interface Props {
  readonly figures: MetricsHistory;
  readonly inForce: number;
  readonly canary: number;
}

/** The answers of both tables beside each other: since the canary began, of the last hour at most. */
export function Comparison({ figures, inForce, canary }: Props) {
  const rows = comparedRows(figures);
  const reach = Math.max(0.0001, ...rows.flatMap(({ interval }) => (interval ? [-interval.low, interval.high] : [])));
  const [first] = figures.at;
  return (
    <>
      <Table
        label="Canary and table in force"
        class="comp"
        columns={[
          { name: first === undefined ? "Answers" : `Answers since ${clockText(first, false)}`, class: "c-name" },
          { name: `In force, ${inForce}`, isNumber: true },
          { name: `Canary, ${canary}`, isNumber: true },
          { name: "Difference", isNumber: true },
          { name: `Points, ${INTERVAL_PERCENT} %`, class: "c-int", isPlain: true },
          { name: "In words", class: "wide c-words", isPlain: true },
        ]}
        rows={rows.map(({ name, words, interval, isWorse, ...cells }) => ({
          key: name,
          class: isWorse ? "worse" : "",
          cells: [
            name,
            cells.inForce,
            cells.canary,
            cells.difference,
            interval && <Interval of={interval} reach={reach} isWorse={isWorse} />,
            words,
          ],
        }))}
      />
      <footer class="about">
        Points are the difference of the shares, in bounds that have the true one {INTERVAL_PERCENT} times of 100
        (Newcombe). A class is worse if equal tables would differ as much less than once in 1,000 times (Fisher's exact
        test).
      </footer>
    </>
  );
}

const MIDDLE = 50;
const HALF = 46;

/** From the lower to the upper bound, with the difference as a dot. The words beside it say the same. */
function Interval({ of, reach, isWorse }: { of: ShareDifference; reach: number; isWorse: boolean }) {
  const x = (share: number): number => Math.round((MIDDLE + (share / reach) * HALF) * 100) / 100;
  return (
    <svg class={`interval ${isWorse ? "bad" : ""}`} viewBox="0 0 100 16" preserveAspectRatio="none" aria-hidden="true">
      <path class="zero" d={`M${MIDDLE} 0V16`} />
      <path class="line" d={`M${x(of.low)} 8H${x(of.high)}`} />
      <path class="dot" d={`M${x(of.difference)} 8h0`} />
    </svg>
  );
}
