import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import type { Capacity, Layout, Load } from "../../ids/index.ts";
import { Button, Copy } from "../app/parts/button.tsx";
import { Field } from "../app/parts/fields.tsx";
import { Sheet } from "../app/parts/sheet.tsx";
import { Mark } from "../app/parts/state.tsx";
import { knownTable } from "../app/session.ts";
import { countText, longText, plural } from "../app/words.ts";
import { durationOf, numbersOf, oddsOf, yearOf } from "./load-words.ts";
import { capacityFor, samplesOf, usesOf } from "./try-layout.ts";

/** The load that a layout is asked about: one for all pages, until they are left. */
const written = signal({ rate: "1000", minters: "10", years: "10" });

export const loadOf = (): Load => {
  const { rate, minters, years } = written.value;
  return { idsPerSecond: Number(rate), minters: Number(minters), years: Number(years) };
};

const FIELDS = [
  ["rate", "IDs a second"],
  ["minters", "Minters"],
  ["years", "Years"],
] as const;

export const LoadFields = () => (
  <div class="fields">
    {FIELDS.map(([name, label]) => (
      <Field
        key={name}
        label={label}
        type="number"
        min={1}
        value={written.value[name]}
        onInput={(text) => {
          written.value = { ...written.value, [name]: text };
        }}
      />
    ))}
  </div>
);

/** Whether a layout is enough for a load, and how much of its numbers the table has taken. */
export function LoadSheet({ layout }: { layout: Layout }) {
  const capacity = capacityFor(layout, loadOf());
  return (
    <Sheet title="Is it enough?" aside={<Verdict capacity={capacity} />} isIn>
      <div class="pile small">
        <LoadFields />
        {capacity === undefined ? (
          <p class="soft">
            There is no figure: write numbers above 0, and choose a layout that is made from a clock and random bits.
          </p>
        ) : (
          <Kpis rows={[...capacityRows(capacity), ...useRows(layout)]} />
        )}
      </div>
    </Sheet>
  );
}

const Verdict = ({ capacity }: { capacity: Capacity | undefined }) => (
  <span role="status">
    {capacity === undefined ? (
      <Mark mood="plain" icon="none">
        Not known
      </Mark>
    ) : capacity.isEnough ? (
      <Mark mood="good" icon="good">
        Yes, for this load
      </Mark>
    ) : (
      <Mark mood="bad" icon="bad">
        No, not for this load
      </Mark>
    )}
  </span>
);

type Fact = readonly [name: string, text: string];

const Kpis = ({ rows }: { rows: readonly Fact[] }) => (
  <dl class="kpis">
    {rows.map(([name, text]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{text}</dd>
      </div>
    ))}
  </dl>
);

function capacityRows({ time, supply, rate, minters, collisions, sameNode }: Capacity): readonly Fact[] {
  const { years } = loadOf();
  return [
    ...(time ? [["Time runs out in", yearOf(time.endMs)] as const] : []),
    ...(supply
      ? [[`${countText(supply.ids)} values of ${supply.field} last`, durationOf(supply.seconds)] as const]
      : []),
    ...(rate ? [["One minter can make", `${longText(rate.minterIdsPerSecond)} a second`] as const] : []),
    ...(minters ? [[`Minters, by ${minters.fields.join(" and ")}`, `at most ${countText(minters.max)}`] as const] : []),
    ...(collisions
      ? [
          [
            `Two equal IDs in ${plural(years, "year")}`,
            `${oddsOf(collisions.probability)}${likely(collisions)}`,
          ] as const,
        ]
      : []),
    ...(sameNode === undefined ? [] : [["Two minters with one node", oddsOf(sameNode)] as const]),
  ];
}

const likely = ({ areExpected, areTooLikely }: NonNullable<Capacity["collisions"]>): string =>
  areExpected ? ": one pair is to be expected" : areTooLikely ? ": too likely" : "";

function useRows(layout: Layout): readonly Fact[] {
  const declared = knownTable.value?.declared;
  if (declared === undefined) return [];
  return usesOf(layout, declared).map(({ field, used, max }) => [
    numbersOf(field),
    `${countText(used)} of ${countText(max)} taken`,
  ]);
}

export function Samples({ layout }: { layout: Layout }) {
  const [turn, setTurn] = useState(0);
  const ids = useMemo(() => ({ turn, texts: samplesOf(layout, 5) }), [layout, turn]).texts;
  if (ids.length === 0) return null;
  return (
    <Sheet
      title={`A few of ${layout.name}`}
      aside={
        <Button size="small" onClick={() => setTurn(turn + 1)}>
          Make others
        </Button>
      }
      footer="Made in this page, with 1 in each key and node: for trials, since no service knows them."
    >
      <ul class="id-rows random-ids">
        {ids.map((id) => (
          <li key={id}>
            <code>{id}</code>
            <Copy text={id} label={id} />
          </li>
        ))}
      </ul>
    </Sheet>
  );
}
