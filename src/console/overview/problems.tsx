import { useEffect, useState } from "preact/hooks";
import type { MetricsHistory, ProblemSamples } from "../../formats/console-api.ts";
import { call, type Problem } from "../app/api.ts";
import { Button } from "../app/parts/button.tsx";
import { ProblemNote, Sheet, Skeleton } from "../app/parts/sheet.tsx";
import { Facts } from "../app/parts/table.tsx";
import { fragmentOf } from "../app/router.ts";
import { agoText, clockText, countText, wholeText } from "../app/words.ts";
import type { Flag } from "./chart.tsx";
import { type Course, courseOf, periodsOf, problemCounts, sumWithin } from "./history.ts";
import { rateText } from "./plot/words.ts";
import { problemWords, statusOf } from "./problem-words.ts";

/** So many are shown at first. */
const FIRST = 4;

interface Props {
  readonly shown: MetricsHistory;
  readonly title: string;
  readonly flags: readonly Pick<Flag, "at" | "text">[];
}

/** Problems that requests had, most often first. Each opens to the paths that had it last. */
export function Problems({ shown, title, flags }: Props) {
  const [hasAll, setAll] = useState(false);
  const [open, setOpen] = useState<string>();
  const all = problemCounts(shown);
  if (all.length === 0) {
    return (
      <Sheet title={title} isIn>
        <p class="soft">None was counted.</p>
      </Sheet>
    );
  }
  return (
    <Sheet
      title={title}
      aside={
        all.length > FIRST && (
          <Button kind="quiet" size="small" isPressed={hasAll} onClick={() => setAll(!hasAll)}>
            {`All ${all.length}`}
          </Button>
        )
      }
    >
      <ul class="list problems" aria-label="Problems">
        {(hasAll ? all : all.slice(0, FIRST)).map(([slug, count]) => {
          const course = courseOf(shown.problems[slug] ?? [], shown);
          const isHot = course.newSince !== undefined && (statusOf(slug) ?? 500) >= 500;
          const isOpen = open === slug;
          return (
            <li key={slug} class={isHot ? "hot" : ""}>
              <div>
                <button
                  type="button"
                  class="link"
                  aria-expanded={isOpen}
                  onClick={() => setOpen(isOpen ? undefined : slug)}
                >
                  {problemWords(slug).title}
                </button>
                <small>
                  <code>{slug}</code>
                </small>
              </div>
              <span class="num">
                <span>{wholeText(count)}</span>
                <small>{courseText(course)}</small>
              </span>
              {isOpen && <Details slug={slug} shown={shown} flags={flags} />}
            </li>
          );
        })}
      </ul>
    </Sheet>
  );
}

function courseText({ newSince, perSecond, times }: Course): string {
  if (newSince !== undefined) return `new since ${clockText(newSince, false)}`;
  if (times !== undefined && times > 1) return `${countText(Math.round(times))} times as often`;
  if (perSecond === 0) return "none in the last minute";
  return `${rateText(perSecond)} / s${times === undefined ? "" : ", as before"}`;
}

/** How often before and after the last publications, and the last requests that had it. */
function Details({ slug, shown, flags }: { slug: string; shown: MetricsHistory; flags: Props["flags"] }) {
  const [samples, setSamples] = useState<ProblemSamples>();
  const [problem, setProblem] = useState<Problem>();
  const load = () => {
    void call<ProblemSamples>(`/-/metrics/problems/${encodeURIComponent(slug)}`).then((answer) => {
      if (answer.ok) setSamples(answer.value);
      setProblem(answer.ok ? undefined : answer.problem);
    });
  };
  useEffect(load, [slug]);
  const periods = periodsOf(shown, flags);
  const { status } = problemWords(slug);
  return (
    <div class="details">
      <Facts
        rows={[
          status === undefined ? undefined : ["Status", status],
          ...periods.map(
            (period) =>
              [
                `A minute ${period.name}`,
                rateText(sumWithin(shown.problems[slug] ?? [], period) / period.minutes),
              ] as const,
          ),
        ]}
      />
      {problem && <ProblemNote problem={problem} onRetry={load} />}
      {samples === undefined && problem === undefined && <Skeleton label="Loading the last requests" lines={2} />}
      {samples && <Samples samples={samples} />}
      <a class="soft" href={`/-/problems/${slug}`} target="_blank" rel="noreferrer">
        About this problem
      </a>
    </div>
  );
}

const SOURCES: Readonly<Record<"none" | "off", string>> = {
  none: "The last requests cannot be read now.",
  off: "This deployment keeps no paths: PROBLEM_SAMPLES is off.",
};

function Samples({ samples: { source, samples } }: { samples: ProblemSamples }) {
  if (source !== "all") return <p class="soft">{SOURCES[source]}</p>;
  if (samples.length === 0) return <p class="soft">No request that had it is kept.</p>;
  return (
    <ul class="samples" aria-label="The last requests that had it">
      {samples.map(({ at, method, path, region, status }) => (
        <li key={`${at} ${path}`}>
          <a href={fragmentOf("look-up", { id: path })}>
            <code>{path}</code>
          </a>
          <small>
            {method}, {status}
            {region !== null && ` from ${region}`}, {agoText(at)}
          </small>
        </li>
      ))}
    </ul>
  );
}
