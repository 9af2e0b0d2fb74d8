import "../style/charts.css";
import type { ComponentChildren, TargetedPointerEvent } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { Button } from "../app/parts/button.tsx";
import { isDark } from "../app/settings.ts";
import { countText } from "../app/words.ts";
import { cursorAt, zoom } from "./plot/cursor.ts";
import { colourOf, Ends, Flags, type Line, LineMark, Placed } from "./plot/overlays.tsx";
import { type Flag, leftOf, nearest, type Span, timeAt, topOf } from "./plot/places.ts";
import { AXIS_WIDTH, END_WIDTH, makePlot, type Painted } from "./plot/plot.ts";
import { ValuesTable } from "./plot/values-table.tsx";
import { timeTextFor } from "./plot/words.ts";

export type { Line } from "./plot/overlays.tsx";
export type { Flag } from "./plot/places.ts";

interface Props {
  readonly title: string;
  /** Unix seconds, rising. */
  readonly at: readonly number[];
  readonly lines: readonly Line[];
  /** Publications. */
  readonly flags: readonly Flag[];
  readonly text?: (value: number) => string;
  /** Beside the title, such as `status 5xx`. */
  readonly unit?: string;
  readonly aside?: ComponentChildren;
}

/** A time series. Its values stand in the legend, as text, and in a table behind it. */
export function Chart({ title, at, lines, flags, text = countText, unit, aside }: Props) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [lit, setLit] = useState<string>();
  const shown = lines.filter(({ name }) => !hidden.has(name));
  const span = zoom.value ?? { from: at[0] ?? 0, to: at.at(-1) ?? 0 };
  const timeText = timeTextFor(at, span);
  const place = cursorAt.value === undefined ? undefined : nearest(at, cursorAt.value);
  const valueText = ({ values }: Line): string => {
    const value = place === undefined ? values.findLast((each) => each !== null) : values[place];
    return value === undefined || value === null ? "–" : text(value);
  };
  const when = place === undefined ? "now" : timeText(at[place] ?? 0, true);
  const words = `${when}: ${shown.map((line) => `${line.name} ${valueText(line)}`).join(", ")}`;
  const toggle = (name: string) => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    setHidden(next);
  };
  return (
    <figure class="chart" aria-label={title}>
      <figcaption>
        <span>
          {title} {unit !== undefined && <small>{unit}</small>}
        </span>
        {aside}
      </figcaption>
      <ul class="readout">
        {lines.map((line) => (
          <li key={line.name}>
            <button
              type="button"
              class="ro"
              aria-pressed={!hidden.has(line.name)}
              onClick={() => toggle(line.name)}
              onPointerEnter={() => setLit(line.name)}
              onPointerLeave={() => setLit(undefined)}
              onFocus={() => setLit(line.name)}
              onBlur={() => setLit(undefined)}
            >
              <LineMark line={line} />
              {line.name} <b>{valueText(line)}</b>
            </button>
          </li>
        ))}
      </ul>
      <Plot {...{ title, at, lines, hidden, lit, flags, text, span, place, words, timeText }} />
      <ValuesTable {...{ title, at, lines, span, text, timeText }} />
    </figure>
  );
}

interface PlotProps {
  readonly title: string;
  readonly at: readonly number[];
  readonly lines: readonly Line[];
  readonly hidden: ReadonlySet<string>;
  /** The line that the reader points at: the others fade. */
  readonly lit: string | undefined;
  readonly flags: readonly Flag[];
  readonly text: (value: number) => string;
  readonly span: Span;
  readonly place: number | undefined;
  readonly words: string;
  readonly timeText: (at: number, isWhole?: boolean) => string;
}

function Plot({ title, at, lines, hidden, lit, flags, text, span, place, words, timeText }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const shown = lines.filter(({ name }) => !hidden.has(name));
  const top = useMemo(() => topOf(at, shown, span), [at, lines, hidden, span.from, span.to]);
  const inner = Math.max(0, width - AXIS_WIDTH - END_WIDTH);
  const isOver = useRef(false);
  const painted = useRef<Painted>(undefined as never);
  painted.current = {
    span,
    top,
    text,
    timeText,
    flags,
    onCursor: (under) => {
      if (isOver.current && under !== undefined) cursorAt.value = at[under];
    },
    onZoom: setZoom,
  };
  usePlot(frame, { at, lines, hidden, lit, width, cursor: place }, painted);
  return (
    <div class="plot">
      <Flags flags={flags} span={span} width={inner} />
      <div
        ref={frame}
        class="cv"
        role="slider"
        tabIndex={0}
        aria-label={`${title}: the arrow keys move through time, plus and minus zoom`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, at.length - 1)}
        aria-valuenow={place ?? Math.max(0, at.length - 1)}
        aria-valuetext={words}
        onKeyDown={(event) => takeKey(event, at, span, place)}
        onBlur={leave}
        {...pointerOf(isOver, (left) => timeAt(left - AXIS_WIDTH, span, inner))}
      />
      {place !== undefined && (
        <Placed class="at" left={leftOf(at[place] ?? 0, span, inner)} text={timeText(at[place] ?? 0, true)} />
      )}
      <Ends {...{ at, lines: shown, span, top }} />
      {zoom.value !== undefined && (
        <Button kind="quiet" size="small" class="whole-span" onClick={() => setZoom(undefined)}>
          Whole time
        </Button>
      )}
    </div>
  );
}

