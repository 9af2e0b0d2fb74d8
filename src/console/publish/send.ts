import type { AuditEntry, TableRevision } from "../../formats/table-api.ts";
import { NOTE_HEADER } from "../../formats/table-requests.ts";
import { type Answer, call, type Problem } from "../app/api.ts";
import { gatewayNow } from "../app/clock.ts";

/** Changes of the table, and the exact end of each: a lost answer is asked after, and never guessed. */

export type Made = { readonly revision?: number };

/** A note is one line: the gateway refuses control characters, and halves of a character. */
export const sentNote = (typed: string): string =>
  typed
    .replaceAll(/\p{Cs}/gu, "")
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim();

const entityTag = (revision: number): string => `"${revision}"`;

export const publish = (text: string, basedOn: number, note: string): Promise<Answer<Made>> =>
  call("/-/table", {
    method: "PUT",
    text,
    headers: { "if-match": entityTag(basedOn), [NOTE_HEADER]: encodeURIComponent(note) },
  });

/** `POST` of a change whose note is in its body. `text`: a body that must go as it is. */
export const post = (path: string, basedOn: number, body: object, text?: string): Promise<Answer<Made>> =>
  call(path, {
    method: "POST",
    ...(text === undefined ? { body } : { text }),
    headers: { "if-match": entityTag(basedOn) },
  });

/** The table's text goes as it is: to parse it and write it again could change it. A comment may end it. */
export const startCanary = (text: string, basedOn: number, share: number, note: string): Promise<Answer<Made>> =>
  post("/-/table/canary", basedOn, {}, `{"table":${text}\n,${JSON.stringify({ share, note }).slice(1)}`);

export type Settled =
  | { readonly is: "made"; readonly revision?: number; readonly sentAtMs: number }
  | { readonly is: "refused"; readonly problem: Problem }
  /** Another change came first: nothing was made. */
  | { readonly is: "stale"; readonly problem: Problem }
  /** The gateway has no such change, and makes it no more. */
  | { readonly is: "not-made"; readonly problem: Problem };

export interface Change {
  /** As the audit log has it; without one any action with the note is this one. */
  readonly action?: AuditEntry["action"];
  readonly note: string;
  send(): Promise<Answer<Made>>;
}

/** Time and calls are arguments: tests have their own. */
export interface SendContext {
  readonly author: string;
  nowMs(): number;
  pause(ms: number): Promise<void>;
  /** Newest entries of the audit log. */
  audit(limit: number): Promise<Answer<{ readonly entries: readonly AuditEntry[] }>>;
  /** Called once, when the answer is lost. */
  onDoubt(): void;
}

/** The gateway makes no change later than 30 s after it came. */
const DOUBT_MS = 40_000;

const ASK_MS = 2_000;
const ENTRIES = 50;

export async function settle(change: Change, context: SendContext): Promise<Settled> {
  const before = await context.audit(1);
  if (!before.ok) return { is: "not-made", problem: before.problem };
  const lastId = before.value.entries[0]?.id ?? -1;
  const sentAtMs = context.nowMs();
  const sent = await change.send();
  if (sent.ok)
    return { is: "made", sentAtMs, ...(sent.value?.revision !== undefined && { revision: sent.value.revision }) };
  const { problem } = sent;
  if (!isInDoubt(problem)) return refused(problem);
  context.onDoubt();
  for (;;) {
    const answer = await context.audit(ENTRIES);
    if (answer.ok) {
      const own = answer.value.entries.find(
        ({ id, author, action, note }) =>
          id > lastId && author === context.author && (change.action ?? action) === action && note === change.note,
      );
      if (own?.outcome === "done")
        return { is: "made", sentAtMs, ...(own.revision !== undefined && { revision: own.revision }) };
      if (own !== undefined) return refused(ofOutcome(own.outcome));
      if (context.nowMs() - sentAtMs > DOUBT_MS) return { is: "not-made", problem };
    }
    // Without an answer, or signed out, nothing is known yet.
    await context.pause(ASK_MS);
  }
}

/** No answer came, or one that does not say whether the change was made. */
const isInDoubt = ({ status, members }: Problem): boolean =>
  (status === 0 || status >= 500 || status === 408) && members["outcome"] !== "none";

const STALE = new Set(["stale-revision", "canary-running", "no-canary"]);

const refused = (problem: Problem): Settled => ({ is: STALE.has(problem.slug) ? "stale" : "refused", problem });

const ofOutcome = (slug: string): Problem => ({
  slug,
  title: "The gateway refused the change",
  detail: `Its log says ${slug}. Nothing was changed.`,
  status: 0,
  members: {},
});

/** Newest revisions, whatever their kind. */
export const revisionsBefore = (limit: number, before?: number) =>
  call<{ readonly revisions: readonly TableRevision[] }>(
    `/-/table/revisions?limit=${limit}${before === undefined ? "" : `&before=${before}`}`,
  );

export const auditOf = (limit: number, before?: number) =>
  call<{ readonly entries: readonly AuditEntry[] }>(
    `/-/table/audit?limit=${limit}${before === undefined ? "" : `&before=${before}`}`,
  );

export const sendContext = (author: string, onDoubt: () => void): SendContext => ({
  author,
  nowMs: gatewayNow,
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  audit: (limit) => auditOf(limit),
  onDoubt,
});
