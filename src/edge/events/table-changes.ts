import { START_AUTHOR } from "../../formats/start-table.ts";
import type { AuditEntry } from "../../formats/table-api.ts";
import type { EventDraft } from "./watch-regions.ts";

/** A change of the table that was made. `basedOn`: the revision whose text it repeats. */
export interface MadeChange extends Pick<AuditEntry, "id" | "time" | "author" | "action" | "revision" | "note"> {
  readonly audience?: AuditEntry["audience"];
  readonly basedOn?: number | undefined;
}

/** `running`: the revision of the canary that ran before the change. */
export function changeEvent(change: MadeChange, running: number | undefined): EventDraft | undefined {
  const { action, revision, author, note, basedOn, audience } = change;
  const who = author === START_AUTHOR ? "The start of the gateway" : author;
  const told = wordsOf(change, who, running);
  if (told === undefined || revision === undefined) return undefined;
  const isCanary = action === "canary" || action === "promote" || action === "abort";
  return {
    atMs: Date.parse(change.time),
    kind: isCanary ? "canary" : "publication",
    type: told.type,
    words: note === "" ? `${told.words}.` : `${told.words}: ${note}`,
    revision,
    evidence: {
      author,
      ...(note === "" ? {} : { note }),
      ...(basedOn === undefined || action === "publish" ? {} : { basedOn }),
      ...(audience === undefined ? {} : { audience: audienceText(audience) }),
      ...(isCanary || running === undefined ? {} : { endedCanary: running }),
    },
    ...((action === "promote" || action === "abort") && { isOver: true }),
  };
}

function wordsOf({ action, revision, basedOn, audience }: MadeChange, who: string, running: number | undefined) {
  const ended = running === undefined ? "" : `, which ended canary ${running}`;
  const forWhom = audience === undefined ? "" : ` for ${audienceText(audience)}`;
  switch (action) {
    case "publish":
      return { type: "publication.published", words: `${who} published revision ${revision}${ended}` };
    case "rollback":
      return {
        type: "publication.rolled-back",
        words: `${who} rolled back to revision ${basedOn ?? "before"}, as revision ${revision}${ended}`,
      };
    case "import":
      return { type: "publication.found", words: `Revision ${revision} was found in KV, and is in force${ended}` };
    case "canary":
      return running === undefined
        ? { type: "canary.begun", words: `${who} began canary ${revision}${forWhom}` }
        : { type: "canary.changed", words: `${who} changed the canary from ${running} to ${revision}${forWhom}` };
    case "promote":
      return {
        type: "canary.promoted",
        words: `${who} promoted canary ${basedOn ?? running ?? "before"}: revision ${revision} is in force for all`,
      };
    case "abort":
      return { type: "canary.aborted", words: `${who} aborted canary ${revision}` };
    default:
      // An upload changes nothing that is in force.
      return undefined;
  }
}

function audienceText({ share, countries, entities }: NonNullable<AuditEntry["audience"]>): string {
  if (share !== undefined) return `${share} % of the IDs`;
  return countries === undefined
    ? `the entities ${(entities ?? []).join(", ")}`
    : `the countries ${countries.join(", ")}`;
}

/** The canary that runs after a change. */
export const canaryAfter = ({ action, revision }: MadeChange, running: number | undefined): number | undefined =>
  action === "canary" ? revision : action === "pack" ? running : undefined;
