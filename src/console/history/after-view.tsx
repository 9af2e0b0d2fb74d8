import "../style/changes.css";
import type { MetricsHistory } from "../../formats/console-api.ts";
import type { TableRevision } from "../../formats/table-api.ts";
import { gatewayNow } from "../app/clock.ts";
import { Sheet } from "../app/parts/sheet.tsx";
import { Mark } from "../app/parts/state.tsx";
import { Table } from "../app/parts/table.tsx";
import { fragmentOf } from "../app/router.ts";
import { countText } from "../app/words.ts";
import { lastedText, shareText } from "../overview/plot/words.ts";
import { type After, answersAround, type Outcome } from "./after.ts";

interface Props {
  readonly of: TableRevision;
  /** Answers from it on are left out. */
  readonly next: TableRevision | undefined;
  readonly histories: readonly (MetricsHistory | undefined)[] | undefined;
}

const secondsOf = (revision: TableRevision | undefined): number | undefined =>
  revision?.time === undefined ? undefined : Date.parse(revision.time) / 1_000;

/** Answers before a revision and after it. */
export function AfterView({ of, next, histories }: Props) {
  const at = secondsOf(of);
  if (at === undefined || histories === undefined) return null;
  if (of.kind === "canary") {
    return (
      <Sheet title={`After ${of.revision}`} isIn>
        <p>
          A canary answers beside the table in force: <a href={fragmentOf("canary")}>Canary</a> compares the two while
          it runs.
        </p>
      </Sheet>
    );
  }
  const to = secondsOf(next);
  const own = answersAround(histories, { at, ...(to !== undefined && { to }) });
  return (
    <Sheet
      title={`After ${of.revision}`}
      aside={
        own && (
          <p>
            {lastedText(own.beforeSeconds * 1_000)} before, {lastedText(own.afterSeconds * 1_000)} after
          </p>
        )
      }
    >
      {own === undefined ? <p class="in soft">{missing(at, to, histories)}</p> : <Figures of={own} />}
    </Sheet>
  );
}

const SOON_SECONDS = 120;

function missing(at: number, to: number | undefined, histories: readonly (MetricsHistory | undefined)[]): string {
  if (histories.every((history) => history === undefined)) return "The figures could not be read.";
  if (to !== undefined && to - at < SOON_SECONDS)
    return `The next revision came ${lastedText((to - at) * 1_000)} later: too soon to tell them apart.`;
  return gatewayNow() / 1_000 - at < SOON_SECONDS
    ? "No figures yet: isolates report every few seconds."
    : "No requests were counted before it and after it, or their figures are no longer kept.";
}

const NAMES: Readonly<Record<string, string>> = { errors: "Errors, 5xx", refused: "Refused, 4xx" };

const Figures = ({ of: { outcomes, requests } }: { of: After }) => (
  <Table
    label="Answers before and after"
    class="comp"
    columns={[
      { name: "Answers", class: "c-name" },
      { name: "Before", isNumber: true },
      { name: "After", isNumber: true },
      { name: "Difference", class: "wide", isPlain: true },
    ]}
    rows={[
      ...outcomes.map((own) => ({
        key: own.name,
        cells: [
          NAMES[own.name] ?? <code>{own.name}</code>,
          shareText(own.before),
          shareText(own.after),
          <Difference key="difference" of={own} />,
        ],
      })),
      {
        key: "requests",
        cells: ["Of requests", countText(requests.before), countText(requests.after), ""],
      },
    ]}
  />
);

function Difference({ of: { is, before, after } }: { of: Outcome }) {
  if (is === "same") return <span class="soft">no more than chance</span>;
  const points = countText(Number((Math.abs(after - before) * 100).toPrecision(2)));
  return (
    <Mark mood={is === "less" ? "good" : "bad"} icon={is === "less" ? "good" : "bad"}>
      {points} points {is}
    </Mark>
  );
}
