import type { MetricsHistory } from "../../formats/console-api.ts";
import type { RegionState } from "../../formats/region-state.ts";
import { gatewayNow } from "../app/clock.ts";
import { ownOf } from "../app/own.ts";
import { Icon, type IconName } from "../app/parts/icons.tsx";
import { RegionChip } from "../app/parts/region.tsx";
import { Sheet, Skeleton } from "../app/parts/sheet.tsx";
import { Mark, type Mood, StateMark } from "../app/parts/state.tsx";
import { type Row, Share, Table } from "../app/parts/table.tsx";
import { fragmentOf } from "../app/router.ts";
import { clockText, msText } from "../app/words.ts";
import type { Origin, Regions } from "../lookup/ask.ts";
import { ratesOf, recentOf, wholeOf } from "./history.ts";
import type { Incident } from "./incident.ts";
import { lastAnswerText, type OriginState, originEvidence, originState } from "./origins.ts";
import { lastedText, rateText, shareText } from "./plot/words.ts";
import { Spark } from "./tiles/tile.tsx";

interface Props {
  readonly names: readonly string[];
  readonly regions: Regions | undefined;
  /** Unix ms: the states are of then, and none of now. */
  readonly oldMs: number | undefined;
  readonly hour: MetricsHistory | undefined;
  readonly incidents: readonly Incident[];
}

const COLUMNS = [
  { name: "Region", class: "c-region" },
  { name: "State", class: "c-state", isPlain: true },
  { name: "Requests / s", class: "c-rate", isPlain: true },
  { name: "Errors", isNumber: true, class: "c-err" },
  { name: "p50", isNumber: true },
  { name: "p99", isNumber: true },
  { name: "Last hour", class: "c-hour", isPlain: true },
  { name: "Origins", class: "c-org", isPlain: true },
];

/** Regions as they are now: those in trouble first, with their origins and the evidence about them. */
export function RegionRows({ names, regions, oldMs, hour, incidents }: Props) {
  const nowMs = gatewayNow();
  const whole = hour && wholeOf(hour);
  const aside = (
    <a class="soft" href={fragmentOf("regions")}>
      Origins and checks
    </a>
  );
  if (regions === undefined) {
    return (
      <Sheet title="Regions, last minute" aside={aside}>
        <Skeleton label="Loading the regions" />
      </Sheet>
    );
  }
  const order = new Map(incidents.map(({ region }, place) => [region, place]));
  const placeOf = (name: string) => order.get(name) ?? order.size;
  const sorted = names.toSorted((a, b) => placeOf(a) - placeOf(b));
  const recent = (name: string) => {
    const series = ownOf(hour?.regions, name);
    return hour && series && hour.source !== "none" ? recentOf(series, hour.stepSeconds) : undefined;
  };
  const most = sorted.reduce((sum, name) => sum + (recent(name)?.perSecond ?? 0), 0);
  const rows = sorted.map((name): Row => {
    const incident = incidents.find(({ region }) => region === name);
    const health = ownOf(regions.regions, name);
    const origins = health?.origins ?? [];
    const own = recent(name);
    const series = ownOf(whole?.regions, name);
    const isBad = incident !== undefined && incident.level !== "warn";
    return {
      key: name,
      class: isBad ? "down" : "",
      cells: [
        <a key="region" href={fragmentOf("regions", { region: name })}>
          <RegionChip name={name} />
        </a>,
        <State key="state" state={health?.state} incident={incident} origins={origins} oldMs={oldMs} nowMs={nowMs} />,
        own === undefined ? (
          "–"
        ) : (
          <Share
            of={most === 0 ? 0 : own.perSecond / most}
            region={name}
            text={
              <>
                {rateText(own.perSecond)}
                <span class="unit"> / s</span>
              </>
            }
          />
        ),
        <span key="errors" class={isBad ? "up" : undefined}>
          {shareText(own?.errorShare)}
        </span>,
        msText(own?.p50),
        msText(own?.p99),
        series && whole ? (
          <Spark
            values={ratesOf(series.requests, whole.stepSeconds)}
            second={isBad ? ratesOf(series.errors, whole.stepSeconds) : []}
            region={name}
          />
        ) : null,
        oldMs === undefined ? <Marks key="origins" origins={origins} nowMs={nowMs} /> : origins.length,
      ],
      ...(isToShow(health?.state, origins, nowMs) && {
        below: <Evidence basis={health?.basis ?? ""} origins={origins} nowMs={nowMs} />,
      }),
    };
  });
  return (
    <Sheet title="Regions, last minute" aside={aside}>
      <Table label="Figures of the regions" class="regions" columns={COLUMNS} rows={rows} />
    </Sheet>
  );
}

