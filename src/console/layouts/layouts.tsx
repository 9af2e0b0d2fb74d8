import { useState } from "preact/hooks";
import { everyLayout, type Layout } from "../../ids/index.ts";
import { Button } from "../app/parts/button.tsx";
import { PageHead } from "../app/parts/sheet.tsx";
import { fragmentOf, place } from "../app/router.ts";
import { knownTable, reader } from "../app/session.ts";
import { plural } from "../app/words.ts";
import { DeclareLayout } from "./declare.tsx";
import { OneLayout } from "./field-map.tsx";
import { LoadSheet, Samples } from "./load.tsx";
import "../style/ids.css";

/** Every layout: its bits, whether it is enough, and a few IDs. All of it is computed in the page. */
export default function Layouts() {
  const { query } = place.value;
  const isOwn = query.has("own");
  const entries = entriesOf();
  const wanted = query.get("layout") ?? "iuid";
  const { layout } = entries.find((each) => each.layout.name === wanted) ?? (entries[0] as Entry);
  return (
    <>
      <PageHead
        title="Layouts"
        text={`How the bits of an ID are divided. ${everyLayout.length} are built in; a table can declare more.`}
      >
        {isOwn ? (
          <Button icon="left" href={fragmentOf("layouts")}>
            All layouts
          </Button>
        ) : (
          <Button icon="plus" href={fragmentOf("layouts", { own: "1" })}>
            Try one of your own
          </Button>
        )}
      </PageHead>
      {isOwn ? (
        <DeclareLayout />
      ) : (
        <div class="split2 slim">
          <Pick entries={entries} chosen={layout.name} />
          <div class="pile">
            <OneLayout layout={layout} />
            <LoadSheet layout={layout} />
            <Samples layout={layout} />
          </div>
        </div>
      )}
    </>
  );
}

interface Entry {
  readonly layout: Layout;
  /** Entities of the table with such IDs. */
  readonly entities: readonly string[];
  readonly isInTable: boolean;
}

/** Those of the table first. */
function entriesOf(): readonly Entry[] {
  const { entities = {}, layouts = {} } = knownTable.value?.declared ?? {};
  const owners = (name: string) =>
    Object.entries(entities).flatMap(([entity, { ids }]) =>
      ids.some(({ layout }) => layout === name) ? [entity] : [],
    );
  const own = Object.keys(layouts).flatMap((name) => reader.value.layout(name) ?? []);
  const all = [...new Map([...everyLayout, ...own].map((layout) => [layout.name, layout])).values()];
  return all
    .map((layout) => {
      const used = owners(layout.name);
      return { layout, entities: used, isInTable: used.length > 0 || Object.hasOwn(layouts, layout.name) };
    })
    .toSorted((a, b) => Number(b.isInTable) - Number(a.isInTable));
}

const bitsOf = ({ layout }: Entry): string => plural(layout.table.text.bits, "bit");

function Pick({ entries, chosen }: { entries: readonly Entry[]; chosen: string }) {
  const [text, setText] = useState("");
  const found = entries.filter(({ layout, entities }) =>
    [layout.name, layout.table.title, ...entities].some((each) =>
      each.toLowerCase().includes(text.trim().toLowerCase()),
    ),
  );
  const groups = [
    ["In the table", found.filter(({ isInTable }) => isInTable)],
    ["Built in", found.filter(({ isInTable }) => !isInTable)],
  ] as const;
  return (
    <nav class="sheet" aria-label="Layouts">
      <div class="in">
        <input
          class="input"
          type="search"
          aria-label="Find a layout"
          placeholder="Find a layout"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      {groups.map(
        ([title, all]) =>
          all.length > 0 && (
            <div key={title}>
              <h2 class="cap">{title}</h2>
              <ul class="pick">
                {all.map((entry) => (
                  <li key={entry.layout.name}>
                    <a
                      href={fragmentOf("layouts", { layout: entry.layout.name })}
                      aria-current={entry.layout.name === chosen ? "true" : undefined}
                    >
                      {entry.layout.name}
                      <span class="faint">{entry.entities.length > 0 ? entry.entities.join(", ") : bitsOf(entry)}</span>
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ),
      )}
      {found.length === 0 && <p class="in soft">No layout has this name.</p>}
    </nav>
  );
}
