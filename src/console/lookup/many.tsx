import { useMemo, useState } from "preact/hooks";
import { download, Panel, Scroll } from "../app/parts.tsx";
import { countText, plural } from "../app/words.ts";
import { countryOf } from "./meaning.ts";
import { csvOf, type Pasted, type PastedList } from "./read-pasted.ts";
import { chosenOf, type Reader, wordsOf } from "./reader.ts";

const ROW_HEIGHT = 36;
const HEIGHT = 540;
const COLUMNS = ["#", "ID", "Entity", "Country", "Minted (UTC)", "Region"] as const;

type Row = readonly string[];

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
  const rows = useMemo(() => rowReader(list.items, reader), [list, reader]);
  const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - 8);
  const shown = Math.min(list.items.length - first, Math.ceil(HEIGHT / ROW_HEIGHT) + 16);
  const save = () =>
    download("waybill-ids.csv", "text/csv", csvOf([COLUMNS.slice(1), ...rows.all().map((row) => row.slice(1))]));
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
        {reader.knows === "routes"
          ? "Regions are by the table in this page; nothing was sent."
          : "The page knows no routes for this role; regions are empty."}
        {list.left > 0 && ` ${countText(list.left)} more were left out.`}
      </p>
      <RegionSums rows={rows} />
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
                        {cell}
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
export function rowReader(items: readonly Pasted[], reader: Reader): Rows {
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

function readRow(pasted: Pasted, reader: Reader, nowMs: number): Row {
  const reading = reader.read(pasted, nowMs);
  const chosen = chosenOf(reading);
  const layout = chosen && reader.layout(chosen.layout);
  const country = chosen && countryOf(reader, chosen, layout && wordsOf(layout, pasted.id));
  const what = chosen?.entity ?? chosen?.layout ?? (reading.publicOf === undefined ? "unknown" : "public ID");
  const minted = chosen?.mintedAt?.slice(0, 19).replace("T", " ") ?? "";
  return [pasted.id, what, country?.name ?? "", minted, reading.decision?.region ?? ""];
}

/** How many go to each region. On request: to read all of a long list takes a moment. */
function RegionSums({ rows }: { rows: Rows }) {
  const [sums, setSums] = useState<ReadonlyMap<string, number>>();
  const count = () => {
    const regions = new Map<string, number>();
    for (const row of rows.all()) {
      const region = row.at(-1) || "no region";
      regions.set(region, (regions.get(region) ?? 0) + 1);
    }
    setSums(regions);
  };
  if (sums === undefined)
    return (
      <p>
        <button type="button" onClick={count}>
          Count by region
        </button>
      </p>
    );
  return <p role="status">{[...sums].map(([region, ids]) => `${region}: ${countText(ids)}`).join(" · ")}</p>;
}
