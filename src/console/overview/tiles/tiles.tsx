import type { MetricsHistory } from "../../../formats/console-api.ts";
import { gatewayNow } from "../../app/clock.ts";
import { msText } from "../../app/words.ts";
import { changeOf, ratesOf, recentOf, wholeOf } from "../history.ts";
import { areMany, type Incident } from "../incident.ts";
import { momentText, rateText, shareText } from "../plot/words.ts";
import { problemWords, statusOf } from "../problem-words.ts";
import { RevisionTile } from "./revision-tile.tsx";
import { Spark, Tile } from "./tile.tsx";

interface Props {
  /** The last hour; `undefined` while it is loaded. */
  readonly hour: MetricsHistory | undefined;
  readonly incidents: readonly Incident[];
}

/** Five figures that say whether all is well. None is shown that was not counted. */
export function Tiles({ hour, incidents }: Props) {
  const nowMs = gatewayNow();
  const known = hour !== undefined && hour.source !== "none" && hour.at.length > 1 ? hour : undefined;
  return (
    <div class="tiles">
      {known === undefined ? (
        ["Requests", "Errors, 5xx", "Refused, 4xx", "p99 to the response"].map((title) => (
          <Tile key={title} title={title} value="–">
            {whyNone(hour)}
          </Tile>
        ))
      ) : (
        <Figures hour={known} incidents={incidents} nowMs={nowMs} />
      )}
      <RevisionTile hour={hour} nowMs={nowMs} />
    </div>
  );
}

const whyNone = (hour: MetricsHistory | undefined): string =>
  hour === undefined ? "loading" : hour.source === "none" ? "not known: the counters cannot be read" : "no figures yet";

function Figures({
  hour: all,
  incidents,
  nowMs,
}: {
  hour: MetricsHistory;
  incidents: readonly Incident[];
  nowMs: number;
}) {
  const hour = wholeOf(all);
  const { total, stepSeconds } = hour;
  const recent = recentOf(all.total, stepSeconds);
  const rates = (counts: readonly number[]) => ratesOf(counts, stepSeconds);
  const shares = (counts: readonly number[]) =>
    counts.map((count, at) => (total.requests[at] ? count / (total.requests[at] ?? 1) : 0));
  const failed = recent.errorShare ?? 0;
  const isBad = failed > 0 && (incidents.some(({ level }) => level !== "warn") || areMany(failed * 100, 100));
  const refused = mostRefused(all);
  return (
    <>
      <Tile
        title="Requests"
        value={rateText(recent.perSecond)}
        unit=" / s"
        spark={<Spark values={rates(total.requests)} />}
      >
        {changeText(changeOf(all.total.requests, stepSeconds), hour, nowMs)}
      </Tile>
      <Tile
        title="Errors, 5xx"
        {...figureOf(recent.errorShare)}
        isBad={isBad}
        spark={<Spark values={shares(total.errors)} isBad={isBad} />}
      >
        {isBad ? whereText(incidents) : partText(recent.errorShare, recent.perSecond, "last minute")}
      </Tile>
      <Tile title="Refused, 4xx" {...figureOf(recent.refusedShare)} spark={<Spark values={shares(total.refused)} />}>
        {partText(recent.refusedShare, recent.perSecond, refused && `most: ${problemWords(refused).title}`)}
      </Tile>
      <Tile title="p99 to the response" {...timeOf(recent.p99)} spark={<Spark values={total.p99} second={total.p50} />}>
        {recent.p99 === undefined ? "nothing measured in the last minute" : `p50 ${msText(recent.p50)} (dashed)`}
      </Tile>
    </>
  );
}

const partText = (share: number | undefined, perSecond: number, more: string | undefined): string =>
  share === undefined
    ? "no request in the last minute"
    : [`${rateText(share * perSecond)} a second`, ...(more ? [more] : [])].join(", ");

/** The figure and its unit apart. */
function figureOf(share: number | undefined): { readonly value: string; readonly unit: string } {
  const [value = "–", unit = ""] = shareText(share).split(" ");
  return { value, unit: ` ${unit}` };
}

function timeOf(ms: number | undefined): { readonly value: string; readonly unit: string } {
  const [value = "–", unit = ""] = msText(ms).split(" ");
  return { value, unit: ` ${unit}` };
}

const changeText = (change: number | undefined, { since }: MetricsHistory, nowMs: number): string => {
  if (change === undefined)
    return since === null ? "a second, last minute" : `counted since ${momentText(Date.parse(since), nowMs)}`;
  if (Math.abs(change) < 0.005) return "as an hour before";
  return `${Math.round(Math.abs(change) * 100)} % ${change > 0 ? "more" : "less"} than an hour before`;
};

function whereText(incidents: readonly Incident[]): string {
  const names = incidents.flatMap(({ level, region }) => (level === "warn" || region === undefined ? [] : [region]));
  return names.length === 0 ? "last minute" : `last minute, most of it in ${names.slice(0, 3).join(", ")}`;
}

/** The problem that most of the requests got that were refused in the last minute; an origin may refuse them itself. */
function mostRefused({ problems, total, stepSeconds }: MetricsHistory): string | undefined {
  const steps = Math.round(60 / stepSeconds) + 1;
  const latest = (counts: readonly number[]) => counts.slice(-steps).reduce((all, count) => all + count, 0);
  const [most] = Object.entries(problems)
    .filter(([slug]) => (statusOf(slug) ?? 500) < 500)
    .map(([slug, counts]) => [slug, latest(counts)] as const)
    .toSorted(([, a], [, b]) => b - a);
  const refused = latest(total.refused);
  return most !== undefined && refused > 0 && most[1] * 2 >= refused ? most[0] : undefined;
}
