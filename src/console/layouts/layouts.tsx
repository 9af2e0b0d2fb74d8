import { useState } from "preact/hooks";
import { diagram, everyLayout, type Layout } from "../../ids/index.ts";
import { Choice, Facts, Panel, Scroll } from "../app/parts.tsx";
import { knownTable, reader } from "../app/session.ts";
import { countText, percentText } from "../app/words.ts";
import { LoadPanel, Samples } from "./capacity.tsx";
import { DeclareLayout } from "./declare.tsx";
import { usesOf } from "./try-layout.ts";

/** Every layout: its diagram, its capacity, and a few IDs. All of it is computed in the page. */
export default function Layouts() {
  const own = Object.keys(knownTable.value?.declared.layouts ?? {}).flatMap((name) => reader.value.layout(name) ?? []);
  const all = [...new Map([...own, ...everyLayout].map((layout) => [layout.name, layout])).values()];
  const [name, setName] = useState("iuid");
  const layout = all.find((each) => each.name === name) ?? (all[0] as Layout);
  return (
    <>
      <h1>Layouts of IDs</h1>
      <Panel title={layout.table.title}>
        <Choice
          label="Layout"
          value={layout.name}
          options={all.map((each) => [each.name, `${each.name}${own.includes(each) ? " (of the table)" : ""}`])}
          onChange={setName}
        />
        <p>
          <small>Defined in: {layout.table.source}</small>
        </p>
        <Scroll label={`Diagram of ${layout.name}`}>
          <pre class="diagram">{diagram(layout.table)}</pre>
        </Scroll>
        <Uses layout={layout} />
      </Panel>
      <LoadPanel layout={layout} />
      <Samples layout={layout} />
      <DeclareLayout />
    </>
  );
}

function Uses({ layout }: { layout: Layout }) {
  const declared = knownTable.value?.declared;
  if (declared === undefined) return null;
  const uses = usesOf(layout, declared);
  if (uses.length === 0) return null;
  return (
    <Facts
      rows={uses.map(({ field, used, max }) => [
        `${field} numbers`,
        `${countText(used)} of ${countText(max)} used (${percentText(used / max)})`,
      ])}
    />
  );
}
