import "../../style/lookup.css";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { gatewayNow } from "../../app/clock.ts";
import { download } from "../../app/download.ts";
import { force } from "../../app/force.ts";
import { Button } from "../../app/parts/button.tsx";
import { Icon } from "../../app/parts/icons.tsx";
import { Shape } from "../../app/parts/region.tsx";
import { Empty, ProblemNote } from "../../app/parts/sheet.tsx";
import { regionNames, session } from "../../app/session.ts";
import { clockText, countText, plural } from "../../app/words.ts";
import { GoesTo } from "../goes-to.tsx";
import { nameOfPasted, type Pasted, type PastedList } from "../read-pasted.ts";
import type { Reader } from "../reader.ts";
import { COLUMNS, cellsOf, groupOf, type ListRow, type Rows, rowsOf, withLocated } from "./rows.ts";
import { csvOf, sheetOf } from "./sheet.ts";
import { askList, type ListState, stateOf } from "./state.ts";

/** Many IDs: a list that holds only the rows in view, so ten thousand stay fluent. */

interface ManyProps {
  readonly list: PastedList;
  readonly reader: Reader;
  /** Where the ID of a row is shown. */
  readonly hrefOf: (pasted: Pasted) => string;
  /** The place of the row that is shown beside the list. */
  readonly selected?: number | undefined;
}

export function ManyIds({ list, reader, hrefOf, selected }: ManyProps) {
  const state = stateOf(list);
  const located = state.located.value;
  const read = useMemo(() => rowsOf(list.items, reader, gatewayNow()), [list, reader]);
  const rows = useMemo(() => withLocated(read, located), [read, located]);
  const groups = useGroups(rows);
  const filter = state.filter.value;
  const places = filter === undefined ? undefined : (groups.get(filter) ?? []);
  const save = () => {
    const sheet = sheetOf(list, COLUMNS, (item) => cellsOf(rows.at(item)));
    download("waybill-ids.csv", "text/csv", csvOf(sheet));
  };
  return (
    <section class="sheet list-sheet" aria-label={`The ${plural(list.items.length, "ID")}`}>
      <header>
        <h2 class="hidden">{plural(list.items.length, "ID")}</h2>
        <Filters state={state} groups={groups} count={list.items.length} />
        <div class="row">
          <AskButton state={state} reader={reader} />
          <Button icon="download" size="small" onClick={save}>
            CSV
          </Button>
        </div>
      </header>
      {typeof state.asking.value === "object" && (
        <div class="in">
          <ProblemNote problem={state.asking.value} onRetry={() => void askList(state, reader)} />
        </div>
      )}
      {places?.length === 0 && filter !== undefined ? (
        <Empty
          icon="filter"
          title="No ID of the list is left"
          actions={
            <Button
              onClick={() => {
                state.filter.value = undefined;
              }}
            >
              Show all {countText(list.items.length)}
            </Button>
          }
        >
          The filter hides them all.
        </Empty>
      ) : (
        <Body state={state} rows={rows} places={places} hrefOf={hrefOf} selected={selected} />
      )}
    </section>
  );
}

/** Whether the gateway was asked, and how far it came. */
export function ListUnder({ list, reader }: { list: PastedList; reader: Reader }) {
  const { askedAtMs, located } = stateOf(list);
  const at = askedAtMs.value;
  const known = located.value.length;
  const canary = force.value?.canary;
  return (
    <div class="under">
      {at === undefined ? (
        <span>
          <Icon name="lock" /> Read in this browser. Nothing was sent.
          {reader.knows === "names" && " Your role does not see routes: the gateway says the regions."}
          {canary &&
            ` Canary ${canary.revision} decides about ${canary.words} of the IDs: the gateway knows about which.`}
        </span>
      ) : (
        <span>
          <Icon name="sign-out" /> Asked at {clockText(at / 1000, true)}: the regions of {countText(known)} are the
          gateway's.{known < list.items.length && " The others were read here."}
        </span>
      )}
    </div>
  );
}

