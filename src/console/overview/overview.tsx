import { effect } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { MetricsHistory } from "../../formats/console-api.ts";
import type { Status, TableRevision } from "../../formats/table-api.ts";
import { call } from "../app/api.ts";
import { ownOf } from "../app/own.ts";
import { Badge, Busy, Choice, Health, Panel, ProblemBox, Table } from "../app/parts.tsx";
import { knownTable, reader } from "../app/session.ts";
import { agoText, countText, msText, percentText } from "../app/words.ts";
import type { Origin } from "../lookup/ask.ts";
import { Chart, type Line, type Mark } from "./chart.tsx";
import { type Average, averageOf, periodsOf, problemCounts, ratesOf, recentOf, sumWithin } from "./history.ts";
import { history, historyProblem, isLive, loadHistory, regions, span, watchLive } from "./live.ts";
import { MachinesPanel } from "./machines.tsx";
import WorldMap from "./map.tsx";
import { TableState } from "./table-state.tsx";

/** The gateway's traffic now, and in the last hour or day. */
export default function Overview() {
  const [status, setStatus] = useState<Status>();
  const [marks, setMarks] = useState<readonly Mark[]>([]);
  useEffect(watchLive, []);
  useEffect(
    () =>
      // Again whenever another table is in force.
      effect(() => {
        void knownTable.value;
        void call<Status>("/-/table/status").then((answer) => answer.ok && setStatus(answer.value));
        void call<{ revisions: readonly TableRevision[] }>("/-/table/revisions?limit=50").then(
          (answer) => answer.ok && setMarks(answer.value.revisions.flatMap(markOf)),
        );
      }),
    [],
  );
  const names = Object.keys(knownTable.value?.declared.regions ?? {});
  const shown = history.value;
  return (
    <>
      <h1>Overview</h1>
      <div class="actions low">
        <Choice
          label="Over"
          value={span.value}
          options={[
            ["hour", "the last hour"],
            ["day", "the last day"],
          ]}
          onChange={(value) => {
            span.value = value;
            void loadHistory();
          }}
        />
        <Badge mood={isLive.value ? "good" : "plain"}>{isLive.value ? "live" : "every 10 seconds"}</Badge>
        {shown?.source === "none" && <Badge mood="warn">the counters cannot be read</Badge>}
        {regions.value?.source === "this isolate" && <Badge mood="warn">figures of one isolate alone</Badge>}
      </div>
      {status && <TableState status={status} isolates={shown?.isolates} />}
      {status?.machines && <MachinesPanel machines={status.machines} />}
      <RegionTable shown={shown} names={names} />
      {historyProblem.value && <ProblemBox problem={historyProblem.value} onRetry={() => void loadHistory()} />}
      {shown === undefined && historyProblem.value === undefined && <Busy what="Loading the figures" />}
      {shown && <Charts shown={shown} names={names} marks={marks} />}
      {knownTable.value && (
        <Panel title="The world">
          <WorldMap reader={reader.value} table={knownTable.value} names={names} figures={figuresOf(shown)} />
        </Panel>
      )}
    </>
  );
}

const markOf = ({ time, revision, kind }: TableRevision): readonly Mark[] =>
  time === undefined ? [] : [{ at: Date.parse(time) / 1000, text: `${kind === "canary" ? "canary " : ""}${revision}` }];

const shareText = (share: number | undefined): string => (share === undefined ? "–" : percentText(share));

/** Each region's figures, in words. */
const figuresOf = (shown: MetricsHistory | undefined): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(shown?.regions ?? {}).map(([name, series]) => {
      const { stepSeconds, span } = shown as MetricsHistory;
      const now = recentOf(series, stepSeconds);
      const average = averageOf(series, stepSeconds);
      const textOf = ({ perSecond, errorShare }: Average) =>
        `${countText(perSecond)} requests a second, ${shareText(errorShare)} errors`;
      return [name, `now ${textOf(now)}; in the last ${span} ${textOf(average)}`];
    }),
  );

