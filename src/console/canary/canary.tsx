import { useEffect, useState } from "preact/hooks";
import type { Status } from "../../formats/table-api.ts";
import { Button } from "../app/parts/button.tsx";
import { Empty, Note, PageHead, ProblemNote, Sheet, Skeleton } from "../app/parts/sheet.tsx";
import { fragmentOf } from "../app/router.ts";
import { type KnownTable, knownTable, loadTable, mayChange } from "../app/session.ts";
import { type Change, ConfirmChange } from "../publish/confirm-change.tsx";
import { tableDraft } from "../routing/draft.ts";
import { inForceText } from "./figures.ts";
import { RunningCanary } from "./running.tsx";
import { StartCanary } from "./start.tsx";
import { useStatus } from "./watch.ts";
import "../style/changes.css";

/** Another table for some of the IDs: begun with a share, a country or an entity, then promoted or aborted. */
export default function Canary() {
  const { value: status, problem, again } = useStatus();
  const [change, setChange] = useState<Change>();
  const close = () => {
    setChange(undefined);
    again();
  };
  const running = status?.canary;
  const inForce = status?.controlPlane.revision;
  const known = useKnown(inForce);
  return (
    <>
      <PageHead
        title="Canary"
        text={
          running
            ? `${inForceText(running.revision, running)} Revision ${inForce} decides about the others.`
            : "A table for some of the IDs first, and what their requests get by it."
        }
      />
      {problem && <ProblemNote isTop problem={problem} onRetry={again} />}
      {status === undefined && problem === undefined && (
        <section class="sheet">
          <Skeleton label="Loading the canary" />
        </section>
      )}
      {status && running && (
        <RunningCanary key={running.revision} status={status} canary={running} known={known} onChange={setChange} />
      )}
      {status && !running && <NoCanary status={status} known={known} onChange={setChange} />}
      {change && <ConfirmChange change={change} onClose={close} />}
    </>
  );
}

/** The table in force. That of the page may be older for some seconds: a change by it would be shown, and undone, wrongly. */
function useKnown(inForce: number | undefined): KnownTable | undefined {
  const known = knownTable.value;
  const isOld = known !== undefined && inForce !== undefined && known.revision < inForce;
  useEffect(() => {
    if (isOld) void loadTable();
  }, [isOld, inForce]);
  return known?.revision === inForce ? known : undefined;
}

interface Props {
  readonly status: Status;
  readonly known: KnownTable | undefined;
  readonly onChange: (change: Change) => void;
}

function NoCanary({ status, known, onChange }: Props) {
  const draft = tableDraft.value;
  const isEnding = status.isolate.canary !== null || status.kv?.canary != null;
  return (
    <div class="pile">
      {isEnding && (
        <Note isTop kind="first" title="The last canary is still in force in places">
          Gateways that have not seen its end yet decide by it: on Cloudflare for up to 2 minutes.
        </Note>
      )}
      {mayChange.value && draft !== undefined && known !== undefined ? (
        <StartCanary draft={draft} known={known} running={null} onChange={onChange} />
      ) : (
        <Sheet title="How to start one">
          <Empty
            icon="canary"
            title="No canary runs"
            actions={
              mayChange.value && (
                <>
                  <Button kind="main" icon="routes" href={fragmentOf("routes")}>
                    Change a route
                  </Button>
                  <Button icon="editor" href={fragmentOf("editor")}>
                    Open the editor
                  </Button>
                </>
              )
            }
          >
            All IDs are decided by revision {status.controlPlane.revision}.{" "}
            {mayChange.value
              ? "Change the table first. Then publish it for a share of the IDs, or come back here: the draft becomes the canary, and its answers stand beside those in force."
              : "An operator starts one: with a change of the table, for a share of the IDs."}
          </Empty>
        </Sheet>
      )}
    </div>
  );
}
