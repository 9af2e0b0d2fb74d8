import { useEffect, useState } from "preact/hooks";
import type { MetricsHistory } from "../../formats/console-api.ts";
import type { TableRevision } from "../../formats/table-api.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { gatewayNow } from "../app/clock.ts";
import { type ChangesInWords, changesInWords } from "../publish/diff-words.ts";
import { basisOf, type Effect, effectOf } from "../publish/requests/effect.ts";
import { revisionOf } from "../publish/table-of.ts";

/** Changes of each revision against the one before, for the list. */

export type Summary =
  | { readonly changes: ChangesInWords; readonly effect: Effect | undefined }
  | "large"
  | "unreadable";

/** A list of twenty texts of this size is read in a moment; larger ones are read when they are compared. */
const BYTES_MAX = 1_000_000;

/** The stable revision that was in force before one of the list. */
export const beforeIn = (revisions: readonly TableRevision[], revision: number): TableRevision | undefined =>
  revisions.find((each) => each.revision < revision && each.kind !== "canary");

/** The effect by requests that the revision itself decided, where they are still kept. */
export function pastEffect(
  changes: ChangesInWords,
  revision: number,
  table: DeclaredTable,
  histories: readonly (MetricsHistory | undefined)[],
): Effect | undefined {
  const own = histories.find((history) => history !== undefined && basisOf(history, revision) !== "regions");
  return own && effectOf(changes, revision, own, undefined, table);
}

/** Read one after the other, newest first; those that are not read yet are absent. */
export function useSummaries(
  revisions: readonly TableRevision[],
  histories: readonly (MetricsHistory | undefined)[] | undefined,
): ReadonlyMap<number, Summary> {
  const [known, setKnown] = useState<ReadonlyMap<number, Summary>>(new Map());
  useEffect(() => {
    if (histories === undefined) return;
    let isGone = false;
    const read = async () => {
      for (const { revision, bytes } of revisions) {
        const before = beforeIn(revisions, revision);
        if (isGone) return;
        if (before === undefined || known.has(revision)) continue;
        const own =
          Math.max(bytes, before.bytes) > BYTES_MAX ? "large" : await summaryOf(before.revision, revision, histories);
        if (!isGone) setKnown((already) => new Map([...already, [revision, own]]));
      }
    };
    void read();
    return () => {
      isGone = true;
    };
  }, [revisions, histories]);
  return known;
}

async function summaryOf(
  from: number,
  to: number,
  histories: readonly (MetricsHistory | undefined)[],
): Promise<Summary> {
  const [before, after] = [await revisionOf(from), await revisionOf(to)];
  if (!before.ok || !after.ok) return "unreadable";
  const changes = changesInWords(before.value.declared, after.value.declared, gatewayNow());
  return { changes, effect: pastEffect(changes, from, before.value.declared, histories) };
}
