import { useEffect, useMemo, useState } from "preact/hooks";
import type { MetricsHistory, RouteRevisions } from "../../../formats/console-api.ts";
import { Button } from "../../app/parts/button.tsx";
import { Choice, Search } from "../../app/parts/fields.tsx";
import { Shape } from "../../app/parts/region.tsx";
import { Empty, PageHead, ProblemNote, Skeleton } from "../../app/parts/sheet.tsx";
import { fragmentOf, place, setQuery } from "../../app/router.ts";
import { type KnownTable, knownTable, mayChange } from "../../app/session.ts";
import { countText } from "../../app/words.ts";
import { shareText } from "../../overview/plot/words.ts";
import { type OpenForm, RoutingForm } from "../forms/routing-form.tsx";
import { VIEWERS_MAY_NOT } from "../reasons.ts";
import { DraftNote } from "./draft-note.tsx";
import { Rows } from "./routes-table.tsx";
import { type Filter, filtered, type RouteRow, rowsOf, sharesOf } from "./rows.ts";
import { useAnswer } from "./use-answer.ts";
import "../../style/routing.css";

const SHARES_EVERY_MS = 30_000;
const CHANGES_EVERY_MS = 300_000;

/** Where IDs go, in words: read from the top, the first that fits decides. */
export default function RoutesPage() {
  const known = knownTable.value;
  return (
    <>
      {known === undefined && <PageHead title="Routes" />}
      {known === undefined ? (
        <section class="sheet">
          <Skeleton label="Loading the routes" lines={8} />
        </section>
      ) : (
        <Routes known={known} />
      )}
    </>
  );
}

const tables = new WeakMap<KnownTable, readonly RouteRow[]>();

/** Words of ten thousand routes take a moment: once for each table. */
function knownRows(known: KnownTable): readonly RouteRow[] {
  const rows = tables.get(known) ?? rowsOf(known.declared);
  tables.set(known, rows);
  return rows;
}

function Routes({ known }: { known: KnownTable }) {
  const { query } = place.value;
  const [filter, setFilter] = useState<Filter>(() => filterIn(query));
  const [form, setForm] = useState<OpenForm | undefined>();
  // A link may come while the page is open.
  useEffect(() => {
    setFilter(filterIn(query));
    setForm(formIn(query));
  }, [query]);
  const history = useAnswer<MetricsHistory>("/-/metrics/history?span=hour", SHARES_EVERY_MS, known.revision);
  const revisions = useAnswer<RouteRevisions>("/-/console/routes", CHANGES_EVERY_MS, known.revision);
  const all = knownRows(known);
  const rows = useMemo(() => filtered(all, filter), [all, filter]);
  const shares = useMemo(() => sharesOf(history.value, known.revision), [history.value, known.revision]);
  const show = (next: Filter) => {
    setFilter(next);
    setQuery("routes", Object.fromEntries(Object.entries(next).filter(([, value]) => value !== "")));
  };
  const close = () => {
    setForm(undefined);
    // The link has done what it says: a reload does not open the form again.
    show(filter);
  };
  const asked = Number(query.get("route") ?? Number.NaN);
  return (
    <>
      <Head onAdd={() => setForm({ kind: "send" })} />
      <DraftNote />
      {history.problem && (
        <ProblemNote problem={history.problem} still="The routes stand; their shares do not." onRetry={history.again} />
      )}
      <section class="sheet">
        <h2 class="hidden">All routes</h2>
        <Filters known={known} all={all} filter={filter} onChange={show} />
        {rows.length === 0 ? (
          <NothingFound all={all} filter={filter} onClear={() => show({ region: "", entity: "", search: "" })} />
        ) : (
          <Rows
            known={known}
            rows={rows}
            shares={shares}
            history={history.value}
            revisions={revisions.value}
            asked={asked}
            onForm={setForm}
          />
        )}
        <Before known={known} share={shares && shares.total > 0 ? shares.single / shares.total : undefined} />
      </section>
      {form && <RoutingForm form={form} onClose={close} />}
    </>
  );
}

const Head = ({ onAdd }: { onAdd: () => void }) => (
  <PageHead title="Routes" text="Read from the top: the first that fits an ID decides.">
    <Button icon="look-up" href={fragmentOf("look-up")}>
      Which route takes an ID?
    </Button>
    <Button kind="main" icon="plus" disabledBecause={mayChange.value ? undefined : VIEWERS_MAY_NOT} onClick={onAdd}>
      Add a route
    </Button>
  </PageHead>
);

