import type { IsolateTables } from "../../formats/console-api.ts";
import type { Status } from "../../formats/table-api.ts";
import { Badge, Facts, Panel, Table } from "../app/parts.tsx";
import { agoText, plural, wholeText } from "../app/words.ts";

/** The table in the isolate that answered, and in all that reported lately. */
export function TableState({ status, isolates }: { status: Status; isolates: IsolateTables | undefined }) {
  const { isolate, controlPlane, pending, lastError } = status;
  const isCurrent = isolate.revision === controlPlane.revision;
  return (
    <Panel title="The table in force">
      <Facts
        rows={[
          [
            "In force here",
            <>
              revision {isolate.revision}, from {isolate.source}, confirmed {plural(isolate.ageSeconds, "second")} ago{" "}
              {!isCurrent && <Badge mood="warn">the newest is {controlPlane.revision}</Badge>}
            </>,
          ],
          isolate.canary === null ? undefined : ["Canary", `revision ${isolate.canary.revision}`],
          pending ? ["Pending", "The last change is not yet written to KV."] : undefined,
          lastError === null ? undefined : ["Last error", lastError],
        ]}
      />
      {isolates === undefined || isolates.count === 0 ? (
        <small>Each isolate has its own copy; this is the one that answered. The others are not known.</small>
      ) : (
        <ByIsolate isolates={isolates} newest={controlPlane.revision} />
      )}
    </Panel>
  );
}

function ByIsolate({ isolates: { count, shown }, newest }: { isolates: IsolateTables; newest: number }) {
  return (
    <>
      <p>
        {count === 1 ? "1 isolate has" : `${wholeText(count)} isolates have`} reported lately
        {count > shown.length && `; these ${shown.length} are the furthest behind`}.
      </p>
      <Table label="Tables by isolate" columns={["Isolate", { number: "Revision" }, "Confirmed", "Last report"]}>
        {shown.map(({ isolate, revision, canary, confirmedAt, reportedAt }) => (
          <tr key={isolate}>
            <th scope="row" class="whole">
              <code>{isolate}</code>
            </th>
            <td class="number">
              {revision < newest && <Badge mood="warn">behind</Badge>} {revision}
              {canary !== null && `, canary ${canary}`}
            </td>
            <td>{agoText(confirmedAt)}</td>
            <td>{agoText(reportedAt)}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}
