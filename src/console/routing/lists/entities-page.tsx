import { useMemo, useState } from "preact/hooks";
import { listOf } from "../../../routing/schema/records.ts";
import type { DeclaredEntity } from "../../../routing/schema/table.ts";
import { Button } from "../../app/parts/button.tsx";
import { Search } from "../../app/parts/fields.tsx";
import { RegionChip } from "../../app/parts/region.tsx";
import { Empty, PageHead, Sheet, Skeleton } from "../../app/parts/sheet.tsx";
import { type Column, type Row, Table } from "../../app/parts/table.tsx";
import { fragmentOf, place } from "../../app/router.ts";
import { type KnownTable, knownTable, mayChange } from "../../app/session.ts";
import { countText } from "../../app/words.ts";
import { type OpenForm, RoutingForm } from "../forms/routing-form.tsx";
import { VIEWERS_MAY_NOT } from "../reasons.ts";
import { DraftNote } from "./draft-note.tsx";
import { alsoOf, idWords, pathsOf, sourcesOf } from "./entity-words.ts";
import { rowsOf } from "./rows.ts";
import "../../style/routing.css";

/** Kinds of things that have IDs, and paths without one. */
export default function EntitiesPage() {
  const known = knownTable.value;
  const [form, setForm] = useState<OpenForm>();
  return (
    <>
      <PageHead title="Entities" text="The kinds of things that have IDs: their paths, and what reads their IDs.">
        <Button
          icon="plus"
          disabledBecause={mayChange.value ? undefined : VIEWERS_MAY_NOT}
          onClick={() => setForm({ kind: "entity" })}
        >
          Add an entity
        </Button>
      </PageHead>
      <DraftNote />
      {known === undefined ? (
        <section class="sheet">
          <Skeleton label="Loading the entities" lines={6} />
        </section>
      ) : (
        <div class="pile">
          <Entities known={known} />
          <WithoutId known={known} />
        </div>
      )}
      {form && <RoutingForm form={form} onClose={() => setForm(undefined)} />}
    </>
  );
}

const COLUMNS: readonly Column[] = [
  { name: "Entity", class: "c-ent" },
  { name: "Path", class: "c-way", isPlain: true },
  { name: "IDs" },
  { name: "Lives in", class: "c-step", isPlain: true },
  { name: "Also", class: "wide soft c-tags", isPlain: true },
  { name: "Edit", class: "c-act", isHidden: true },
];

/** Few need no search. */
const SEARCHED_FROM = 8;

function Entities({ known }: { known: KnownTable }) {
  const [search, setSearch] = useState("");
  const asked = place.value.query.get("entity");
  const all = Object.entries(known.declared.entities ?? {});
  const regionsOf = useMemo(() => livesIn(known), [known]);
  const shown = all.filter(([name, entity]) => textOf(name, entity).includes(search.toLowerCase().trim()));
  if (all.length === 0) {
    return (
      <section class="sheet">
        <h2 class="hidden">Entities with IDs</h2>
        <Empty icon="entities" title="The table has no entities">
          It routes requests without an ID alone.
        </Empty>
      </section>
    );
  }
  return (
    <section class="sheet">
      <h2 class="hidden">Entities with IDs</h2>
      {all.length >= SEARCHED_FROM && (
        <header>
          <Search label="Search the entities" placeholder="Search names and paths" value={search} onInput={setSearch} />
          <small>{countText(all.length)} entities</small>
        </header>
      )}
      {shown.length === 0 ? (
        <Empty
          icon="filter"
          title={`None of ${countText(all.length)} fits`}
          actions={<Button onClick={() => setSearch("")}>Show all</Button>}
        >
          {`No name or path has “${search}”.`}
        </Empty>
      ) : (
        <Table
          label="Entities"
          class="rows ents"
          columns={COLUMNS}
          rows={shown.map(([name, entity]) => ({
            ...rowOf(name, entity, known, regionsOf.get(name) ?? []),
            isSelected: name === asked,
          }))}
        />
      )}
    </section>
  );
}

const textOf = (name: string, entity: DeclaredEntity): string => `${name} ${pathsOf(entity).join(" ")}`.toLowerCase();

const rowOf = (name: string, entity: DeclaredEntity, known: KnownTable, regions: readonly string[]): Row => ({
  key: name,
  cells: [
    <b key="name">{name}</b>,
    <span key="path" class="lines-of">
      {pathsOf(entity).map((path) => (
        <code key={path}>{path}</code>
      ))}
    </span>,
    <span key="ids" class="lines-of">
      {entity.ids.map((id) => (
        <span key={idWords(id)}>{idWords(id)}</span>
      ))}
      {entity.directory && <span>directory {entity.directory}</span>}
    </span>,
    <Lives key="lives" regions={regions} directory={entity.directory} />,
    alsoOf(entity).join(", "),
    <Line key="line" known={known} pointer={`/entities/${name}`} name={name} />,
  ],
});

function Lives({ regions, directory }: { regions: readonly string[]; directory: string | undefined }) {
  if (directory !== undefined) return <span class="soft nowrap">as the directory says</span>;
  if (regions.length === 0) return <span class="soft">no route takes its IDs</span>;
  return (
    <span class="row in-row">
      {regions.map((region) => (
        <RegionChip key={region} name={region} />
      ))}
    </span>
  );
}

/** By the routes that can take IDs of the entity, and the default. */
function livesIn({ declared }: KnownTable): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const { words } of rowsOf(declared)) {
    const entities = words.pointer === "/default" ? Object.keys(declared.entities ?? {}) : words.entities;
    for (const entity of entities) {
      const own = found.get(entity) ?? new Set();
      for (const region of words.regions) own.add(region);
      found.set(entity, own);
    }
  }
  const order = Object.keys(declared.regions);
  return new Map([...found].map(([entity, own]) => [entity, order.filter((region) => own.has(region))]));
}

function Line({ known, pointer, name }: { known: KnownTable; pointer: string; name: string }) {
  const line = known.lineOf(pointer);
  if (line === undefined) return null;
  const label = `${mayChange.value ? "Edit" : "Show"} ${name}, line ${line}`;
  return (
    <Button size="small" icon="pencil" href={fragmentOf("editor", { line: String(line) })} label={label}>
      line {line}
    </Button>
  );
}

const WITHOUT_COLUMNS: readonly Column[] = [
  { name: "Name", class: "c-ent" },
  { name: "Path", class: "c-way", isPlain: true },
  { name: "Region by", class: "wide", isPlain: true },
  { name: "Edit", class: "c-act", isHidden: true },
];

function WithoutId({ known }: { known: KnownTable }) {
  const all = Object.entries(known.declared.withoutId ?? {});
  if (all.length === 0) return null;
  return (
    <Sheet title="Paths without an ID" aside={<p>The request says the region</p>}>
      <Table
        label="Paths and what says their region"
        class="rows ents"
        columns={WITHOUT_COLUMNS}
        rows={all.map(([name, entry]) => ({
          key: name,
          cells: [
            <b key="name">{name}</b>,
            <span key="path" class="lines-of">
              {listOf(entry.path).map((path) => (
                <code key={path}>{path}</code>
              ))}
            </span>,
            sourcesOf(entry, known.declared),
            <Line key="line" known={known} pointer={`/withoutId/${name}`} name={name} />,
          ],
        }))}
      />
    </Sheet>
  );
}