const filterIn = (query: URLSearchParams): Filter => ({
  region: query.get("region") ?? "",
  entity: query.get("entity") ?? "",
  search: query.get("search") ?? "",
});

/** A link may open a form: `new=order`, or `from=us&to=eu`. Viewers have none. */
function formIn(query: URLSearchParams): OpenForm | undefined {
  if (!mayChange.peek()) return undefined;
  const from = query.get("from");
  if (from !== null) return { kind: "send-region", from, to: query.get("to") ?? "" };
  const entity = query.get("new");
  return entity === null ? undefined : { kind: "send", entity };
}

/** More regions are a list. */
const BUTTONS_MAX = 6;

interface FiltersProps {
  readonly known: KnownTable;
  readonly all: readonly RouteRow[];
  readonly filter: Filter;
  readonly onChange: (filter: Filter) => void;
}

function Filters({ known, all, filter, onChange }: FiltersProps) {
  const regions = Object.keys(known.declared.regions);
  const entities = Object.keys(known.declared.entities ?? {});
  const counts = useMemo(() => {
    const found = new Map<string, number>();
    for (const { words } of all) {
      if (words.number === undefined) continue;
      for (const name of words.regions) found.set(name, (found.get(name) ?? 0) + 1);
    }
    return found;
  }, [all]);
  const options = [
    ["", `All ${countText(known.declared.routes.length)}`],
    ...regions.map((name) => [name, `${name} ${countText(counts.get(name) ?? 0)}`] as const),
  ] as const;
  return (
    <header class="route-filters">
      {regions.length > BUTTONS_MAX ? (
        <Choice
          isBare
          label="Region"
          value={filter.region}
          options={[["", "All regions"], ...options.slice(1)]}
          onChange={(region) => onChange({ ...filter, region })}
        />
      ) : (
        // biome-ignore lint/a11y/useSemanticElements: buttons that filter are no form
        <div class="filters" role="group" aria-label="Show">
          {options.map(([name]) => (
            <button
              key={name}
              type="button"
              class="filter"
              aria-pressed={filter.region === name}
              onClick={() => onChange({ ...filter, region: name })}
            >
              {name !== "" && <Shape region={name} />}
              {name === "" ? "All" : name}{" "}
              <b>{countText(name === "" ? known.declared.routes.length : (counts.get(name) ?? 0))}</b>
            </button>
          ))}
        </div>
      )}
      <div class="row">
        <Search
          label="Search the routes"
          placeholder="Search"
          value={filter.search}
          onInput={(search) => onChange({ ...filter, search })}
        />
        {entities.length > 1 && (
          <Choice
            isBare
            label="Entity"
            value={filter.entity}
            options={[["", "All entities"], ...entities.map((name) => [name, name] as const)]}
            onChange={(entity) => onChange({ ...filter, entity })}
          />
        )}
      </div>
    </header>
  );
}

function NothingFound({ all, filter, onClear }: { all: readonly RouteRow[]; filter: Filter; onClear: () => void }) {
  const asked = [
    filter.search && `“${filter.search}”`,
    filter.region && `region ${filter.region}`,
    filter.entity && `entity ${filter.entity}`,
  ].filter((each) => each !== "");
  return (
    <Empty
      icon="filter"
      title={`None of ${countText(all.length)} fits`}
      actions={<Button onClick={onClear}>Show all</Button>}
    >
      {`You asked for ${asked.join(" and ")}. A search finds countries, areas, keys, entities and regions.`}
    </Empty>
  );
}

/** Single entities come before all routes. */
function Before({ known, share }: { known: KnownTable; share: number | undefined }) {
  const { moves = {}, moved = {}, gone = {} } = known.declared;
  const counts = [
    [Object.keys(moves).length, "moving"],
    [Object.keys(moved).length, "moved"],
    [Object.keys(gone).length, "gone"],
  ] as const;
  const all = counts.reduce((sum, [count]) => sum + count, 0);
  const told = counts.filter(([count]) => count > 0).map(([count, word]) => `${countText(count)} ${word}`);
  return (
    <footer>
      <span>
        Before all routes:{" "}
        {all === 0 ? (
          "no single entity has an entry of its own"
        ) : (
          <>
            <a href={fragmentOf("moves")}>{all === 1 ? "one single entity" : `${countText(all)} single entities`}</a>{" "}
            with an entry of {all === 1 ? "its" : "their"} own ({told.join(", ")})
          </>
        )}
        {share !== undefined && share > 0 && `, ${shareText(share)} of the requests`}
      </span>
      <span>Shares are counted by route</span>
    </footer>
  );
}
