import { effect } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { MetricsHistory } from "../../published/console-api.ts";
import type { Status, TableRevision } from "../../published/table-api.ts";
import { call } from "../app/api.ts";
import { ownOf } from "../app/own.ts";
import { Badge, Busy, Choice, Facts, Panel, ProblemBox, Table } from "../app/parts.tsx";
import { knownTable, reader } from "../app/session.ts";
import { agoText, countText, msText, percentText, plural } from "../app/words.ts";
import { healthOfOrigins, type Origin } from "../lookup/ask.ts";
import { Chart, type Line, type Mark } from "./chart.tsx";
import { problemCounts, ratesOf, recentOf } from "./history.ts";
import { history, historyProblem, isLive, loadHistory, regions, span, watchLive } from "./live.ts";
import WorldMap from "./map.tsx";

/** What the gateway does now, and did in the last hour or day. */
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
      {status && <TableState status={status} />}
      <RegionTable shown={shown} names={names} />
      {historyProblem.value && <ProblemBox problem={historyProblem.value} onRetry={() => void loadHistory()} />}
      {shown === undefined && historyProblem.value === undefined && <Busy what="Loading the figures" />}
      {shown && <Charts shown={shown} names={names} marks={marks} />}
      {knownTable.value && (
        <Panel title="The world">
          <WorldMap reader={reader.value} table={knownTable.value} names={names} />
        </Panel>
      )}
    </>
  );
}

const markOf = ({ time, revision, kind }: TableRevision): readonly Mark[] =>
  time === undefined ? [] : [{ at: Date.parse(time) / 1000, text: `${kind === "canary" ? "canary " : ""}${revision}` }];

function TableState({ status: { isolate, controlPlane, pending, lastError } }: { status: Status }) {
  const isCurrent = isolate.revision === controlPlane.revision;
  return (
    <Panel title="The table in force">
      <Facts
        rows={[
          [
            "In force",
            <>
              revision {isolate.revision}, from {isolate.source}, confirmed {plural(isolate.ageSeconds, "second")} ago{" "}
              {!isCurrent && <Badge mood="warn">the newest is {controlPlane.revision}</Badge>}
            </>,
          ],
          isolate.canary === null ? undefined : ["Canary", `revision ${isolate.canary.revision}`],
          pending ? ["Pending", "The last change is not yet written to KV."] : undefined,
          lastError === null ? undefined : ["Last error", lastError],
        ]}
      />
      <small>Each isolate has its own copy; this is the one that answered.</small>
    </Panel>
  );
}

function RegionTable({ shown, names }: { shown: MetricsHistory | undefined; names: readonly string[] }) {
  const known = regions.value;
  if (known === undefined) return <Busy what="Loading the regions" />;
  return (
    <Panel title="Regions now">
      <Table
        label="Figures of the regions"
        columns={[
          "Region",
          "State",
          { number: "Requests a second" },
          { number: "Errors" },
          { number: "p50, p99" },
          "Origins",
        ]}
      >
        {names.map((name, at) => {
          const { origins = [] } = ownOf(known.regions, name) ?? {};
          const health = healthOfOrigins(origins);
          const series = ownOf(shown?.regions, name);
          const recent = shown && series && recentOf(series, shown.stepSeconds);
          return (
            <tr key={name}>
              <th scope="row">
                <span class={`key colour-${at % 8}`} aria-hidden="true" /> {name}
              </th>
              <td>
                <Badge mood={health.mood}>{health.words}</Badge>
              </td>
              <td class="number">{recent ? countText(recent.perSecond) : "–"}</td>
              <td class="number">{recent?.errorShare === undefined ? "–" : percentText(recent.errorShare)}</td>
              <td class="number">
                {msText(recent?.p50)}, {msText(recent?.p99)}
              </td>
              <td class="origins">
                {origins.map((origin) => (
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
    breaker === "open" ? "breaker open" : undefined,
    lastCheck
      ? `check ${lastCheck.good ? "good" : `failed (${lastCheck.fault ?? lastCheck.status})`} ${agoText(lastCheck.at)}`
      : undefined,
    lastFault ? `last fault ${lastFault.fault}, ${agoText(lastFault.at)}` : undefined,
    lastAnswer ? `answered ${agoText(lastAnswer)}` : undefined,
  ].filter((part) => part !== undefined);
  return (
    <div>
      <code>{host}</code> <small>{parts.join("; ") || "not asked yet"}</small>
    </div>
  );
}

function Charts({ shown, names, marks }: { shown: MetricsHistory; names: readonly string[]; marks: readonly Mark[] }) {
  const { at, total, stepSeconds } = shown;
  const byRegion = (of: "requests" | "errors") =>
    names.flatMap((name, colour): readonly Line[] => {
      const series = ownOf(shown.regions, name);
      return series === undefined ? [] : [{ name, colour, values: ratesOf(series[of], stepSeconds) }];
    });
  const problems = problemCounts(shown);
  const lines = useMemo(
    () => ({
      requests: byRegion("requests"),
      errors: byRegion("errors"),
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
        {problems.length > 0 && <Chart title="Problems a second" at={at} lines={lines.problems} marks={marks} />}
      </div>
      <small>Dashed lines with a number are publications.</small>
      {problems.length > 0 && (
        <Table label="Problems" columns={["Problem", { number: "Responses" }]}>
          {problems.map(([slug, count]) => (
            <tr key={slug}>
              <th scope="row">{slug}</th>
              <td class="number">{countText(count)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  );
}
