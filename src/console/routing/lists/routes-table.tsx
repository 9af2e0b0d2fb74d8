import { useEffect, useRef, useState } from "preact/hooks";
import type { MetricsHistory, RouteRevisions } from "../../../formats/console-api.ts";
import { Button } from "../../app/parts/button.tsx";
import { RegionChip } from "../../app/parts/region.tsx";
import { Mark } from "../../app/parts/state.tsx";
import { type Column, type Row, Share, Table } from "../../app/parts/table.tsx";
import { fragmentOf } from "../../app/router.ts";
import { type KnownTable, mayChange } from "../../app/session.ts";
import { countText, dayText, plural } from "../../app/words.ts";
import { shareText } from "../../overview/plot/words.ts";
import type { Part } from "../condition-words.ts";
import type { OpenForm } from "../forms/routing-form.tsx";
import type { RouteWords, Towards } from "../route-words.ts";
import type { RouteRow, Shares } from "./rows.ts";

/** More are on further pages: each row is many nodes, and a table may have ten thousand. */
const ROWS_MAX = 100;

interface Props {
  readonly known: KnownTable;
  readonly rows: readonly RouteRow[];
  readonly shares: Shares | undefined;
  readonly history: MetricsHistory | undefined;
  readonly revisions: RouteRevisions | undefined;
  /** The route that a link names, from 1. */
  readonly asked: number;
  readonly onForm: (form: OpenForm) => void;
}

export function Rows({ rows, asked, ...props }: Props) {
  const found = rows.findIndex(({ words }) => words.number === asked);
  const [from, setFrom] = useState(0);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => setFrom(found === -1 ? 0 : found - (found % ROWS_MAX)), [rows, found]);
  useEffect(() => {
    frame.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "center" });
  }, [found, from]);
  const first = Math.min(from, rows.length - 1);
  const shown = rows.slice(first, first + ROWS_MAX);
  const sinceOf = new Map(props.revisions?.routes.map(({ pointer, since }) => [pointer, since]));
  return (
    <div ref={frame}>
      <Table
        label="Routes"
        class="rows routes"
        columns={columnsOf(props.shares, props.history)}
        rows={shown.map(({ words }) => rowOf(words, { ...props, since: sinceOf.get(words.pointer), asked }))}
      />
      {rows.length > ROWS_MAX && <Pages first={first} all={rows.length} onChange={setFrom} />}
    </div>
  );
}

function Pages({ first, all, onChange }: { first: number; all: number; onChange: (from: number) => void }) {
  return (
    <nav class="row far route-pages" aria-label="More routes">
      <Button
        size="small"
        icon="left"
        disabledBecause={first === 0 ? "These are the first." : undefined}
        onClick={() => onChange(Math.max(0, first - ROWS_MAX))}
      >
        Earlier
      </Button>
      <span role="status">
        {countText(first + 1)} to {countText(Math.min(all, first + ROWS_MAX))} of {countText(all)}
      </span>
      <Button
        size="small"
        icon="right"
        disabledBecause={first + ROWS_MAX >= all ? "These are the last." : undefined}
        onClick={() => onChange(first + ROWS_MAX)}
      >
        Later
      </Button>
    </nav>
  );
}

/** The counters keep an hour; a table that is younger is counted since it came. */
function columnsOf(shares: Shares | undefined, history: MetricsHistory | undefined): readonly Column[] {
  const others = history?.routes?.some(({ revision }) => revision !== null && revision !== shares?.revision);
  const since = others === true ? `since revision ${shares?.revision}` : "last hour";
  return [
    { name: "#", isNumber: true, class: "c-n" },
    { name: "Takes", class: "cond wide", isPlain: true },
    { name: "Goes to", class: "c-to", isPlain: true },
    { name: `Of all requests, ${since}`, class: "c-share", isPlain: true },
    { name: "Last changed", class: "c-rev", isPlain: true },
    { name: "Edit", class: "c-act", isHidden: true },
  ];
}

type Since = RouteRevisions["routes"][number]["since"] | undefined;

type Context = Omit<Props, "rows"> & { readonly since: Since };

