import { useMemo, useState } from "preact/hooks";
import type { HistorySeries, MetricsHistory } from "../../formats/console-api.ts";
import type { TableRevision } from "../../formats/table-api.ts";
import { ownOf } from "../app/own.ts";
import { Button } from "../app/parts/button.tsx";
import { Empty, Sheet } from "../app/parts/sheet.tsx";
import { fragmentOf } from "../app/router.ts";
import { clockText, msText } from "../app/words.ts";
import { Chart, type Flag, type Line } from "./chart.tsx";
import { courseOf, problemCounts, ratesOf, wholeOf } from "./history.ts";
import { RANGES, range } from "./live.ts";
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
  const { at, since } = shown;
  const flags = useMemo(() => (revisions ?? []).flatMap(flagOf), [revisions]);
  const lines = useLines(shown, names);
  const [hasOrigins, setHasOrigins] = useState(false);
  const span = { from: at[0] ?? 0, to: at.at(-1) ?? 0 };
  const when =
    cursorAt.value === undefined ? "Values of now" : `Values at ${timeTextFor(at, span)(cursorAt.value, true)}`;
  if (at.length < 2) {
    return (
      <Sheet title="Over time">
        <Empty icon="overview" title="No request was counted yet">
          The first figures come with the first minute of traffic.
        </Empty>
      </Sheet>
    );
  }
  const shared = { at, flags };
  const times = hasOrigins ? [...lines.times, ...lines.originTimes] : lines.times;
  return (
    <Sheet
      title={`Last ${range.value}`}
      aside={<p>{`${when}. Flags are revisions, dashed ones canaries`}</p>}
      footer={<span>{keptText(shown, since)}</span>}
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

function useLines(shown: MetricsHistory, names: readonly string[]) {
  return useMemo(() => {
    const { at, total, stepSeconds } = shown;
    const byRegion = (
      of: keyof Pick<HistorySeries, "requests" | "errors" | "refused" | "busyMs">,
      length = stepSeconds,
    ) =>
      names.flatMap((name): readonly Line[] => {
        const series = ownOf(shown.regions, name);
        return series === undefined
          ? []
          : [{ name, region: name, style: "solid", values: ratesOf(series[of], length) }];
      });
    const problems = problemCounts(shown).slice(0, PROBLEM_STYLES.length);
    return {
      requests: byRegion("requests"),
      errors: byRegion("errors"),
      refused: byRegion("refused"),
      busy: byRegion("busyMs", stepSeconds * 1000),
      times: [
        { name: "p50", style: "solid", values: total.p50 },
        { name: "p99", style: "dashed", values: total.p99 },
      ] satisfies readonly Line[] as readonly Line[],
      originTimes: [
        { name: "origin p50", style: "grey", values: total.originP50 },
        { name: "origin p99", style: "dotted", values: total.originP99 },
      ] satisfies readonly Line[] as readonly Line[],
      problems: problems.map(([slug], place): Line => {
        const counts = shown.problems[slug] ?? [];
        const isBad = (statusOf(slug) ?? 500) >= 500 && courseOf(counts, { at, stepSeconds }).newSince !== undefined;
        return {
          name: problemWords(slug).title,
          style: PROBLEM_STYLES[place] ?? "solid",
          isBad,
          values: ratesOf(counts, stepSeconds),
        };
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
function keptText({ stepSeconds }: MetricsHistory, since: string | null): string {
  const step =
    stepSeconds < 60
      ? `${stepSeconds} s`
      : stepSeconds < 3_600
        ? `${stepSeconds / 60} min`
        : `${stepSeconds / 3_600} h`;
  const kept = { hour: "an hour", day: "24 hours", month: "30 days" }[RANGES[range.value].span];
  const begun = since === null ? "" : ` Counted since ${momentText(Date.parse(since), Date.now())}.`;
  return `In steps of ${step}, which are kept for ${kept}. Older figures are in your own monitoring.${begun}`;
}
