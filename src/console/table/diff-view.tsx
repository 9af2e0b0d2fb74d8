import { useEffect, useMemo, useState } from "preact/hooks";
import type { MetricsHistory } from "../../formats/console-api.ts";
import { diffTables } from "../../routing/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { call } from "../app/api.ts";
import { Table } from "../app/parts.tsx";
import { countText } from "../app/words.ts";
import { diffInWords, type KeyLine } from "./diff-words.ts";

/** The effects of a change before it is made. Computed in the page, by the code that plans it. */
export function DiffView({ before, after }: { before: DeclaredTable; after: DeclaredTable }) {
  const [traffic, setTraffic] = useState<MetricsHistory>();
  useEffect(() => {
    void call<MetricsHistory>("/-/metrics/history?span=hour").then((answer) => answer.ok && setTraffic(answer.value));
  }, []);
  const diff = useMemo(() => diffTables(before, after, undefined, Date.now()), [before, after]);
  const words = useMemo(() => diffInWords(diff, traffic), [diff, traffic]);
  if (diff.isEmpty) return <p class="box">The two say the same, and treat every ID alike.</p>;
  return (
    <div class="diff">
      {words.warnings.map((warning) => (
        <p key={warning} class="box warn">
          {warning}
        </p>
      ))}
      {words.keys.length === 0 ? <p>No key goes to another region.</p> : <Keys lines={words.keys} />}
      {words.keysLeft > 0 && <p>{countText(words.keysLeft)} more kinds of keys are not listed.</p>}
      {words.entities.length > 0 && <h3>Single entities</h3>}
      <ul>
        {words.entities.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {words.parts.length > 0 && <h3>Changed parts of the table</h3>}
      <ul>
        {words.parts.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  );
}

/** The most important comes first: a phone does not show all. */
const NUMBERS: readonly (readonly [name: string, of: (line: KeyLine) => string | undefined])[] = [
  ["Requests, at most", ({ ofRequests }) => ofRequests],
  ["Keys", ({ numbers }) => numbers.keys],
  ["Countries", ({ numbers }) => numbers.ofCountries],
  ["Key space", ({ numbers }) => numbers.ofSpace],
  ["Their IDs", ({ numbers }) => numbers.ofTheirIds],
];

function Keys({ lines }: { lines: readonly KeyLine[] }) {
  const known = NUMBERS.filter(([, of]) => lines.some((line) => of(line) !== undefined));
  const numbers = known.map(([number]) => ({ number }));
  const hasRequests = lines.some(({ ofRequests }) => ofRequests !== undefined);
  return (
    <>
      <Table label="Keys that go elsewhere" columns={["IDs that go elsewhere", "From", "To", ...numbers]}>
        {lines.map((line) => (
          <tr key={line.what + line.from + line.to}>
            <td class="what">{line.what}</td>
            <td>{line.from}</td>
            <td>
              <strong>{line.to}</strong>
            </td>
            {known.map(([name, of]) => (
              <td key={name} class="number">
                {of(line) ?? "–"}
              </td>
            ))}
          </tr>
        ))}
      </Table>
      {hasRequests && (
        <small>
          Requests: a bound. They are counted by region and not by key, so it is the share of the region that they
          leave, of all in the last hour; lines that leave one region have it together.
        </small>
      )}
    </>
  );
}
