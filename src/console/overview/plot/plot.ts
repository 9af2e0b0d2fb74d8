import uPlot from "uplot";
import type { PlacedFlag, Span } from "./places.ts";

/** The part of a chart that uPlot paints: axes, lines, the hairline of the cursor. */

export type LineStyle = "solid" | "dashed" | "grey" | "dotted";

export interface PaintedLine {
  readonly name: string;
  /** Name of a token. */
  readonly colour: string;
  readonly style: LineStyle;
  readonly isShown: boolean;
}

/** A plot asks for it whenever it paints. */
export interface Painted {
  readonly span: Span;
  readonly top: number;
  readonly text: (value: number) => string;
  readonly timeText: (at: number) => string;
  readonly flags: readonly (Pick<PlacedFlag, "isCanary"> & { readonly at: number })[];
  readonly onCursor: (place: number | undefined) => void;
  readonly onZoom: (span: Span | undefined) => void;
}

/** Half a line of text: the highest value of an axis stands beside its line. */
export const TOP_HEIGHT = 7;
export const PLOT_HEIGHT = 132;
export const AXIS_WIDTH = 56;
export const AXIS_HEIGHT = 24;
/** Room for the shapes at the ends of lines. */
export const END_WIDTH = 26;

/** Colours come from the style sheet, so that both themes have their own. */
export function colourIn(element: Element, token: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${token})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const DASHES: Readonly<Partial<Record<LineStyle, number[]>>> = { dashed: [5, 3], dotted: [1.5, 2.5] };

/** Narrower is a click. */
const DRAG_MIN = 6;

export function makePlot(
  frame: HTMLElement,
  lines: readonly PaintedLine[],
  size: { readonly width: number; readonly data: uPlot.AlignedData },
  painted: { readonly current: Painted },
): uPlot {
  const soft = colourIn(frame, "--ink-3");
  const options: uPlot.Options = {
    width: size.width,
    height: TOP_HEIGHT + PLOT_HEIGHT + AXIS_HEIGHT,
    padding: [TOP_HEIGHT, END_WIDTH, 0, 0],
    legend: { show: false },
    focus: { alpha: 0.25 },
    cursor: {
      y: false,
      points: { size: 8, width: 0 },
      drag: { x: true, y: false, setScale: false },
      bind: {
        dblclick: () => () => {
          painted.current.onZoom(undefined);
          return null;
        },
      },
    },
    scales: {
      x: { range: () => [painted.current.span.from, painted.current.span.to] },
      y: { range: () => [0, painted.current.top] },
    },
    axes: axesOf(frame, painted),
    series: [
      {},
      ...lines.map(({ name, colour, style, isShown }) => ({
        label: name,
        show: isShown,
        stroke: colourIn(frame, style === "grey" ? "--ink-3" : colour),
        width: 1.6,
        points: { show: false },
        ...(DASHES[style] && { dash: DASHES[style] }),
      })),
    ],
    hooks: {
      draw: [(plot) => paintFlags(plot, painted.current.flags, soft)],
      setCursor: [({ cursor }) => painted.current.onCursor(cursor.idx ?? undefined)],
      setSelect: [(plot) => takeDrag(plot, painted.current.onZoom)],
    },
  };
  return new uPlot(options, size.data, frame);
}

function axesOf(frame: HTMLElement, painted: { readonly current: Painted }): uPlot.Axis[] {
  const font = `11px ${getComputedStyle(frame).fontFamily}`;
  const grid = { stroke: colourIn(frame, "--rule"), width: 1 };
  const axis = { stroke: colourIn(frame, "--ink-3"), font, grid, ticks: { show: false } };
  return [
    {
      ...axis,
      grid: { show: false },
      space: 54,
      size: AXIS_HEIGHT,
      gap: 4,
      values: (_, all) => all.map((time) => painted.current.timeText(time)),
    },
    {
      ...axis,
      space: 30,
      size: AXIS_WIDTH,
      gap: 8,
      values: (_, all) => all.map((value) => (value === 0 ? "" : painted.current.text(value))),
    },
  ];
}

/** A line for each publication below its flag, dashed for a canary. */
function paintFlags(plot: uPlot, flags: Painted["flags"], colour: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  for (const { at, isCanary } of flags) {
    const x = Math.round(plot.valToPos(at, "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.setLineDash(isCanary ? [3 * devicePixelRatio, 3 * devicePixelRatio] : []);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

function takeDrag(plot: uPlot, onZoom: Painted["onZoom"]): void {
  const { left, width } = plot.select;
  if (width === 0) return;
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  if (width >= DRAG_MIN) onZoom({ from: plot.posToVal(left, "x"), to: plot.posToVal(left + width, "x") });
}
