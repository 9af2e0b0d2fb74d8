import { useEffect, useMemo, useState } from "preact/hooks";
import type { Problem } from "../app/api.ts";
import { announcement, Busy, download, Panel, ProblemBox, Scroll } from "../app/parts.tsx";
import { session } from "../app/session.ts";
import { countText, plural } from "../app/words.ts";
import { askMany, type Located } from "./ask.ts";
import { countryOf } from "./meaning.ts";
import { csvOf, nameOfPasted, type Pasted, type PastedList, type Row, sheetOf } from "./read-pasted.ts";
import { chosenOf, isSameAlone, type Reader, wordsOf } from "./reader.ts";
import { refusalOf } from "./rule-words.ts";

const ROW_HEIGHT = 36;
const HEIGHT = 540;
const COLUMNS = ["#", "ID", "Entity", "Country", "Minted (UTC)", "Region", "Problem"];
const REGION = COLUMNS.indexOf("Region");

/** Many IDs: a list that holds only the rows in view, so ten thousand stay fluent. */
export function ManyIds({
  list,
  reader,
  onPick,
}: {
  list: PastedList;
  reader: Reader;
  onPick: (pasted: Pasted) => void;
}) {
  const [top, setTop] = useState(0);
  const [located, setLocated] = useState<readonly Located[]>([]);
  const [end, setEnd] = useState<Problem | "busy">();
  const [leaving] = useState(() => new AbortController());
  useEffect(() => () => leaving.abort(), [leaving]);
  const go = async () => {
    setEnd("busy");
    const isSame = (item: Pasted): boolean => isSameAlone(reader, item, Date.now());
    const problem = await askMany(list.items, located, isSame, (more) => {
      setLocated(more);
      return !leaving.signal.aborted;
    });
    setEnd(problem);
    announcement.value = problem?.title ?? `The gateway said the regions of ${plural(list.items.length, "ID")}.`;
  };
  // Not `disabled`: that would take the focus away.
  const isDone = end === "busy" || located.length === list.items.length;
  const read = useMemo(() => rowReader(list.items, reader), [list, reader]);
  const rows = useMemo(() => withLocated(read, located), [read, located]);
  const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - 8);
  const shown = Math.min(list.items.length - first, Math.ceil(HEIGHT / ROW_HEIGHT) + 16);
  const save = () => download("waybill-ids.csv", "text/csv", csvOf(sheetOf(COLUMNS, list.items, rows.all())));
  return (
    <Panel
      title={plural(list.items.length, "ID")}
      aside={
        <button type="button" onClick={save}>
          Download as CSV
        </button>
      }
    >
      <p>
        {located.length > 0
          ? `The gateway said the regions of ${countText(located.length)}.`
          : reader.knows === "routes"
            ? "Regions are by the table in this page."
            : "The page knows no routes for this role. The gateway says the regions."}
        {list.left > 0 && ` ${countText(list.left)} more were left out.`}
      </p>
      <div class="actions">
        <button type="button" onClick={() => isDone || void go()} disabled={!session.value} aria-disabled={isDone}>
          Ask where they go
        </button>
        <RegionSums rows={rows} />
        {end === "busy" && (
          <Busy what={`Asking the gateway: ${located.length} of ${plural(list.items.length, "ID")}`} />
        )}
      </div>
      {typeof end === "object" && <ProblemBox problem={end} onRetry={() => void go()} />}
      <Scroll class="many" label="The pasted IDs" onScroll={setTop}>
        <table aria-rowcount={list.items.length + 1}>
          <thead>
            <tr>
              {COLUMNS.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Gap rows={first} />
            {Array.from({ length: shown }, (_, at) => (
              <tr key={first + at} aria-rowindex={first + at + 2}>
                {rows.at(first + at).map((cell, column) => (
                  <td key={COLUMNS[column]}>
                    {column === 1 ? (
                      <button type="button" class="link" onClick={() => onPick(list.items[first + at] as Pasted)}>
                        {nameOfPasted(list.items[first + at] as Pasted)}
                      </button>
                    ) : (
                      cell
                    )}
                  </td>
                ))}
              </tr>
            ))}
            <Gap rows={list.items.length - first - shown} />
          </tbody>
        </table>
      </Scroll>
    </Panel>
  );
}

/** The room of rows that are out of view. */
const Gap = ({ rows }: { rows: number }) =>
  rows > 0 ? (
    <tr class="gap">
      <td colSpan={COLUMNS.length} style={{ height: `${rows * ROW_HEIGHT}px` }} />
    </tr>
  ) : null;

interface Rows {
  at(index: number): Row;
  all(): readonly Row[];
}

/** Reads a row when it is first shown. */
function rowReader(items: readonly Pasted[], reader: Reader): Rows {
  const nowMs = Date.now();
  const known: (Row | undefined)[] = [];
  const at = (index: number): Row => {
    const found = known[index];
    if (found !== undefined) return found;
    const row = [String(index + 1), ...readRow(items[index] as Pasted, reader, nowMs)];
    known[index] = row;
    return row;
  };
  return { at, all: () => items.map((_, index) => at(index)) };
}

/** The gateway's answer replaces the page's own reading. */
function withLocated(rows: Rows, located: readonly Located[]): Rows {
  if (located.length === 0) return rows;
  const shown = (row: Row, index: number): Row => {
    const own = located[index];
    // The same words before and after.
    return own === undefined ? row : [...row.slice(0, REGION), own.region, refusalOf(own.problem) ?? own.problem];
  };
  return { at: (index) => shown(rows.at(index), index), all: () => rows.all().map(shown) };
}

function readRow(pasted: Pasted, reader: Reader, nowMs: number): Row {
  const reading = reader.read(pasted, nowMs);
  const chosen = chosenOf(reading);
  const layout = chosen && reader.layout(chosen.layout);
  const country = chosen && countryOf(reader, chosen, layout && wordsOf(layout, pasted.id));
  const what = chosen?.entity ?? chosen?.layout ?? (reading.publicOf === undefined ? "unknown" : "public ID");
  const minted = chosen?.mintedAt?.slice(0, 19).replace("T", " ") ?? "";
  const problem = refusalOf(reading.error?.reason, reading.isUnsure) ?? "";
  return [pasted.id, what, country?.name ?? "", minted, reading.decision?.region ?? "", problem];
}

/** How many go to each region. On request: to read all of a long list takes a moment. */
function RegionSums({ rows }: { rows: Rows }) {
  const [isCounted, setCounted] = useState(false);
  const sums = useMemo(() => {
    if (!isCounted) return undefined;
    const regions = new Map<string, number>();
    for (const row of rows.all()) {
      const region = row[REGION] || "no region";
      regions.set(region, (regions.get(region) ?? 0) + 1);
    }
    return regions;
  }, [rows, isCounted]);
  if (sums === undefined)
    return (
      <button type="button" onClick={() => setCounted(true)}>
        Count by region
      </button>
    );
  return <p role="status">{[...sums].map(([region, ids]) => `${region}: ${countText(ids)}`).join(" · ")}</p>;
}
