import { useMemo, useState } from "preact/hooks";
import type { Layout, Load } from "../../ids/index.ts";
import { CopyButton, Facts, Field, Panel } from "../app/parts.tsx";
import { countText, percentText, plural } from "../app/words.ts";
import { capacityFor, samplesOf } from "./try-layout.ts";

/** The load that a layout is enough for, and a few IDs of it. */

export function LoadPanel({ layout }: { layout: Layout }) {
  const [rate, setRate] = useState("1000");
  const [minters, setMinters] = useState("10");
  const [years, setYears] = useState("10");
  const load: Load = { idsPerSecond: Number(rate), minters: Number(minters), years: Number(years) };
  return (
    <Panel title={`Capacity of ${layout.name}`}>
      <div class="columns">
        <Field label="IDs a second" type="number" min={1} value={rate} onInput={setRate} />
        <Field label="Minters" type="number" min={1} value={minters} onInput={setMinters} />
        <Field label="Years" type="number" min={1} value={years} onInput={setYears} />
      </div>
      <Bearing layout={layout} load={load} />
    </Panel>
  );
}

function Bearing({ layout, load }: { layout: Layout; load: Load }) {
  const capacity = capacityFor(layout, load);
  if (capacity === undefined) {
    return (
      <p>There is no figure: write numbers above 0, and choose a layout that is made from a clock and random bits.</p>
    );
  }
  const { time, supply, rate, minters, collisions, isEnough, sameNode } = capacity;
  return (
    <>
      <p role="status">{isEnough ? "It is enough for this load." : "It is not enough for this load."}</p>
      <Facts
        rows={[
          time && ["Runs out", `${time.field} ends in ${yearOf(time.endMs)}, and began in ${yearOf(time.firstMs)}`],
          supply && ["Supply", `${countText(supply.ids)} values of ${supply.field}: ${durationOf(supply.seconds)}`],
          rate && ["Rate of one minter", `${countText(rate.minterIdsPerSecond)} IDs a second`],
          minters && ["Minters", `at most ${countText(minters.max)}, told apart by ${minters.fields.join(" and ")}`],
          collisions && [
            "Equal IDs",
            `${oddsOf(collisions.probability)} that any two are equal in all these years${
              collisions.areExpected
                ? "; at least one pair is to be expected"
                : collisions.areTooLikely
                  ? "; that is too likely"
                  : ""
            }`,
          ],
          sameNode === undefined
            ? undefined
            : ["Equal nodes", `${oddsOf(sameNode)} that two minters pick the same node`],
        ]}
      />
    </>
  );
}

const YEAR_MS = 31_557_600_000;

const yearOf = (ms: number | undefined): string => {
  if (ms === undefined) return "a year beyond all counting";
  const year = new Date(ms).getUTCFullYear();
  return Number.isNaN(year) ? `the year ${countText(1970 + Math.floor(ms / YEAR_MS))}` : `${year}`;
};

const durationOf = (seconds: number): string => {
  const years = (seconds * 1000) / YEAR_MS;
  return years >= 2 ? `${countText(years)} years at this rate` : `${countText(seconds / 86_400)} days at this rate`;
};

/** `1 in 4.1M`. */
const oddsOf = (probability: number): string => {
  if (probability >= 0.01) return percentText(probability);
  return probability === 0 ? "no chance" : `1 chance in ${countText(1 / probability)}`;
};

export function Samples({ layout }: { layout: Layout }) {
  const [turn, setTurn] = useState(0);
  const ids = useMemo(() => ({ turn, texts: samplesOf(layout, 5) }), [layout, turn]).texts;
  if (ids.length === 0) return null;
  return (
    <Panel
      title={`A few of ${layout.name}`}
      aside={
        <button type="button" onClick={() => setTurn(turn + 1)}>
          Make others
        </button>
      }
    >
      <p>
        {plural(ids.length, "ID")} made in this page, with 1 in each key and node. They are for trials: no service knows
        them.
      </p>
      <ul class="texts">
        {ids.map((id) => (
          <li key={id}>
            <span>{layout.name}</span>
            <code>{id}</code>
            <CopyButton text={id} label="ID" />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
