import type { ComponentChildren } from "preact";
import { regionClass } from "../../app/parts/region.tsx";

const WIDTH = 100;
const HEIGHT = 28;

interface Props {
  readonly values: readonly (number | null)[];
  /** Dashed, on the same scale. */
  readonly second?: readonly (number | null)[];
  readonly region?: string;
  readonly isBad?: boolean;
}

/** A line without an axis: how it went, beside a figure that says how much. */
export function Spark({ values, second = [], region, isBad }: Props) {
  const top = Math.max(...[...values, ...second].map((value) => value ?? 0), 0) * 1.1 || 1;
  const line = pathOf(values, top);
  const own = `spark ${region === undefined ? "" : regionClass(region)} ${isBad ? "bad" : ""}`;
  return (
    <svg class={own} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {line !== "" && <path class="ar" d={areaOf(values, line)} />}
      {second.length > 0 && <path class="ln dashed" d={pathOf(second, top)} />}
      <path class="ln" d={line} />
    </svg>
  );
}

const xOf = (place: number, count: number): number => (place / Math.max(1, count - 1)) * WIDTH;

/** Where nothing was measured the line is open. */
function pathOf(values: readonly (number | null)[], top: number): string {
  let isOpen = false;
  let path = "";
  for (const [place, value] of values.entries()) {
    if (value !== null)
      path += `${isOpen ? "L" : "M"}${xOf(place, values.length).toFixed(1)} ${((1 - value / top) * HEIGHT).toFixed(1)}`;
    isOpen = value !== null;
  }
  return path;
}

/** One that has gaps has no area. */
function areaOf(values: readonly (number | null)[], line: string): string {
  const last = values.findLastIndex((value) => value !== null);
  const first = values.findIndex((value) => value !== null);
  if (values.slice(first, last).includes(null)) return "";
  return `${line}L${xOf(last, values.length).toFixed(1)} ${HEIGHT}L${xOf(first, values.length).toFixed(1)} ${HEIGHT}Z`;
}

/** One figure, and how it went. */
export const Tile = (props: {
  title: string;
  value: string;
  unit?: string;
  isBad?: boolean;
  spark?: ComponentChildren;
  children?: ComponentChildren;
}) => (
  <section class={props.isBad ? "tile bad" : "tile"}>
    <h2>{props.title}</h2>
    <p class="big">
      {props.value}
      {props.unit && <small>{props.unit}</small>}
    </p>
    <p>{props.children}</p>
    {props.spark}
  </section>
);
