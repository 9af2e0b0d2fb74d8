import { useEffect, useState } from "preact/hooks";
import { type CanaryVerdict, countOf, figuresFrom, STATUS_CLASSES } from "../../formats/canary-verdict.ts";
import type { MetricsHistory, TableFigures } from "../../formats/console-api.ts";
import type { TableRevision } from "../../formats/table-api.ts";
import { call, type Problem } from "../app/api.ts";
import { ProblemBox, Table } from "../app/parts.tsx";
import { countText, msText, percentText } from "../app/words.ts";

/** As often as isolates report. */
const ASK_MS = 10_000;

interface Props {
  readonly revision: number;
  /** Called with each verdict; `undefined` while there are no figures. */
  readonly onVerdict: (verdict: CanaryVerdict | undefined) => void;
}

/** Outcomes of the canary's requests beside those of the table in force: since it began, of the last hour at most. */
export function Comparison({ revision, onVerdict }: Props) {
  const [known, setKnown] = useState<MetricsHistory>();
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    let isOver = false;
    const load = async () => {
      const found = await call<{ revisions: readonly TableRevision[] }>(
        `/-/table/revisions?limit=1&before=${revision + 1}`,
      );
      const begun = found.ok ? found.value.revisions[0] : undefined;
      if (!found.ok || begun?.revision !== revision || begun.time === undefined) {
        if (!isOver && !found.ok) setProblem(found.problem);
        return;
      }
      const answer = await call<MetricsHistory>(`/-/metrics/history?span=hour&from=${figuresFrom(begun.time)}`);
      if (isOver) return;
      setProblem(answer.ok ? undefined : answer.problem);
      const figures = answer.ok && answer.value.source === "all" ? answer.value : undefined;
      setKnown(figures);
      onVerdict(figures?.canaryVerdict);
    };
    void load();
    const timer = setInterval(() => void load(), ASK_MS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [revision]);
  if (problem !== undefined) return <ProblemBox problem={problem} />;
  if (known === undefined) return <p>There are no figures to compare yet.</p>;
  const { stable, canary } = known.tables;
  const { verdict, words } = known.canaryVerdict;
  return (
    <>
      <p class={`box ${verdict === "worse" ? "bad" : ""}`} role="status">
        {words}
      </p>
      <Table
        label="Canary and table in force"
        columns={["Since it began, at most an hour", { number: "Table in force" }, { number: "Canary" }]}
      >
        {ROWS.map(([name, show]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="number">{show(stable)}</td>
            <td class="number">{show(canary)}</td>
          </tr>
        ))}
      </Table>
      <small>
        Each kind of failure is judged alone, by how seldom chance explains it. Statuses say nothing of whether an
        answer is right, and IDs of one country or entity may differ from others anyway.
      </small>
    </>
  );
}

const CLASS_NAMES: Readonly<Record<(typeof STATUS_CLASSES)[number], string>> = {
  "2xx": "2xx",
  "3xx": "3xx",
  "404": "404: not found",
  "421": "421: another region's",
  "4xx": "Other 4xx",
  "5xx": "5xx",
  elsewhere: "Answered by another region",
  left: "Given up by the client",
};

const partText = (count: number, all: number): string =>
  all === 0 ? "–" : `${countText(count)} (${percentText(count / all)})`;

const ROWS: readonly (readonly [name: string, show: (figures: TableFigures) => string])[] = [
  ["Requests", ({ classes }) => countText(countOf(classes))],
  ...STATUS_CLASSES.map(
    (name) => [CLASS_NAMES[name], ({ classes }: TableFigures) => partText(classes[name], countOf(classes))] as const,
  ),
  ["p50", ({ p50 }) => msText(p50)],
  ["p99", ({ p99 }) => msText(p99)],
];