function AskButton({ state, reader }: { state: ListState; reader: Reader }) {
  const { list, located, asking } = state;
  const isBusy = asking.value === "busy";
  const isDone = located.value.length === list.items.length;
  return (
    <Button
      icon="arrow"
      size="small"
      kind={isDone ? "plain" : "main"}
      isBusy={isBusy}
      disabledBecause={session.value ? undefined : "Sign in to ask."}
      onClick={() => void askList(state, reader)}
    >
      {isBusy
        ? `Asked ${countText(located.value.length)} of ${countText(list.items.length)}`
        : isDone
          ? "Ask again"
          : "Ask the gateway"}
    </Button>
  );
}

/** How long the page may be busy at a time. */
const SLICE_MS = 8;

/** The rows of each group. To read all of a long list takes a moment, so it is done in slices. */
function useGroups(rows: Rows): ReadonlyMap<string, readonly number[]> {
  const [groups, setGroups] = useState<ReadonlyMap<string, readonly number[]>>(new Map());
  useEffect(() => {
    const found = new Map<string, number[]>();
    let at = 0;
    let timer: ReturnType<typeof setTimeout>;
    const go = () => {
      const until = performance.now() + SLICE_MS;
      for (; at < rows.count && performance.now() < until; at++) {
        const group = groupOf(rows.at(at));
        const own = found.get(group);
        if (own === undefined) found.set(group, [at]);
        else own.push(at);
      }
      if (at < rows.count) timer = setTimeout(go);
      else setGroups(found);
    };
    go();
    return () => clearTimeout(timer);
  }, [rows]);
  return groups;
}

const LAST = ["open", "reads-as"];

function Filters({
  state,
  groups,
  count,
}: {
  state: ListState;
  groups: ReadonlyMap<string, readonly number[]>;
  count: number;
}) {
  const regions = [...regionNames.value, ...[...groups.keys()].flatMap((group) => regionOf(group) ?? [])];
  const inOrder = [
    ...new Set([
      ...regions.map((name) => `to ${name}`),
      ...[...groups.keys()].filter((group) => !LAST.includes(group)),
      ...LAST,
    ]),
  ].filter((group) => groups.has(group));
  return (
    <fieldset class="filters">
      <legend class="hidden">Show</legend>
      <Filter state={state} group={undefined} count={count} />
      {inOrder.map((group) => (
        <Filter key={group} state={state} group={group} count={groups.get(group)?.length ?? 0} />
      ))}
    </fieldset>
  );
}

const regionOf = (group: string): string | undefined => (group.startsWith("to ") ? group.slice(3) : undefined);

function Filter({ state, group, count }: { state: ListState; group: string | undefined; count: number }) {
  const region = group === undefined ? undefined : regionOf(group);
  return (
    <button
      type="button"
      class="filter"
      aria-pressed={state.filter.value === group}
      onClick={() => {
        state.top = 0;
        state.filter.value = group;
      }}
    >
      {region !== undefined && <Shape region={region} />}
      {(group === "open" || group === "reads-as") && <Icon name="none" />}
      {region === undefined && group !== undefined && !LAST.includes(group) && <Icon name="bad" class="bad" />}
      {group === undefined ? "All" : (region ?? (group === "open" ? "ask" : group === "reads-as" ? "no ID" : group))}{" "}
      <b>{countText(count)}</b>
    </button>
  );
}

/** Rows and cards have one height each, in rem: so those out of view need not be there. */
const ROW_REM = 2.125;
const CARD_REM = 5.25;
const BESIDE = 8;
const PHONE = "(max-width: 40rem)";

interface BodyProps extends Pick<ManyProps, "hrefOf" | "selected"> {
  readonly state: ListState;
  readonly rows: Rows;
  readonly places: readonly number[] | undefined;
}

