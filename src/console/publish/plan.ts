import type { Status, TableRevision } from "../../formats/table-api.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { call, type Problem } from "../app/api.ts";
import { knownTable } from "../app/session.ts";
import { readText } from "../routing/check-text.ts";
import { revisionsBefore } from "./send.ts";
import { type RevisionTable, revisionOf } from "./table-of.ts";

/** Everything that is asked before a draft is published. */

export interface Plan {
  readonly basedOn: number;
  readonly text: string;
  readonly before: RevisionTable;
  readonly after: DeclaredTable;
  /** The number that the change will most likely have: that of a canary or a rollback may come first. */
  readonly next: number;
  readonly canary: Status["canary"];
  /** Published since the draft began. */
  readonly newest?: { readonly revision: TableRevision; readonly table: RevisionTable };
}

export type Planned =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly problem: Problem; readonly isFaulty?: boolean };

const FAULTY = (count: number): Problem => ({
  slug: "invalid-table",
  title: `The draft has ${count === 1 ? "a fault" : `${count} faults`}`,
  detail: "The editor shows where. Correct the text first: nothing was sent.",
  status: 0,
  members: {},
});

/** The text is checked here, then by the gateway; its control plane says what is in force, and not this page's isolate. */
export async function planOf(text: string, basedOn: number): Promise<Planned> {
  const own = readText(text);
  if (!own.ok) return { ok: false, problem: FAULTY(own.error.length), isFaulty: true };
  const [check, status, newest, before] = await Promise.all([
    call("/-/table/check", { method: "POST", text }),
    call<Status>("/-/table/status"),
    revisionsBefore(1),
    tableBefore(basedOn),
  ]);
  for (const answer of [check, status, newest, before]) if (!answer.ok) return { ok: false, problem: answer.problem };
  if (!status.ok || !newest.ok || !before.ok) throw new Error("one of the answers failed");
  const { canary, controlPlane } = status.value;
  const next = Math.max(newest.value.revisions[0]?.revision ?? 0, controlPlane.revision) + 1;
  const plan: Plan = { basedOn, text, before: before.value, after: own.value, next, canary };
  if (controlPlane.revision === basedOn) return { ok: true, plan };
  const [list, table] = await Promise.all([
    revisionsBefore(1, controlPlane.revision + 1),
    revisionOf(controlPlane.revision),
  ]);
  for (const answer of [list, table]) if (!answer.ok) return { ok: false, problem: answer.problem };
  const [revision] = list.ok ? list.value.revisions : [];
  if (!table.ok || revision === undefined) throw new Error("the revision in force is in the history");
  return { ok: true, plan: { ...plan, newest: { revision, table: table.value } } };
}

/** The page has it already, as a rule. */
async function tableBefore(revision: number): ReturnType<typeof revisionOf> {
  const known = knownTable.peek();
  if (known?.revision !== revision) return revisionOf(revision);
  const { text, declared } = known;
  return { ok: true, value: { text, declared }, headers: new Headers(), status: 200 };
}