const rowOf = (words: RouteWords, context: Context): Row => ({
  key: words.pointer,
  class: words.number === undefined ? "end" : "",
  isSelected: words.number !== undefined && words.number === context.asked,
  cells: [
    words.number ?? "–",
    <Takes key="takes" words={words} known={context.known} />,
    words.pointer === "/default" && words.region === undefined ? (
      <Mark key="to" mood="bad" icon="bad" isPill>
        404
      </Mark>
    ) : (
      <Goes key="to" goes={words.goes} />
    ),
    <ShareOf key="share" words={words} shares={context.shares} history={context.history} />,
    <Changed key="changed" since={context.since} />,
    <Actions key="actions" words={words} context={context} />,
  ],
});

const Takes = ({ words, known }: { words: RouteWords; known: KnownTable }) => (
  <>
    <Words parts={words.takes} />
    <small>{smallOf(words, known)}</small>
  </>
);

function smallOf({ pointer, region, entities }: RouteWords, { declared }: KnownTable): string {
  if (pointer === "/default") return region === undefined ? "the table has no default region" : "the default region";
  if (pointer === "/sources") return plural(Object.keys(declared.withoutId ?? {}).length, "path");
  return entities.join(", ");
}

function ShareOf({ words, shares, history }: { words: RouteWords } & Pick<Context, "shares" | "history">) {
  const [count, total] = countOf(words, shares, history);
  if (count === undefined)
    return <span class="soft">{total === undefined ? "share not known" : "not counted alone"}</span>;
  if (!total) return <span class="soft">no requests</span>;
  const region = words.region === undefined ? {} : { region: words.region };
  return <Share of={count / total} text={shareText(count / total)} {...region} />;
}

function countOf(words: RouteWords, shares: Shares | undefined, history: MetricsHistory | undefined) {
  if (words.pointer === "/default" && words.region === undefined) {
    // Refused before a route decided: counted as the problem that they got.
    const { problems = {}, total } = history ?? {};
    const sum = (counts: readonly number[] = []): number => counts.reduce((all, count) => all + count, 0);
    return history?.source === "all"
      ? ([sum(problems["unassigned-key"]), sum(total?.requests)] as const)
      : ([undefined, undefined] as const);
  }
  return [shares?.of(words), shares?.total] as const;
}

function Changed({ since }: { since: Since }) {
  if (since === undefined) return <span class="soft">change not known</span>;
  return (
    <>
      <a href={fragmentOf("history", { revision: String(since.revision) })}>revision {since.revision}</a>{" "}
      <span class="faint">{since.isExact ? since.time && dayText(since.time) : "or earlier"}</span>
    </>
  );
}

function Actions({ words, context: { known, onForm } }: { words: RouteWords; context: Context }) {
  if (words.pointer === "/default" && words.region === undefined) {
    return mayChange.value ? (
      <Button size="small" icon="plus" onClick={() => onForm({ kind: "default" })}>
        default
      </Button>
    ) : null;
  }
  const line = known.lineOf(words.pointer);
  const name = words.number === undefined ? words.pointer.slice(1) : `route ${words.number}`;
  const form = formOf(words);
  return (
    <span class="row tight in-row">
      {mayChange.value && form && (
        <Button size="small" kind="quiet" icon="moves" label={`Send ${name} elsewhere`} onClick={() => onForm(form)} />
      )}
      {line !== undefined && (
        <Button
          size="small"
          icon="pencil"
          href={fragmentOf("editor", { line: String(line) })}
          label={`${mayChange.value ? "Edit" : "Show"} ${name}, line ${line}`}
        >
          line {line}
        </Button>
      )}
    </span>
  );
}

function formOf({ number, pointer }: RouteWords): OpenForm | undefined {
  if (pointer === "/default") return { kind: "default" };
  return number === undefined ? undefined : { kind: "send", route: number - 1 };
}

const Words = ({ parts }: { parts: readonly Part[] }) => (
  <>{parts.map(({ text, isStrong }, at) => (isStrong ? <b key={at}>{text}</b> : <span key={at}>{text}</span>))}</>
);

const Goes = ({ goes }: { goes: readonly Towards[] }) => (
  <span class="goes">
    {goes.map((each, at) =>
      "region" in each ? <RegionChip key={at} name={each.region} isBoxed /> : <span key={at}>{each.text}</span>,
    )}
  </span>
);
