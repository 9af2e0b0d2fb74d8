import { setLast } from "../edge/platform.ts";
import { declaredIn } from "../edge/table/built.ts";
import { loadTableBytes } from "../edge/table/compile-text.ts";
import { type Bytes, sha256, tableNames } from "../edge/table/kv.ts";
import type { Pointer } from "../formats/kv.ts";
import type { AuditEntry, TableRevision } from "../formats/table-api.ts";
import { err, ok, type Result } from "../ids/result.ts";
import type { ChangeRequest, RejectedChange, RevisionContent, RunningCanary, TableAction } from "../ports/admin.ts";
import type { Clock } from "../ports/gateway.ts";
import type { TableChangeError } from "../problems/errors.ts";
import { type CanarySelector, type Fault, REVISION_MAX, TABLE_BYTES_MAX, unknownNames } from "../routing/index.ts";
import { startPublication } from "./publication.ts";
import { RevisionStore } from "./storage.ts";

/** Cached digests: the current table, its canary and a few candidates for a rollback. */
const SOUND_MAX = 16;

/** Validates tables as isolates load them, each digest once, in memory only: a result holds for one version of the code. */
export function validations(load: typeof loadTableBytes = loadTableBytes) {
  const sound = new Map<string, readonly Fault[]>();
  return (digest: string, bytes: Bytes): readonly Fault[] => {
    if (sound.has(digest)) return [];
    const table = load(bytes, 0);
    if (!table.ok) return table.error;
    setLast(sound, digest, [], SOUND_MAX);
    return [];
  };
}

type Change = Result<TableRevision, TableChangeError>;

interface Draft extends Pick<TableRevision, "kind" | "digest">, Pick<RevisionContent, "bytes"> {
  readonly basedOn: number;
  readonly audience?: CanarySelector;
}

export type DraftOf = (canary: RunningCanary | undefined) => Result<Draft, TableChangeError>;

/** Append-only revision log. With no `await` between compare and write, exactly one of several concurrent changes wins. */
export class RevisionLog extends RevisionStore {
  readonly #clock: Clock;
  readonly #bundled: RevisionContent;
  readonly #validate = validations();

  /** `bundled`: revision 0. */
  constructor(storage: DurableObjectStorage, clock: Clock, bundled: RevisionContent) {
    super(storage);
    this.#clock = clock;
    this.#bundled = bundled;
  }

  /** Whether a text passes the check of this version. */
  isSound(digest: string, bytes: Bytes): boolean {
    return this.#validate(digest, bytes).length === 0;
  }

  current(): TableRevision {
    return this.lastStable() ?? this.#bundled.revision;
  }

  canary(): RunningCanary | undefined {
    return this.state().canary;
  }

