import type { DeclaredTable } from "../../routing/schema/table.ts";
import { type Answer, call } from "../app/api.ts";
import { tableIn } from "../routing/check-text.ts";

export interface RevisionTable {
  readonly text: string;
  readonly declared: DeclaredTable;
}

/** Texts never change: the last ones that were read are kept. */
const KEPT = 12;

const kept = new Map<number, RevisionTable>();

/** A revision, checked as it was when it was published. */
export async function revisionOf(revision: number): Promise<Answer<RevisionTable>> {
  const own = kept.get(revision);
  if (own !== undefined) return { ok: true, value: own, headers: new Headers(), status: 200 };
  const answer = await call<string>(`/-/table/revisions/${revision}`, { asText: true });
  if (!answer.ok) return answer;
  const declared = tableIn(answer.value);
  if (declared === undefined) {
    const title = `Revision ${revision} is not valid for this version`;
    const detail = "Its text can still be read in the history. It cannot be put in force again as it is.";
    return { ok: false, problem: { slug: "invalid-table", title, detail, status: 0, members: {} } };
  }
  const value = { text: answer.value, declared };
  kept.set(revision, value);
  for (const [oldest] of kept) if (kept.size > KEPT) kept.delete(oldest);
  return { ...answer, value };
}

export async function tableOf(revision: number): Promise<Answer<DeclaredTable>> {
  const answer = await revisionOf(revision);
  return answer.ok ? { ...answer, value: answer.value.declared } : answer;
}
