import "../style/bits.css";
import { diagram, type Layout, type Role } from "../../ids/index.ts";
import { Copy } from "../app/parts/button.tsx";
import { plural } from "../app/words.ts";
import { mapInWords, partsOf } from "./bit-map.ts";

/** Looks of the roles, with what a route may do with such bits. */
const LOOKS = {
  key: ["key", "routes may depend on it"],
  time: ["time", "and on this"],
  node: ["node", "who made it: routes may depend on it if the table says so"],
  counter: ["counter", "tells IDs of one instant apart"],
  fixed: ["fixed", "tells it from others"],
  random: ["random", "no meaning"],
} as const satisfies Readonly<Record<Role, readonly [string, string]>>;

const ROLES = Object.keys(LOOKS) as Role[];

/** The bits of a layout in rows of 32, most significant first. A field that goes on in the next row has its name there again. */
function FieldMap({ layout }: { layout: Layout }) {
  const parts = partsOf(layout);
  const roles = ROLES.filter((role) => parts.some((part) => part.role === role));
  return (
    <>
      <div class="field-map" role="img" aria-label={mapInWords(layout)}>
        {parts.map(({ field, role, bits, text, about }, at) => (
          <div
            key={at}
            class={`${LOOKS[role][0]} ${bits < 5 ? "narrow" : ""}`}
            style={{ gridColumn: `span ${bits}` }}
            title={`${field}, ${about}`}
          >
            {text !== "" && <b>{text}</b>}
            {(bits >= 5 || role === "fixed") && <small>{about}</small>}
          </div>
        ))}
      </div>
      <dl class="bit-key roles">
        {roles.map((role) => (
          <div key={role}>
            <dt>
              <span class={`sw ${role}`} aria-hidden="true" />
              {LOOKS[role][0]}
            </dt>
            <dd class={role === "key" ? "" : "soft"}>{LOOKS[role][1]}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** The bits of one layout, and where it is defined. */
export function OneLayout({ layout }: { layout: Layout }) {
  const { title, source, text } = layout.table;
  return (
    <section class="sheet" aria-label={`Layout ${layout.name}`}>
      <header>
        <div>
          <h2>{layout.name}</h2>
          <p>
            {title}, {plural(text.bits, "bit")}, 32 in a row
          </p>
        </div>
        <Copy text={diagram(layout.table)} label="the diagram" name="As text" kind="plain" />
      </header>
      <div class="in">
        <FieldMap layout={layout} />
      </div>
      <footer>Defined in: {source}</footer>
    </section>
  );
}
