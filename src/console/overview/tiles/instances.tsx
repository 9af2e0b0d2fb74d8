import type { IsolateTables } from "../../../formats/console-api.ts";
import type { Status } from "../../../formats/table-api.ts";
import { Note } from "../../app/parts/sheet.tsx";
import { Tag } from "../../app/parts/state.tsx";
import { Facts, Table } from "../../app/parts/table.tsx";
import { agoText, plural, wholeText } from "../../app/words.ts";
import { MachinesView } from "./machines.tsx";

/** The table in the isolate that answered, and in all that reported lately: of machines in a cluster, else of isolates. */
export function InstancesOf({ status, isolates }: { status: Status; isolates: IsolateTables | undefined }) {
  const { isolate, controlPlane, pending, lastError, machines } = status;
  const isCurrent = isolate.revision === controlPlane.revision;
  return (
    <>
      <Facts
        rows={[
          ["Newest", `revision ${controlPlane.revision}`],
          [
            "In force here",
            <>
              revision {isolate.revision}, from {isolate.source}, confirmed {plural(isolate.ageSeconds, "second")} ago{" "}
              {!isCurrent && <Tag kind="warn">behind</Tag>}
            </>,
          ],
          isolate.canary === null ? undefined : ["Canary", `revision ${isolate.canary.revision}`],
          pending ? ["Pending", "The last change is not yet written to KV."] : undefined,
          lastError === null ? undefined : ["Last error", lastError],
        ]}
      />
      {machines && <MachinesView machines={machines} />}
      {isolates === undefined || isolates.count === 0 ? (
        <Note kind="know" title="The other instances are not known">
          Each has its own copy of the table; this is the one that answered.
        </Note>
      ) : (
        <ByIsolate isolates={isolates} newest={controlPlane.revision} />
      )}
    </>
  );
}

function ByIsolate({ isolates: { count, shown }, newest }: { isolates: IsolateTables; newest: number }) {
  return (
    <>
      <p>
        {count === 1 ? "1 instance has" : `${wholeText(count)} instances have`} reported lately
        {count > shown.length && `; these ${shown.length} are the furthest behind`}.
      </p>
      <Table
        label="Tables by instance"
        columns={[
          { name: "Instance" },
          { name: "Revision", isNumber: true },
          { name: "Confirmed" },
          { name: "Last report" },
        ]}
        rows={shown.map(({ isolate, revision, canary, confirmedAt, reportedAt }) => ({
          key: isolate,
          cells: [
            <code key="isolate">{isolate}</code>,
            <>
              {revision < newest && <Tag kind="warn">behind</Tag>} {revision}
              {canary !== null && `, canary ${canary}`}
            </>,
            agoText(confirmedAt),
            agoText(reportedAt),
          ],
        }))}
      />
    </>
  );
}
