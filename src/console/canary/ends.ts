import type { CanaryVerdict } from "../../formats/canary-verdict.ts";
import { audienceInWords } from "../../formats/console-canary.ts";
import type { Audience, Status } from "../../formats/table-api.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { type Answer, call } from "../app/api.ts";
import type { KnownTable } from "../app/session.ts";
import type { Change } from "../publish/confirm-change.tsx";
import { post } from "../publish/send.ts";

/** Changes of a canary, each to be confirmed before it is sent. */

export type Running = NonNullable<Status["canary"]>;

/** A bad verdict wants a tick and a reason, one of too little wants to be read. */
const against = (verdict: CanaryVerdict | undefined, tick: string): Pick<Change, "guard" | "about"> => {
  if (verdict?.verdict === "worse") return { guard: { what: verdict.words, tick, needsNote: true } };
  const words = verdict === undefined ? "There are no figures of the canary to judge." : verdict.words;
  return verdict?.verdict === "no-worse" ? {} : { about: words };
};

export const promoted = (
  { revision }: Running,
  known: KnownTable,
  table: DeclaredTable,
  verdict: CanaryVerdict | undefined,
): Change => ({
  title: `Promote revision ${revision}: all IDs go by it`,
  verb: "Promote",
  before: known.declared,
  after: table,
  revision: known.revision,
  action: "promote",
  asksName: true,
  undoTo: known.revision,
  ...against(verdict, "Promote it all the same"),
  send: (note) => post("/-/table/promote", revision, { note }),
});

export const aborted = ({ revision }: Running, known: KnownTable, table: DeclaredTable): Change => ({
  title: `Abort the canary: no ID goes by revision ${revision}`,
  verb: "Abort",
  before: table,
  after: known.declared,
  action: "abort",
  doneTitle: "The canary is aborted",
  send: async (note) => {
    const answer = await post("/-/table/abort", revision, { note });
    // An abort makes no revision to wait for.
    return answer.ok ? { ...answer, value: {} } : answer;
  },
});

export interface Start {
  /** The table's text. */
  readonly text: string;
  readonly table: DeclaredTable;
  readonly audience: Audience;
  readonly known: KnownTable;
  readonly running: Running | null;
}

export const started = ({ text, table, audience, known, running }: Start): Change => ({
  title: `Start a canary for ${audienceInWords(audience)}`,
  verb: running === null ? "Start" : "Replace the canary",
  before: known.declared,
  after: table,
  revision: known.revision,
  action: "canary",
  isCanary: true,
  send: (note) => {
    // The table's text goes as it is: to parse it and write it again could change it. A comment may end it.
    const body = `{"table":${text}\n,${JSON.stringify({ ...audience, note }).slice(1)}`;
    return post("/-/table/canary", running?.revision ?? known.revision, {}, body);
  },
});

/** The same table for another share. More of a bad one wants a reason. */
export async function withShare(
  running: Running,
  share: number,
  known: KnownTable,
  table: DeclaredTable,
  verdict: CanaryVerdict | undefined,
): Promise<Answer<Change>> {
  const answer = await call<string>(`/-/table/revisions/${running.revision}`, { asText: true });
  if (!answer.ok) return answer;
  const isMore = running.share === undefined || share > running.share;
  const change: Change = {
    ...started({ text: answer.value, table, audience: { share }, known, running }),
    title: `${share} % of the IDs go by the table of revision ${running.revision}`,
    verb: isMore ? "Raise the share" : "Lower the share",
    ...(isMore && against(verdict, "Give it more IDs all the same")),
  };
  return { ...answer, value: change };
}