function RegionTable({ shown, names }: { shown: MetricsHistory | undefined; names: readonly string[] }) {
  const known = regions.value;
  if (known === undefined) return <Busy what="Loading the regions" />;
  const over = `last ${shown?.span ?? "hour"}`;
  const lately = (shown?.stepSeconds ?? 0) > 60 ? "last 5 minutes" : "last minute";
  return (
    <Panel title="Regions now">
      <Table
        label="Figures of the regions"
        columns={[
          "Region",
          "State",
          { number: `Errors, ${lately}` },
          { number: `Requests a second, ${lately}` },
          { number: `Errors, ${over}` },
          { number: `Requests a second, ${over}` },
          { number: "p50, p99" },
          "Origins",
        ]}
      >
        {names.map((name, at) => {
          const own = ownOf(known.regions, name);
          const series = ownOf(shown?.regions, name);
          const recent = shown && series && recentOf(series, shown.stepSeconds);
          const average = shown && series && averageOf(series, shown.stepSeconds);
          return (
            <tr key={name}>
              <th scope="row">
                <span class={`key colour-${at % 8}`} aria-hidden="true" /> {name}
              </th>
              <td class="state">
                <Health of={own} />
              </td>
              <td class="number">{shareText(recent?.errorShare)}</td>
              <td class="number">{recent ? countText(recent.perSecond) : "–"}</td>
              <td class="number">{shareText(average?.errorShare)}</td>
              <td class="number">{average ? countText(average.perSecond) : "–"}</td>
              <td class="number">
                {msText(recent?.p50)}, {msText(recent?.p99)}
              </td>
              <td class="origins">
                {own?.origins.map((origin) => (
                  <OriginLine key={origin.host} origin={origin} />
                ))}
              </td>
            </tr>
          );
        })}
      </Table>
    </Panel>
  );
}

function OriginLine({ origin: { host, breaker, lastCheck, lastFault, lastAnswer } }: { origin: Origin }) {
  const parts = [
    breaker === "closed" ? undefined : `breaker ${breaker}`,
    lastCheck
      ? `check ${lastCheck.good ? "good" : `failed (${lastCheck.fault ?? lastCheck.status})`} ${agoText(lastCheck.at)}`
      : "no active check",
    lastFault ? `last fault ${lastFault.fault}, ${agoText(lastFault.at)}` : undefined,
    lastAnswer ? `answered ${agoText(lastAnswer)}` : "no answer yet",
  ].filter((part) => part !== undefined);
  return (
    <div>
      <code>{host}</code> <small>{parts.join("; ") || "not asked yet"}</small>
    </div>
  );
}

function Charts({ shown, names, marks }: { shown: MetricsHistory; names: readonly string[]; marks: readonly Mark[] }) {
  const { at, total, stepSeconds } = shown;
  const byRegion = (of: "requests" | "errors" | "busyMs", length = stepSeconds) =>
    names.flatMap((name, colour): readonly Line[] => {
      const series = ownOf(shown.regions, name);
      return series === undefined ? [] : [{ name, colour, values: ratesOf(series[of], length) }];
    });
  const problems = problemCounts(shown);
  const lines = useMemo(
    () => ({
      requests: byRegion("requests"),
      errors: byRegion("errors"),
      busy: byRegion("busyMs", stepSeconds * 1000),
      times: [
        { name: "p50", colour: 0, values: total.p50 },
        { name: "p99", colour: 1, values: total.p99 },
        { name: "origin p50", colour: 0, values: total.originP50, isDashed: true },
        { name: "origin p99", colour: 1, values: total.originP99, isDashed: true },
      ],
      problems: problems.slice(0, 6).map(([name], colour) => ({
        name,
        colour,
        values: ratesOf(shown.problems[name] ?? [], stepSeconds),
      })),
    }),
    [shown, names.join()],
  );
  if (at.length === 0) return <p class="box">No request was counted yet.</p>;
  return (
    <Panel title="Over time" aside={shown.since && <small>counted since {agoText(shown.since)}</small>}>
      <div class="charts">
        <Chart title="Requests a second" at={at} lines={lines.requests} marks={marks} />
        <Chart title="Errors a second" at={at} lines={lines.errors} marks={marks} />
        <Chart title="Time to the response" at={at} lines={lines.times} marks={marks} text={msText} />
        <Chart title="Requests in progress" at={at} lines={lines.busy} marks={marks} />
        {problems.length > 0 && <Chart title="Problems a second" at={at} lines={lines.problems} marks={marks} />}
      </div>
      <small>Dashed lines with a number are publications.</small>
      <Problems shown={shown} marks={marks} />
    </Panel>
  );
}

/** Problems by type: how many, and how many a minute before and after each of the last publications. */
function Problems({ shown, marks }: { shown: MetricsHistory; marks: readonly Mark[] }) {
  const problems = problemCounts(shown);
  if (problems.length === 0) return null;
  const periods = periodsOf(shown, marks);
  const columns = ["Problem", "Responses", ...periods.map(({ name }) => `Per minute ${name}`)];
  return (
    <Table label="Problems" columns={columns.map((name, place) => (place === 0 ? name : { number: name }))}>
      {problems.map(([slug, count]) => (
        <tr key={slug}>
          <th scope="row">{slug}</th>
          <td class="number">{countText(count)}</td>
          {periods.map((period) => (
            <td key={period.name} class="number">
              {countText(sumWithin(shown.problems[slug] ?? [], period) / period.minutes)}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}
