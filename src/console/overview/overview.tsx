import "../style/overview.css";
import { useEffect, useMemo } from "preact/hooks";
import { isReachable } from "../app/api.ts";
import { gatewayNow } from "../app/clock.ts";
import { Segments } from "../app/parts/button.tsx";
import { Icon } from "../app/parts/icons.tsx";
import { Note, PageHead, ProblemNote, Sheet, Skeleton } from "../app/parts/sheet.tsx";
import { Tag } from "../app/parts/state.tsx";
import { knownTable, reader } from "../app/session.ts";
import { setTrouble } from "../app/trouble.ts";
import { clockText } from "../app/words.ts";
import { Alarms } from "./alarm.tsx";
import { EventLogSheet, LastChanges } from "./changes.tsx";
import { Charts } from "./charts.tsx";
import { type Incident, incidentsOf, troubleOf } from "./incident.ts";
import {
  areStatesOld,
  historyProblem,
  hour,
  isLive,
  loadHistory,
  loadRegions,
  RANGES,
  type Range,
  range,
  rangeText,
  regions,
  regionsAtMs,
  regionsProblem,
  revisions,
  setRange,
  shown,
  watchLive,
} from "./live.ts";
import { regionByCountry } from "./map/countries.ts";
import { WorldMap } from "./map/map.tsx";
import { statusOf } from "./problem-words.ts";
import { Problems } from "./problems.tsx";
import { RegionRows } from "./region-rows.tsx";
import { Tiles } from "./tiles/tiles.tsx";

/** How the gateway is now, what is wrong, and how it went. */
export default function Overview() {
  useEffect(watchLive, []);
  const table = knownTable.value;
  const names = Object.keys(table?.declared.regions ?? {});
  const incidents = useMemo(
    () => incidentsOf({ regions: regions.value?.regions, history: hour.value, statusOf }),
    [regions.value, hour.value],
  );
  useEffect(() => setTrouble(troubleOf(incidents)), [incidents]);
  const byCountry = useMemo(
    () => (table === undefined ? new Map<string, string>() : regionByCountry(reader.value, table, gatewayNow())),
    [reader.value, table],
  );
  const down = downOf(incidents);
  return (
    <>
      <Head />
      <Alarms
        incidents={incidents}
        regions={regions.value}
        revisions={revisions.value}
        targets={new Set(byCountry.values())}
      />
      <Doubts />
      <Tiles hour={hour.value} incidents={incidents} />
      <div class="two">
        <div class="pile">
          <RegionRows
            names={names}
            regions={regions.value}
            oldMs={areStatesOld.value ? regionsAtMs.value : undefined}
            hour={hour.value}
            incidents={incidents}
          />
          <OverTime names={names} />
        </div>
        <div class="pile">
          {table && (
            <Sheet title="Where new IDs go" isIn>
              <WorldMap names={names} byCountry={byCountry} down={down} />
            </Sheet>
          )}
          <ProblemsSheet />
          <LastChanges revisions={revisions.value} />
          <EventLogSheet />
        </div>
      </div>
    </>
  );
}

function OverTime({ names }: { names: readonly string[] }) {
  if (shown.value !== undefined) return <Charts shown={shown.value} names={names} revisions={revisions.value} />;
  if (historyProblem.value !== undefined) return null;
  return (
    <Sheet title={`Last ${rangeText(range.value)}`}>
      <Skeleton label="Loading the figures" lines={8} />
    </Sheet>
  );
}

const Head = () => (
  <PageHead title="Overview">
    <Segments
      label="Time"
      value={range.value}
      options={(Object.keys(RANGES) as Range[]).map((name) => [name, name] as const)}
      onChange={setRange}
    />
    <Tag kind="line">
      <Icon name="overview" />
      {isLive.value ? "live" : "every 10 s"}
    </Tag>
  </PageHead>
);

const downOf = (incidents: readonly Incident[]): ReadonlySet<string> =>
  new Set(incidents.flatMap(({ level, region }) => (level === "down" && region !== undefined ? [region] : [])));

function ProblemsSheet() {
  if (shown.value === undefined || shown.value.source === "none") return null;
  return <Problems shown={shown.value} title={`Problems, last ${rangeText(range.value)}`} flags={flagsOf()} />;
}

const flagsOf = () =>
  (revisions.value ?? []).flatMap(({ time, revision }) =>
    time === undefined ? [] : [{ at: Date.parse(time) / 1000, text: String(revision) }],
  );

/** Where the page knows less than it seems. It never looks sound by what it could not read. */
function Doubts() {
  const at = clockText(regionsAtMs.value / 1000, true);
  return (
    <div class="alarms">
      {areStatesOld.value && (
        <Note isTop kind="first" title={`States were last read at ${at}: how the regions are now is not known`} isAlert>
          {isReachable.value ? (regionsProblem.value?.detail ?? "") : ""}
        </Note>
      )}
      {regionsProblem.value && regionsAtMs.value === 0 && isReachable.value && (
        <ProblemNote isTop problem={regionsProblem.value} onRetry={() => void loadRegions()} />
      )}
      {historyProblem.value && isReachable.value && (
        <ProblemNote
          isTop
          problem={historyProblem.value}
          still="The figures below may be old."
          onRetry={() => void loadHistory()}
        />
      )}
      {hour.value?.source === "none" && (
        <Note isTop kind="first" title="The counters cannot be read: figures of now are not known">
          Requests do not wait for them.
        </Note>
      )}
      {regions.value?.source === "this isolate" && (
        <Note isTop kind="first" title="States are of one isolate alone">
          The isolate that answered knows its own breakers and requests; those of the others are not known.
        </Note>
      )}
    </div>
  );
}
