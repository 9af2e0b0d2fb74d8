import { useEffect, useState } from "preact/hooks";
import type { MetricsHistory, TableFigures } from "../../published/console-api.ts";
import type { TableRevision } from "../../published/table-api.ts";
import { call, type Problem } from "../app/api.ts";
import { ProblemBox, Table } from "../app/parts.tsx";
import { countText, msText, percentText } from "../app/words.ts";
import { verdictOf } from "../overview/history.ts";

/** As often as isolates report. */
const ASK_MS = 10_000;

/** Requests of one earlier canary may still be reported in the first two steps of the next. */
const SETTLED_SECONDS = 20;

/** What the canary's requests got, beside those of the table in force: since it began, of the last hour at most. */
export function Comparison({ revision }: { readonly revision: number }) {
  const [tables, setTables] = useState<MetricsHistory["tables"]>();
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
      const from = Math.floor(Date.parse(begun.time) / 1000) + SETTLED_SECONDS;
      const answer = await call<MetricsHistory>(`/-/metrics/history?span=hour&from=${from}`);
      if (isOver) return;
      setProblem(answer.ok ? undefined : answer.problem);
      setTables(answer.ok && answer.value.source === "all" ? answer.value.tables : undefined);
    };
    void load();
    const timer = setInterval(() => void load(), ASK_MS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [revision]);
  if (problem !== undefined) return <ProblemBox problem={problem} />;
  if (tables === undefined) return <p>There are no figures to compare yet.</p>;
  const { stable, canary } = tables;
  return (
    <>
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
      <p role="status">{verdictOf(stable, canary)}</p>
    </>
  );
}

const ROWS: readonly (readonly [name: string, show: (figures: TableFigures) => string])[] = [
  ["Requests", ({ requests }) => countText(requests)],
  ["Errors", ({ errors }) => countText(errors)],
  ["Share of errors", ({ requests, errors }) => (requests === 0 ? "–" : percentText(errors / requests))],
  ["p50", ({ p50 }) => msText(p50)],
  ["p99", ({ p99 }) => msText(p99)],
];