function Body({ state, rows, places, hrefOf, selected }: BodyProps) {
  const box = useRef<HTMLElement>(null);
  const [top, setTop] = useState(state.top);
  const { height, row } = useSizes(box);
  const count = places?.length ?? rows.count;
  // The place of the list before a click or Back, or before it was hidden.
  useLayoutEffect(() => {
    if (box.current !== null) box.current.scrollTop = state.top;
    setTop(state.top);
  }, [state, places === undefined, state.filter.value, height > 0]);
  const first = Math.max(0, Math.min(count, Math.floor(top / row)) - BESIDE);
  const shown = Math.max(0, Math.min(count - first, Math.ceil(height / row) + 2 * BESIDE));
  return (
    <section
      ref={box}
      class="scroll tall many"
      aria-label="The pasted IDs"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard (WCAG 2.1.1)
      tabIndex={0}
      onScroll={(event) => {
        const { scrollTop, clientHeight } = event.currentTarget;
        if (clientHeight === 0) return;
        state.top = scrollTop;
        setTop(scrollTop);
      }}
    >
      <table class="tbl rows ids cards" aria-rowcount={count + 1}>
        <thead>
          <tr>
            {HEADS.map(([name, own]) => (
              <th key={name} scope="col" class={own}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap height={first * row} />
          {Array.from({ length: shown }, (_, at) => {
            const place = places?.[first + at] ?? first + at;
            const pasted = state.list.items[place];
            return (
              pasted && (
                <IdRow
                  key={place}
                  place={place}
                  index={first + at}
                  pasted={pasted}
                  row={rows.at(place)}
                  href={hrefOf(pasted)}
                  isSelected={place === selected}
                />
              )
            );
          })}
          <Gap height={(count - first - shown) * row} />
        </tbody>
      </table>
    </section>
  );
}

const HEADS = [
  ["#", "num c-n"],
  ["ID", "c-id"],
  ["Is", "c-what"],
  ["Minted, UTC", "c-time"],
  ["Goes to", "c-to"],
  ["Note", "c-note"],
] as const;

/** The height of the box and of one row, which follow the window and the size of the text. */
function useSizes(box: { readonly current: HTMLElement | null }) {
  const [sizes, setSizes] = useState({ height: 0, row: ROW_REM * 16 });
  useLayoutEffect(() => {
    const measure = () => {
      const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
      const height = box.current?.clientHeight ?? 0;
      setSizes({ height, row: (matchMedia(PHONE).matches ? CARD_REM : ROW_REM) * rem });
    };
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return sizes;
}

/** The room of rows that are out of view. */
const Gap = ({ height }: { height: number }) =>
  height > 0 ? (
    <tr class="gap">
      <td colSpan={HEADS.length} style={{ height: `${height}px` }} />
    </tr>
  ) : null;

interface IdRowProps {
  readonly place: number;
  readonly index: number;
  readonly pasted: Pasted;
  readonly row: ListRow;
  readonly href: string;
  readonly isSelected: boolean;
}

const IdRow = ({ place, index, pasted, row, href, isSelected }: IdRowProps) => (
  <tr
    aria-rowindex={index + 2}
    aria-selected={isSelected}
    onClick={(event) => {
      if (event.target instanceof Element && event.target.closest("a") === null && isUnmarked()) location.hash = href;
    }}
  >
    <td class="num c-n faint">{place + 1}</td>
    <td class="c-id">
      <a href={href}>
        <code>{nameOfPasted(pasted)}</code>
      </a>
    </td>
    <td class="c-what">{[row.what, row.country].filter((text) => text !== "").join(", ")}</td>
    <td class="c-time faint">{row.minted.slice(0, 16)}</td>
    <td class="c-to">
      <GoesTo kind={row.kind} code={row.code} />
    </td>
    <td class="c-note soft">{row.note}</td>
  </tr>
);

/** A text that is being marked, to be copied, opens nothing. */
const isUnmarked = (): boolean => getSelection()?.isCollapsed !== false;
