import { useEffect, useState } from "preact/hooks";
import type { MetricsHistory } from "../../../formats/console-api.ts";
import { countWords, type Force, force } from "../../app/force.ts";
import { Dialog } from "../../app/parts/dialog.tsx";
import { Skeleton } from "../../app/parts/sheet.tsx";
import { wholeText } from "../../app/words.ts";
import { status, watchStatus } from "../live.ts";
import { momentText, shareText } from "../plot/words.ts";
import { InstancesOf } from "./instances.tsx";
import { Tile } from "./tile.tsx";

interface Props {
  readonly hour: MetricsHistory | undefined;
  readonly nowMs: number;
}

/** The table in force, on how many, and how much of the traffic a canary decides. */
export function RevisionTile({ hour, nowMs }: Props) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => (isOpen ? watchStatus() : undefined), [isOpen]);
  const own = force.value;
  if (own === undefined) {
    return (
      <Tile title="Revision in force" value="–">
        loading
      </Tile>
    );
  }
  const { revision, count, sinceMs } = own;
  const since = sinceMs === undefined ? "" : ` since ${momentText(sinceMs, nowMs)}`;
  return (
    <>
      <Tile title="Revision in force" value={wholeText(revision)} spark={<WhoDecides force={own} />}>
        {count !== undefined && "on "}
        <button type="button" class="link" onClick={() => setOpen(true)}>
          {count === undefined ? "on the instance that answered" : countWords(count)}
        </button>
        {since}
      </Tile>
      {isOpen && (
        <Dialog title={count?.kind === "machines" ? "Machines" : "Instances"} onClose={() => setOpen(false)}>
          {status.value ? (
            <InstancesOf status={status.value} isolates={hour?.isolates} />
          ) : (
            <Skeleton label="Loading the tables" />
          )}
        </Dialog>
      )}
    </>
  );
}

/** The shares of both tables; without a canary, on how many this one is in force. */
function WhoDecides({ force: { revision, canary, count } }: { force: Force }) {
  const percent = canary?.percent;
  const share = percent !== undefined ? 1 - percent / 100 : canary || !count ? undefined : count.inForce / count.of;
  return (
    <p class="tile-foot">
      {share !== undefined && (
        <svg class="bar stack thick" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
          <rect class="none" width="100" height="10" />
          <rect class="ink" width={Math.max(0, share * 100 - (share < 1 ? 0.5 : 0))} height="10" />
        </svg>
      )}
      <small>{decidesText(revision, canary, count)}</small>
    </p>
  );
}

function decidesText(revision: number, canary: Force["canary"], count: Force["count"]): string {
  if (canary?.percent !== undefined) {
    const of = canary.percent / 100;
    return `${shareText(1 - of)} by ${revision}, ${shareText(of)} by canary ${canary.revision}`;
  }
  if (canary !== undefined) return `canary ${canary.revision} decides for ${canary.words}`;
  if (count === undefined) return "the others are not known";
  if (count.inForce === count.of) return `100 % by ${revision}`;
  return `${wholeText(count.of - count.inForce)} still ${count.of - count.inForce === 1 ? "has" : "have"} an older one`;
}