/** A sound region needs no evidence. */
const isToShow = (state: RegionState | undefined, origins: readonly Origin[], nowMs: number): boolean =>
  (state !== undefined && state !== "healthy" && state !== "not-asked") ||
  origins.some((origin) => !["healthy", "not-asked", "drained"].includes(originState(origin, nowMs)));

interface StateProps {
  readonly state: RegionState | undefined;
  readonly incident: Incident | undefined;
  readonly origins: readonly Origin[];
  readonly oldMs: number | undefined;
  readonly nowMs: number;
}

/** Requests that fail are no green state, even where the gateway's judgement is a moment behind. */
function State({ state, incident, origins, oldMs, nowMs }: StateProps) {
  if (state === undefined || oldMs !== undefined) {
    const before =
      state === undefined || oldMs === undefined ? "" : `, at ${clockText(oldMs / 1000, false)}: ${WORDS[state]}`;
    return (
      <Mark mood="plain" icon="none">
        {`Not known${before}`}
      </Mark>
    );
  }
  const isFailing = incident?.level === "failing" && (state === "healthy" || state === "not-asked");
  const lasted = incident?.sinceMs === undefined ? "" : `for ${lastedText(nowMs - incident.sinceMs)}`;
  const testing = origins.filter((origin) => originState(origin, nowMs) === "testing").length;
  if (state === "testing") return <StateMark of={{ state }}>{`${testing} of ${origins.length}`}</StateMark>;
  return (
    <StateMark
      of={{ state: isFailing ? "degraded" : state }}
      isPill={incident !== undefined && incident.level !== "warn"}
    >
      {lasted}
    </StateMark>
  );
}

const WORDS: Readonly<Record<RegionState, string>> = {
  healthy: "healthy",
  testing: "testing",
  degraded: "degraded",
  down: "down",
  "not-asked": "not asked yet",
};

const MARKS: Readonly<Record<OriginState, readonly [mood: Mood, icon: IconName, word: string]>> = {
  healthy: ["good", "good", "Healthy"],
  testing: ["warn", "testing", "Testing"],
  degraded: ["warn", "warn", "Degraded"],
  down: ["bad", "bad", "Down"],
  "not-asked": ["plain", "none", "Not asked yet"],
  drained: ["plain", "none", "Drained"],
};

/** Beyond these a number says more than marks. */
const MARKS_MAX = 5;

function Marks({ origins, nowMs }: { origins: readonly Origin[]; nowMs: number }) {
  const states = origins.map((origin) => originState(origin, nowMs));
  const good = states.filter((state) => state === "healthy").length;
  const isAsked = states.some((state) => state !== "not-asked" && state !== "drained");
  return (
    <span class="origins">
      {states.length <= MARKS_MAX &&
        states.map((state, at) => (
          <span key={origins[at]?.host} class={MARKS[state][0]}>
            <Icon name={MARKS[state][1]} />
          </span>
        ))}
      <span>{isAsked ? `${good} of ${states.length}` : states.length}</span>
    </span>
  );
}

/** Each origin with the reason for its mark; the region's own reason first. */
const Evidence = ({ basis, origins, nowMs }: { basis: string; origins: readonly Origin[]; nowMs: number }) => (
  <>
    {basis !== "" && <p class="basis">{basis}</p>}
    <ul class="sub-rows">
      {origins.map((origin) => {
        const [mood, icon, word] = MARKS[originState(origin, nowMs)];
        return (
          <li key={origin.host}>
            <code>{origin.host}</code>
            <Mark mood={mood} icon={icon}>
              {word}
            </Mark>
            <span>{originEvidence(origin, nowMs)}</span>
            <small>{lastAnswerText(origin)}</small>
          </li>
        );
      })}
    </ul>
  </>
);
