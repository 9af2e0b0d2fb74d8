import "../../style/bits.css";
import type { ComponentChildren } from "preact";
import type { Field } from "../../../ids/index.ts";
import { type BitKind, kindOf, type StripOf, type StripRun, stripOf } from "./strip.ts";

/** The bits of an ID as a bar code, and what each part means. */

/** Width of one bit in the drawing. */
const UNIT = 8;
const HEIGHT = 52;
const EDGE = 0.8;

/** The bars alone; the legend says the same in words. */
export function BitStrip({ of, hasSpans = true }: { of: StripOf; hasSpans?: boolean }) {
  const runs = stripOf(of);
  const all = runs.reduce((sum, { bits }) => sum + bits, 0);
  return (
    <>
      <svg class="bits" viewBox={`0 0 ${all * UNIT} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {runs.map((run) => (
          <g key={run.first} class={run.kind}>
            <rect class="none" x={run.first * UNIT} width={run.bits * UNIT} height={HEIGHT} />
            {run.bars.map(([first, count]) => (
              <rect key={first} x={first * UNIT + EDGE} width={count * UNIT - 2 * EDGE} height={HEIGHT} />
            ))}
          </g>
        ))}
      </svg>
      {hasSpans && <Spans runs={runs} all={all} />}
    </>
  );
}

/** A name needs about as much room as this share of all bits. */
const NAMED_SHARE = 0.055;

function Spans({ runs, all }: { runs: readonly StripRun[]; all: number }) {
  return (
    <div
      class="spans"
      aria-hidden="true"
      style={{ gridTemplateColumns: runs.map(({ bits }) => `minmax(0, ${bits}fr)`).join(" ") }}
    >
      {runs.map(({ first, field, kind, bits }) => (
        <span key={first} class={kind}>
          {kind === "key"
            ? field
            : kind !== "fixed" && bits / all > NAMED_SHARE
              ? `${field}, ${bits === 1 ? "1 bit" : `${bits} bits`}`
              : ""}
        </span>
      ))}
    </div>
  );
}

export interface LegendEntry {
  readonly kind: BitKind;
  /** With its bits, such as `country, 8 bits`. */
  readonly name: string;
  readonly value: ComponentChildren;
}

const ORDER: readonly BitKind[] = ["key", "time", "random", "fixed"];

/** An entry for each field, those that decide first; fixed ones share one. `wordsOf`: what a field's number means. */
export function legendOf(
  { layout, words, deciding }: StripOf,
  wordsOf: (field: Field, value: string) => ComponentChildren,
): readonly LegendEntry[] {
  const fixed = layout.fields.filter(({ role }) => role === "fixed");
  const own = layout.fields
    .filter(({ role }) => role !== "fixed")
    .map((field) => ({
      kind: kindOf(layout, field.name, deciding),
      name: `${field.name}, ${bitsText(field.bits)}`,
      value: wordsOf(field, field.readBig(words).toString()),
    }));
  const shared = fixed.map((field) => `${field.name} ${field.readBig(words)}`).join(", ");
  const bits = fixed.reduce((sum, field) => sum + field.bits, 0);
  const entries: readonly LegendEntry[] =
    fixed.length === 0 ? own : [...own, { kind: "fixed", name: `fixed, ${bitsText(bits)}`, value: shared }];
  return entries.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

const bitsText = (bits: number): string => (bits === 1 ? "1 bit" : `${bits} bits`);

export const BitLegend = ({ entries }: { entries: readonly LegendEntry[] }) => (
  <dl class="bit-key">
    {entries.map(({ kind, name, value }) => (
      <div key={name}>
        <dt>
          <span class={`sw ${kind}`} />
          {name}
        </dt>
        <dd class={kind === "key" || kind === "time" ? kind : "soft"}>{value}</dd>
      </div>
    ))}
  </dl>
);