  text(number: number): Result<RevisionContent, TableChangeError> {
    if (number === 0) return ok(this.#bundled);
    const revision = this.revision(number);
    if (revision === undefined) return err({ reason: "unknown-revision", revision: number, why: "there is none" });
    const bytes = this.body(revision.digest);
    return bytes === undefined
      ? err({ reason: "unknown-revision", revision: number, why: "its text is no longer stored" })
      : ok({ revision, bytes });
  }

  /** `known`: faults outside of the text, such as those of its packs; they are reported if the text itself has none. */
  change(action: TableAction, request: ChangeRequest, known: readonly Fault[], draftOf: DraftOf): Change {
    const refusal = this.#rejection(request);
    if (refusal !== undefined) return this.reject(action, request, refusal);
    const draft = draftOf(this.canary());
    if (!draft.ok) return this.reject(action, request, draft.error);
    // A first canary may need a second number, for the bundled table.
    if (!this.hasNumbers(2)) {
      const why = `there is no number after ${REVISION_MAX}, the last of a revision`;
      return this.reject(action, request, { reason: "control-plane-unavailable", why, outcome: "none" });
    }
    const own = this.#faultsOf(draft.value);
    const faults = own.length > 0 ? own : known;
    if (faults.length > 0) return this.reject(action, request, { reason: "invalid-table", faults });
    return this.atomically(() => this.#add(action, request, draft.value));
  }

  /** Repeats the text of an older revision under a new number, after another check. */
  repeat(kind: "rollback" | "promote", number: number): Result<Draft, TableChangeError> {
    const text = this.text(number);
    if (!text.ok) return text;
    const { revision, bytes } = text.value;
    return ok({ kind, digest: revision.digest, bytes, basedOn: number });
  }

  abort(request: ChangeRequest): Change {
    const canary = this.canary();
    const refusal = this.#rejection(request) ?? (canary === undefined ? ({ reason: "no-canary" } as const) : undefined);
    if (refusal !== undefined) return this.reject("abort", request, refusal);
    return this.atomically(() => {
      this.#note("abort", request, { revision: canary?.revision, audience: canary?.audience });
      this.#putIntoForce(this.current(), undefined);
      return ok(this.current());
    });
  }

  reject(action: TableAction, request: ChangeRequest, error: TableChangeError): Change {
    this.#note(action, request, { outcome: error.reason });
    return err(error);
  }

  /** Audits what was decided outside of this log. The note of a change is left out: it was not validated. */
  record({ author, action, outcome, pack }: Omit<RejectedChange, "outcome"> & { readonly outcome: string }): void {
    this.#note(action, { author, note: "" }, { outcome, pack });
  }

  /** The table that KV had before this history: under its own number or, if that is taken, under the next one. */
  adopt(pointer: Pointer, bytes: Uint8Array): void {
    const { digest, publishedAt, canary } = pointer;
    const isFree = pointer.revision > this.head();
    if (!isFree && !this.hasNumbers(1)) {
      this.save({ ...this.state(), ownsKv: true });
      return;
    }
    const revision = isFree ? pointer.revision : this.#nextNumber();
    const time = isoTime(publishedAt) ?? this.#time();
    const note = `Found in KV, where a former version had put it.${this.#skipped(revision)}`;
    const found = { revision, digest, bytes: bytes.byteLength, author: "kv", time, note, basedOn: undefined };
    this.atomically(() => {
      this.add({ ...found, kind: "import" }, bytes);
      this.#note("import", found, { revision });
      // The number of a canary in KV is taken, although its text is unknown.
      this.#numberAbove(canary?.revision ?? 0, pointer.change);
      this.#putIntoForce(this.current(), undefined);
    });
  }

  /**
   * A pointer in KV that is newer than this history: another wrote it, or the history was restored from a backup. Isolates that
   * took it take no lower number, so the table in force gets a higher one. Returns whether it is newer.
   */
  supersede({ revision, change }: Pointer): boolean {
    const current = this.current().revision;
    // Nothing can come after the highest number.
    const isAbove = revision > current && revision < REVISION_MAX;
    if (!isAbove && change <= this.state().change) return false;
    return this.atomically(() => {
      this.#numberAbove(revision, change);
      // The table of the build has no number that KV takes.
      const needsNumber = isAbove || current === 0;
      if (needsNumber && this.hasNumbers(1)) this.#repeatCurrent(`KV had revision ${revision}, not of this history.`);
      this.#putIntoForce(this.current(), needsNumber ? undefined : this.canary());
      return true;
    });
  }

  /** An imported history gets a change above that of a pointer which KV had before, if that has its revision with another table. */
  outrank({ revision, digest, change }: Pointer): void {
    const state = this.state();
    const { pointer } = state.publication ?? {};
    if (pointer === undefined || pointer.revision !== revision || pointer.digest === digest) return;
    this.save({ ...state, change: Math.max(state.change, change) });
    this.#putIntoForce(this.current(), this.canary());
  }

  /** From now on numbers are above those that KV has. */
  #numberAbove(revision: number, change: number): void {
    const state = this.state();
    const foreign = Math.max(state.foreign, revision < REVISION_MAX ? revision : 0);
    this.save({ ...state, ownsKv: true, foreign, change: Math.max(state.change, change) });
  }

  #repeatCurrent(note: string): void {
    const { revision: basedOn } = this.current();
    const text = this.text(basedOn);
    if (!text.ok) throw new Error("the text of a revision in force is gone");
    const { digest, bytes } = text.value.revision;
    const made = { revision: this.#nextNumber(), digest, bytes, author: "kv", time: this.#time(), note, basedOn };
    this.add({ ...made, kind: "rollback" }, text.value.bytes);
    this.#note("rollback", made, { revision: made.revision });
  }

  /** No number is missing without an entry: those that others used in KV are named in the audit. */
  override add(revision: TableRevision, content: Uint8Array): void {
    const skipped = this.#skipped(revision.revision);
    if (revision.kind !== "import" && skipped !== "") this.#note("import", { author: "kv", note: skipped.trim() }, {});
    super.add(revision, content);
  }

  hasNumbers(count: number): boolean {
    return this.#nextNumber() + count - 1 <= REVISION_MAX;
  }

  /** Another change came first, or the request does not name the running canary. */
  #rejection({ expectedRevision }: ChangeRequest): TableChangeError | undefined {
    const current = this.current().revision;
    const canary = this.canary()?.revision;
    if (expectedRevision === (canary ?? current)) return undefined;
    if (canary !== undefined && expectedRevision === current) return { reason: "canary-running", canary };
    return { reason: "stale-revision", expected: expectedRevision, current, canary };
  }

