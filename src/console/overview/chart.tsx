import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { isDark } from "../app/settings.ts";
import { clockText, countText } from "../app/words.ts";
import { joinLabels, lineInWords } from "./history.ts";

export interface Line {
  readonly name: string;
  /** Number of its colour, from 0. */
  readonly colour: number;
  readonly values: readonly (number | null)[];
  readonly isDashed?: boolean;
}

export interface Mark {
  /** Unix seconds. */
  readonly at: number;
  readonly text: string;
}

interface Props {
  readonly title: string;
  readonly at: readonly number[];
  readonly lines: readonly Line[];
  /** Publications. */
  readonly marks: readonly Mark[];
  readonly text?: (value: number) => string;
}

const HEIGHT = 170;

/** Colours come from the style sheet, so that both themes have their own. */
const colourIn = (element: Element, name: string): string => {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};

/** A time series with publications marked. Its figures stand in words beside it. */
export function Chart({ title, at, lines, marks, text = countText }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [width, setWidth] = useState(0);
  const shape = `${isDark.value} ${lines.map(({ name }) => name).join()}`;
  const marked = useRef(marks);
  marked.current = marks;
  useEffect(() => {
    const own = frame.current;
    if (own === null) return;
    const watcher = new ResizeObserver(() => setWidth(own.clientWidth));
    watcher.observe(own);
    return () => watcher.disconnect();
  }, []);
  useEffect(() => {
    const own = frame.current;
    if (own === null || width === 0) return;
    plot.current = new uPlot(
      optionsFor(own, lines, width, text, marked),
      [[...at], ...lines.map(({ values }) => [...values])],
      own,
    );
    return () => plot.current?.destroy();
  }, [shape, width]);
  useEffect(() => {
    plot.current?.setData([[...at], ...lines.map(({ values }) => [...values])]);
  }, [at, lines, marks]);
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div ref={frame} aria-hidden="true" />
      <ul class="legend">
        {lines.map(({ name, colour, values, isDashed }) => (
          <li key={name}>
            <span class={`key colour-${colour % 8} ${isDashed ? "dashed" : ""}`} aria-hidden="true" />
            {lineInWords(name, values, text)}
          </li>
        ))}
      </ul>
    </figure>
  );
}

function optionsFor(
  element: Element,
  lines: readonly Line[],
  width: number,
  text: (value: number) => string,
  marks: { readonly current: readonly Mark[] },
): uPlot.Options {
  const [soft, grid, accent] = [
    colourIn(element, "--soft"),
    colourIn(element, "--line"),
    colourIn(element, "--accent"),
  ];
  const axis = { stroke: soft, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid } };
  return {
    width,
    height: HEIGHT,
    // The last time stands half beyond its tick.
    padding: [null, 24, null, null],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [
      { ...axis, space: 90, size: 30, values: (_, seconds) => timeTexts(seconds) },
      { ...axis, size: 60, values: (_, values) => values.map(text) },
    ],
    series: [
      {},
      ...lines.map(({ name, colour, isDashed }) => ({
        label: name,
        stroke: colourIn(element, `--colour-${colour % 8}`),
        width: 2,
        points: { show: false },
        ...(isDashed && { dash: [6, 4] }),
      })),
    ],
    hooks: { draw: [(plot) => paintMarks(plot, marks.current, accent)] },
  };
}

/** The times of an axis: with seconds where it is short. */
function timeTexts(seconds: readonly number[]): string[] {
  const isShort = (seconds.at(-1) ?? 0) - (seconds[0] ?? 0) < 300;
  return seconds.map((at) => clockText(at, isShort));
}

/** A line for each publication, with its revision above. */
function paintMarks(plot: uPlot, marks: readonly Mark[], colour: string): void {
  const { ctx, bbox } = plot;
  const { min = 0, max = 0 } = plot.scales["x"] ?? {};
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.setLineDash([3, 3]);
  ctx.textAlign = "left";
  ctx.font = `${11 * devicePixelRatio}px sans-serif`;
  // The newest one is first: of two at one place it is the second.
  const shown = marks
    .toReversed()
    .filter(({ at }) => at >= (min ?? 0) && at <= (max ?? 0))
    .map(({ at, text }) => ({ x: plot.valToPos(at, "x", true), text }));
  for (const { x } of shown) {
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  const room = (text: string): number => ctx.measureText(text).width + 6 * devicePixelRatio;
  for (const { x, text } of joinLabels(shown, room))
    ctx.fillText(text, x + 3 * devicePixelRatio, bbox.top + 11 * devicePixelRatio);
  ctx.restore();
}