const setZoom = (within: Span | undefined): void => {
  zoom.value = within;
};

const leave = (): void => {
  cursorAt.value = undefined;
};

/** A mouse leaves the plot; a finger is lifted, and what it pointed at stays. One that moves up or down scrolls the page. */
function pointerOf(isOver: { current: boolean }, timeOf: (left: number) => number) {
  const point = (event: TargetedPointerEvent<HTMLElement>) => {
    if (event.pointerType === "touch")
      cursorAt.value = timeOf(event.clientX - event.currentTarget.getBoundingClientRect().left);
  };
  return {
    onPointerEnter: () => {
      isOver.current = true;
    },
    onPointerLeave: ({ pointerType }: TargetedPointerEvent<HTMLElement>) => {
      if (pointerType === "touch") return;
      isOver.current = false;
      leave();
    },
    onPointerDown: point,
    onPointerMove: point,
  };
}

function useWidth(frame: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const own = frame.current;
    if (own === null) return;
    const watcher = new ResizeObserver(() => setWidth(own.clientWidth));
    watcher.observe(own);
    return () => watcher.disconnect();
  }, []);
  return width;
}

interface Inputs extends Pick<PlotProps, "at" | "lines" | "hidden" | "lit"> {
  readonly width: number;
  readonly cursor: number | undefined;
}

/** Paints again whenever the values, the width or the theme change. */
function usePlot(
  frame: { readonly current: HTMLElement | null },
  { at, lines, hidden, lit, width, cursor }: Inputs,
  painted: { readonly current: Painted },
): void {
  const plot = useRef<uPlot>(undefined);
  const data = useMemo((): uPlot.AlignedData => [[...at], ...lines.map(({ values }) => [...values])], [at, lines]);
  const shape = `${isDark.value} ${lines.map(({ name, style }) => `${name} ${style} ${!hidden.has(name)}`).join()}`;
  useEffect(() => {
    const own = frame.current;
    if (own === null || width === 0) return;
    const painting = lines.map((line) => ({ ...line, colour: colourOf(line), isShown: !hidden.has(line.name) }));
    plot.current = makePlot(own, painting, { width, data }, painted);
    return () => {
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape, width]);
  const { span, top, flags } = painted.current;
  useEffect(() => {
    plot.current?.setData(data);
  }, [data, span.from, span.to, top, flags]);
  useEffect(() => {
    const own = plot.current;
    // Away from the plot it is hidden.
    const left = cursor === undefined ? -10 : (own?.valToPos(at[cursor] ?? 0, "x") ?? -10);
    own?.setCursor({ left, top: cursor === undefined ? -10 : 0 }, false);
  }, [cursor, data, span.from, span.to, shape, width]);
  useEffect(() => {
    const place = lines.findIndex(({ name }) => name === lit);
    plot.current?.setSeries(place < 0 ? null : place + 1, { focus: true }, false);
  }, [lit]);
}

const PAGE_STEPS = 10;

/** Arrows, Page and End keys move the cursor; plus and minus zoom around it, and Escape ends both. */
function takeKey(event: KeyboardEvent, at: readonly number[], span: Span, place: number | undefined): void {
  const last = at.findLastIndex((time) => time <= span.to);
  const first = Math.max(
    0,
    at.findIndex((time) => time >= span.from),
  );
  const own = place ?? last;
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: own - 1,
    ArrowDown: own - 1,
    ArrowRight: own + 1,
    ArrowUp: own + 1,
    PageDown: own - PAGE_STEPS,
    PageUp: own + PAGE_STEPS,
    Home: first,
    End: last,
  };
  const next = steps[event.key];
  if (next !== undefined) cursorAt.value = at[Math.min(Math.max(next, first), last)];
  else if (event.key === "+" || event.key === "=") zoom.value = zoomed(at, span, at[own] ?? span.to, 0.5);
  else if (event.key === "-") zoom.value = zoomed(at, span, at[own] ?? span.to, 2);
  else if (event.key === "Escape" && (zoom.value !== undefined || cursorAt.value !== undefined)) {
    zoom.value = undefined;
    cursorAt.value = undefined;
  } else return;
  event.preventDefault();
}

/** Fewer steps say nothing. */
const ZOOM_STEPS_MIN = 4;

function zoomed(at: readonly number[], { from, to }: Span, around: number, by: number): Span | undefined {
  const [first = 0, second = 0] = at;
  const last = at.at(-1) ?? 0;
  const length = Math.max((to - from) * by, (second - first) * ZOOM_STEPS_MIN);
  if (length >= last - first) return undefined;
  const start = Math.min(Math.max(around - length / 2, first), last - length);
  return { from: start, to: start + length };
}
