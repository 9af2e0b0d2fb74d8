import { useState } from "preact/hooks";
import { Scroll } from "../../app/parts/table.tsx";
import type { Span } from "./places.ts";

interface Props {
  readonly title: string;
  readonly at: readonly number[];
  readonly lines: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
  readonly span: Span;
  readonly text: (value: number) => string;
  readonly timeText: (at: number, isWhole?: boolean) => string;
}

/** The values of a chart, newest first. It is made when it is opened: an hour has 360 rows. */
export function ValuesTable({ title, at, lines, span, text, timeText }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="values" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Values as a table</summary>
      {isOpen && (
        <Scroll label={`${title}, values`}>
          <table class="tbl">
            <thead>
              <tr>
                <th scope="col">Time</th>
                {lines.map(({ name }) => (
                  <th key={name} scope="col" class="num">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {[...at.entries()]
                .filter(([, time]) => time >= span.from && time <= span.to)
                .toReversed()
                .map(([place, time]) => (
                  <tr key={time}>
                    <th scope="row">{timeText(time, true)}</th>
                    {lines.map(({ name, values }) => (
                      <td key={name} class="num">
                        {values[place] === null || values[place] === undefined ? "–" : text(values[place])}
                      </td>
                    ))}
                  </tr>
                ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </details>
  );
}
