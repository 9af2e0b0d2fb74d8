import { useMemo, useState } from "preact/hooks";
import type { MetricsHistory } from "../../formats/console-api.ts";
import type { TableRevision } from "../../formats/table-api.ts";
import { gatewayNow } from "../app/clock.ts";
import { ownOf } from "../app/own.ts";
import { Button } from "../app/parts/button.tsx";
import { Empty, Sheet } from "../app/parts/sheet.tsx";
import { fragmentOf } from "../app/router.ts";
import { clockText, msText } from "../app/words.ts";
import { Chart, type Flag, type Line } from "./chart.tsx";
import { courseOf, pointsOf, problemCounts, ratesOf, thinned, wholeOf } from "./history.ts";
import { RANGES, range, rangeText } from "./live.ts";
import { cursorAt } from "./plot/cursor.ts";
import { momentText, rateText, timeTextFor } from "./plot/words.ts";
import { problemWords, statusOf } from "./problem-words.ts";

interface Props {
  readonly shown: MetricsHistory;
  readonly names: readonly string[];
  readonly revisions: readonly TableRevision[] | undefined;
}

/** Lines of problems that a chart can hold apart. */
const PROBLEM_STYLES = ["grey", "dashed", "dotted", "solid"] as const;

/** Traffic over the range. The cursor moves in all charts at once. */
export function Charts({ shown: all, names, revisions }: Props) {
  const shown = useMemo(() => wholeOf(all), [all]);
  const flags = useMemo(() => (revisions ?? []).toReversed().flatMap(flagOf), [revisions]);
  const lines = useLines(shown, names);
  const { at } = lines;
  const [hasOrigins, setHasOrigins] = useState(false);
  const span = { from: at[0] ?? 0, to: at.at(-1) ?? 0 };
  const when =
    cursorAt.value === undefined ? "Values of now" : `Values at ${timeTextFor(at, span)(cursorAt.value, true)}`;
  if (at.length < 2) return <NoFigures isKnown={shown.source !== "none"} />;
  const shared = { at, flags };
  const times = hasOrigins ? [...lines.times, ...lines.originTimes] : lines.times;
  return (
    <Sheet
      title={`Last ${rangeText(range.value)}`}
      aside={<p>{`${when}. Flags are revisions, dashed ones canaries`}</p>}
      footer={<span>{keptText(shown, lines.at)}</span>}
    >
      <div class="charts">
        <Chart {...shared} title="Requests a second" lines={lines.requests} text={rateText} />
        <Chart {...shared} title="Errors a second" unit="status 5xx" lines={lines.errors} text={rateText} />
        <Chart
          {...shared}
          title="Time to the response"
          lines={times}
          text={msText}
          aside={
            <Button kind="quiet" size="small" isPressed={hasOrigins} onClick={() => setHasOrigins(!hasOrigins)}>
              with origins
            </Button>
          }
        />
        <Chart {...shared} title="Refused a second" unit="status 4xx" lines={lines.refused} text={rateText} />
        <Chart {...shared} title="Requests in progress" lines={lines.busy} text={rateText} />
        {lines.problems.length > 0 && (
          <Chart {...shared} title="Problems a second" lines={lines.problems} text={rateText} />
        )}
      </div>
    </Sheet>
  );
}

const NoFigures = ({ isKnown }: { isKnown: boolean }) => (
  <Sheet title="Over time">
    {isKnown ? (
      <Empty icon="overview" title="No request was counted yet">
        The first figures come with the first minute of traffic.
      </Empty>
    ) : (
      <Empty icon="offline" title="The figures are not known">
        The counters cannot be read now.
      </Empty>
    )}
  </Sheet>
);

function useLines(shown: MetricsHistory, names: readonly string[]) {
  return useMemo(() => {
    const { at, total, stepSeconds } = shown;
    const points = pointsOf(shown);
    const ratesIn = (counts: readonly number[], length = stepSeconds) =>
      thinned(ratesOf(counts, length), points, "average");
    const byRegion = (of: "requests" | "errors" | "refused" | "busyMs", length = stepSeconds) =>
      names.flatMap((name): readonly Line[] => {
        const series = ownOf(shown.regions, name);
        return series === undefined
          ? []
          : [{ name, region: name, style: "solid", values: ratesIn(series[of], length) }];
      });
    const timesIn = (name: string, style: Line["style"], values: readonly (number | null)[]): Line => ({
      name,
      style,
      values: thinned(values, points, "highest"),
    });
    return {
      at: points.map(([first = 0]) => at[first] ?? 0),
      requests: byRegion("requests"),
      errors: byRegion("errors"),
      refused: byRegion("refused"),
      busy: byRegion("busyMs", stepSeconds * 1000),
      times: [timesIn("p50", "solid", total.p50), timesIn("p99", "dashed", total.p99)],
      originTimes: [timesIn("origin p50", "grey", total.originP50), timesIn("origin p99", "dotted", total.originP99)],
      problems: problemCounts(shown)
        .slice(0, PROBLEM_STYLES.length)
        .map(([slug], place): Line => {
          const counts = shown.problems[slug] ?? [];
          const isBad = (statusOf(slug) ?? 500) >= 500 && courseOf(counts, shown).newSince !== undefined;
          const style = isBad ? "solid" : (PROBLEM_STYLES[place] ?? "solid");
          return { name: problemWords(slug).title, style, isBad, values: ratesIn(counts) };
        }),
    };
  }, [shown, names.join()]);
}

function flagOf({ time, revision, kind, note, author }: TableRevision): readonly Flag[] {
  if (time === undefined) return [];
  const isCanary = kind === "canary";
  const at = Date.parse(time) / 1000;
  const title = `${clockText(at, false)} ${isCanary ? "canary" : "revision"} ${revision} by ${author}${note === "" ? "" : `: ${note}`}`;
  return [{ at, text: String(revision), isCanary, href: fragmentOf("history", { revision: String(revision) }), title }];
}

/** So far back figures are kept, and no farther. */
function keptText({ stepSeconds, since }: MetricsHistory, at: readonly number[]): string {
  const [first = 0, , third = 0, fourth = 0] = at;
  // The first one may be shorter.
  const shown = fourth > 0 ? fourth - third : (at[1] ?? 0) - first;
  const kept = { hour: "an hour", day: "24 hours", month: "30 days" }[RANGES[range.value].span];
  const begun = since === null ? "" : ` Counted since ${momentText(Date.parse(since), gatewayNow())}.`;
  const highest = shown > stepSeconds ? ", of times the highest" : "";
  return `A point is ${stepText(shown)}${highest}. Steps of ${stepText(stepSeconds)} are kept for ${kept}; older figures are in your own monitoring.${begun}`;
}

const stepText = (seconds: number): string =>
  seconds < 60 ? `${seconds} s` : seconds < 3_600 ? `${seconds / 60} min` : `${seconds / 3_600} h`;