  #faultsOf({ digest, bytes, audience }: Draft): readonly Fault[] {
    if (bytes.byteLength > TABLE_BYTES_MAX) {
      const message = `The text has ${bytes.byteLength} bytes; the limit is ${TABLE_BYTES_MAX}.`;
      return [{ pointer: "", kind: "size", message }];
    }
    const faults = this.#validate(digest, bytes);
    if (faults.length > 0 || audience === undefined) return faults;
    const stable = this.text(this.current().revision);
    const texts = stable.ok ? [stable.value.bytes, bytes] : [bytes];
    return unknownNames(audience, texts.map(tableNames)).map((name) => ({
      pointer: "",
      kind: "unknown-name",
      message: `The canary is for ${JSON.stringify(name)}, which no current table declares; it would serve no ID.`,
    }));
  }

  #add(action: TableAction, request: ChangeRequest, { kind, digest, bytes, basedOn, audience }: Draft): Change {
    const { author, note } = request;
    // With a canary, KV must have the stable table too, and it has no revision 0.
    if (audience !== undefined && this.current().revision === 0) this.#publishBundled();
    const revision: TableRevision = {
      revision: this.#nextNumber(),
      digest,
      bytes: bytes.byteLength,
      author,
      time: this.#time(),
      note,
      kind,
      basedOn,
      audience,
    };
    this.add(revision, bytes);
    const served = action === "promote" ? this.canary()?.audience : audience;
    this.#note(action, request, { revision: revision.revision, audience: served });
    if (audience === undefined) this.#putIntoForce(revision, undefined);
    else this.#putIntoForce(this.current(), { revision: revision.revision, digest, audience });
    return ok(revision);
  }

  #putIntoForce(current: TableRevision, canary: RunningCanary | undefined): void {
    const state = this.state();
    const change = state.change + 1;
    const { revision, digest, time } = current;
    const pointer: Pointer = { revision, digest, publishedAt: time, change, canary };
    const publication = startPublication(pointer, state.publication, this.#clock.nowMs());
    this.save({ ...state, change, canary, publication });
  }

  #publishBundled(): void {
    const { revision, bytes } = this.#bundled;
    const number = this.#nextNumber();
    this.add({ ...revision, revision: number, time: this.#time(), kind: "publish", basedOn: 0 }, bytes);
    this.#note("publish", revision, { revision: number });
  }

  #nextNumber(): number {
    return Math.max(this.head(), this.state().foreign) + 1;
  }

  /** Says which numbers before a new revision are not in this log: others used them in KV. Empty if there are none. */
  #skipped(revision: number): string {
    const from = this.head() + 1;
    const to = revision - 1;
    if (from > to) return "";
    const which = from === to ? `Revision ${from}` : `Revisions ${from} to ${to}`;
    return ` ${which}, used in KV before, never reached this history.`;
  }

  #note(
    action: AuditEntry["action"],
    { author, note }: Pick<ChangeRequest, "author" | "note">,
    what: Partial<Pick<AuditEntry, "revision" | "outcome" | "audience" | "pack">>,
  ): void {
    const { revision, outcome = "done", audience, pack } = what;
    this.note({ time: this.#time(), author, action, revision, outcome, note, audience, pack });
  }

  #time(): string {
    return new Date(this.#clock.nowMs()).toISOString();
  }
}

/** Anyone with access to KV can write a pointer, so its time is not trusted. */
function isoTime(text = ""): string | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** Revision 0: the table that was deployed with the code, as text. */
export async function bundledRevision(bundled: unknown): Promise<RevisionContent> {
  const bytes = new TextEncoder().encode(`${JSON.stringify(declaredIn(bundled), null, 2)}\n`);
  const revision: TableRevision = {
    revision: 0,
    digest: await sha256(bytes),
    bytes: bytes.byteLength,
    author: "deployment",
    time: undefined,
    note: "The table of the build.",
    kind: "bundled",
    basedOn: undefined,
  };
  return { revision, bytes };
}
