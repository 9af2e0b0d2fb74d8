import { useMemo } from "preact/hooks";
import { regionClass, regionPlace, Shape } from "../../app/parts/region.tsx";
import { type Flag, moveApart, placeFlags, type Span } from "./places.ts";
import { AXIS_WIDTH, type LineStyle, PLOT_HEIGHT, TOP_HEIGHT } from "./plot.ts";

/** The parts of a chart that stand above its plot, as text and links. */

export interface Line {
  readonly name: string;
  /** Its shape and colour are the region's. */
  readonly region?: string;
  readonly style: LineStyle;
  /** Red: it counts what went wrong. */
  readonly isBad?: boolean;
  /** One for each time; `null` where nothing was measured. */
  readonly values: readonly (number | null)[];
}

/** The token of its colour. */
export const colourOf = ({ region, isBad }: Line): string =>
  region !== undefined ? `--region-${regionPlace(region)}` : isBad ? "--bad" : "--ink";

/** A line in a legend: the shape of its region, or how it is painted. */
export const LineMark = ({ line: { region, style, isBad } }: { line: Line }) =>
  region !== undefined && style === "solid" ? (
    <Shape region={region} />
  ) : (
    <svg
      class={`dash ${style} ${region === undefined ? (isBad ? "bad" : "") : regionClass(region)}`}
      viewBox="0 0 22 6"
      aria-hidden="true"
    >
      <path d="M0 3h22" />
    </svg>
  );

/** A place is no style attribute: the page's policy has none. */
const atPlace =
  (left: number, top?: number) =>
  (element: HTMLElement | null): void => {
    element?.style.setProperty("left", `${left}px`);
    if (top !== undefined) element?.style.setProperty("top", `${top}px`);
  };

export const Placed = ({ class: own, left, text }: { class: string; left: number; text: string }) => (
  <span class={own} aria-hidden="true" ref={atPlace(left + AXIS_WIDTH)}>
    {text}
  </span>
);

export function Flags({ flags, span, width }: { flags: readonly Flag[]; span: Span; width: number }) {
  const placed = useMemo(() => placeFlags(flags, span, width), [flags, span.from, span.to, width]);
  return (
    <div class="flags">
      {width > 0 &&
        placed.map(({ left, text, isCanary, href, title }) => (
          <a
            key={text}
            class={`flag ${isCanary ? "dashed" : ""}`}
            href={href}
            title={title}
            aria-label={`${text}${title === "" ? "" : `: ${title}`}`}
            ref={atPlace(left + AXIS_WIDTH)}
          >
            <span>{text}</span>
          </a>
        ))}
    </div>
  );
}

const END_GAP = 12;

interface EndsProps {
  readonly at: readonly number[];
  readonly lines: readonly Line[];
  readonly span: Span;
  /** The upper end of the axis. */
  readonly top: number;
}

/** The shapes in which the lines of regions end. */
export function Ends({ at, lines, span, top }: EndsProps) {
  const ends = lines.flatMap((line) => {
    const place = at.findLastIndex((time, each) => time <= span.to && (line.values[each] ?? null) !== null);
    const value = line.values[place];
    return line.region === undefined || value === null || value === undefined
      ? []
      : [{ line, top: TOP_HEIGHT + (1 - value / top) * PLOT_HEIGHT }];
  });
  const tops = moveApart(
    ends.map((end) => end.top),
    END_GAP,
    TOP_HEIGHT + PLOT_HEIGHT,
  );
  return (
    <div class="ends" aria-hidden="true">
      {ends.map(({ line }, place) => (
        <span key={line.name} ref={atPlace(0, tops[place])}>
          <LineMark line={line} />
        </span>
      ))}
    </div>
  );
}
