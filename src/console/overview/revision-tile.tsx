import { useState } from "preact/hooks";
import type { MetricsHistory } from "../../formats/console-api.ts";
import { isBehind } from "../../formats/machines.ts";
import type { Status } from "../../formats/table-api.ts";
import { Dialog } from "../app/parts/dialog.tsx";
import { plural, wholeText } from "../app/words.ts";
import { InstancesOf } from "./instances.tsx";
import { revisions, status } from "./live.ts";
import { momentText, shareText } from "./plot/words.ts";
import { Tile } from "./tile.tsx";

interface Props {
  readonly hour: MetricsHistory | undefined;
  readonly nowMs: number;
}

/** How many have the newest table. `atLeast`: more may be behind than those that are known. */
interface Spread {
  readonly inForce: number;
  readonly of: number;
  readonly kind: string;
}

/** Machines by their mirrors, isolates by their reports; `undefined` where neither is known. */
export function spreadOf(own: Status, isolates: MetricsHistory["isolates"] | undefined): Spread | undefined {
  if (own.machines !== undefined) {
    const { edges, published } = own.machines;
    const behind = edges.filter((edge) => isBehind(edge, published)).length;
    return edges.length === 0 ? undefined : { inForce: edges.length - behind, of: edges.length, kind: "machine" };
  }
  if (isolates === undefined || isolates.count === 0) return undefined;
  const behind = isolates.shown.filter(({ revision }) => revision < own.controlPlane.revision).length;
  return { inForce: isolates.count - behind, of: isolates.count, kind: "isolate" };
}

/** The table in force, on how many, and how much of the traffic a canary decides. */
export function RevisionTile({ hour, nowMs }: Props) {
  const [isOpen, setOpen] = useState(false);
  const own = status.value;
  if (own === undefined)
    return (
      <Tile title="Revision in force" value="–">
        loading
      </Tile>
    );
  const { controlPlane, canary } = own;
  const spread = spreadOf(own, hour?.source === "none" ? undefined : hour?.isolates);
  const time = controlPlane.time ?? revisions.value?.find(({ revision }) => revision === controlPlane.revision)?.time;
  const since = time === undefined ? "" : ` since ${momentText(Date.parse(time), nowMs)}`;
  const isPart = spread !== undefined && spread.inForce < spread.of;
  return (
    <>
      <Tile
        title="Revision in force"
        value={wholeText(controlPlane.revision)}
        spark={<ShareOfCanary revision={controlPlane.revision} canary={canary} spread={spread} />}
      >
        {spread === undefined ? (
          <button type="button" class="link" onClick={() => setOpen(true)}>
            on the isolate that answered{since}
          </button>
        ) : (
          <>
            on{" "}
            <button type="button" class={isPart ? "link up" : "link"} onClick={() => setOpen(true)}>
              {wholeText(spread.inForce)} of {plural(spread.of, spread.kind)}
            </button>
            {since}
          </>
        )}
      </Tile>
      {isOpen && (
        <Dialog title={own.machines ? "Machines" : "Isolates"} onClose={() => setOpen(false)}>
          <InstancesOf status={own} isolates={hour?.isolates} />
        </Dialog>
      )}
    </>
  );
}

interface BarProps {
  readonly revision: number;
  readonly canary: Status["canary"];
  readonly spread: Spread | undefined;
}

/** Who decides. Without a canary: on how many it is in force. */
function ShareOfCanary({ revision, canary, spread }: BarProps) {
  const ofCanary = canary === null ? undefined : (canary.share ?? undefined);
  const share =
    ofCanary !== undefined ? 1 - ofCanary / 100 : canary === null && spread ? spread.inForce / spread.of : undefined;
  const words =
    ofCanary !== undefined && canary !== null
      ? `${shareText(1 - ofCanary / 100)} by ${revision}, ${shareText(ofCanary / 100)} by canary ${canary.revision}`
      : canary !== null
        ? `canary ${canary.revision} decides some of the IDs`
        : spread === undefined
          ? "the others are not known"
          : spread.inForce === spread.of
            ? `100 % by ${revision}`
            : `${spread.of - spread.inForce} still have an older one`;
  return (
    <p class="tile-foot">
      {share !== undefined && (
        <svg class="bar stack thick" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
          <rect class="none" width="100" height="10" />
          <rect class="ink" width={Math.max(0, share * 100 - (share < 1 ? 0.5 : 0))} height="10" />
        </svg>
      )}
      <small>{words}</small>
    </p>
  );
}
