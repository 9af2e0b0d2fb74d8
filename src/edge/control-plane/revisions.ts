import type {
  ChangeRequest,
  PackPartRequest,
  RejectedChange,
  RevisionContent,
  RunningCanary,
  TableAction,
} from "../../admin-ports.ts";
import { err, ok, type Result } from "../../ids/result.ts";
import type { Clock } from "../../ports.ts";
import type { PackChangeError, TableChangeError } from "../../problems/errors.ts";
import type { Pointer } from "../../published/kv.ts";
import type { AuditEntry, RevisionKind, TableRevision } from "../../published/table-api.ts";
import { type CanarySelector, type Fault, REVISION_MAX, TABLE_BYTES_MAX, unknownNames } from "../../routing/index.ts";
import { type Bytes, loadTableBytes, sha256, tableNames } from "../table/table-bytes.ts";
import { adoptPublication, startPublication } from "./publication.ts";
import type { ControlPlaneState, RevisionStore } from "./storage.ts";

/** Texts remembered: those in force, of a canary, and a few that somebody may go back to. */
const SOUND_MAX = 16;

/**
 * Checks texts as isolates will load them, each once: the digest names the bytes, and for one version of the code they are
 * good or not for ever. A new version begins with an empty memory. What has faults is checked again.
 */
export class ValidationCache {
  readonly #load: typeof loadTableBytes;
  readonly #sound = new Set<string>();

  constructor(load: typeof loadTableBytes = loadTableBytes) {
    this.#load = load;
  }

  faultsOf(digest: string, bytes: Bytes): readonly Fault[] {
    if (this.#sound.has(digest)) return [];
    const table = this.#load(bytes, 0);
    if (!table.ok) return table.error;
    const [oldest] = this.#sound.size >= SOUND_MAX ? this.#sound : [];
    if (oldest !== undefined) this.#sound.delete(oldest);
    this.#sound.add(digest);
    return [];
  }
}

export interface RevisionLogDeps {
  readonly rows: RevisionStore;
  readonly clock: Clock;
  /** Revision 0. */
  readonly bundled: RevisionContent;
}

type Change = Result<TableRevision, TableChangeError>;

/** A text that somebody brings. */
export interface NewText {
  readonly bytes: Uint8Array;
  readonly digest: string;
  readonly known: readonly Fault[];
}

/** What a change makes: the text of a new revision, or nothing new where a canary ends. */
interface Draft {
  readonly kind: RevisionKind;
  readonly digest: string;
  readonly bytes: Uint8Array;
  readonly basedOn: number;
  readonly audience?: CanarySelector;
}

/**
 * The revisions of the table, and the one rule by which they change: whoever changes something names the last revision that
 * he has seen, and is refused if another one came after it. From the comparison to the rows nothing waits, so that of
 * any number of publishers one wins, and one table is checked.
 */
export class RevisionLog {
  readonly #rows: RevisionStore;
  readonly #clock: Clock;
  readonly #bundled: RevisionContent;
  readonly #validations = new ValidationCache();

  constructor({ rows, clock, bundled }: RevisionLogDeps) {
    this.#rows = rows;
    this.#clock = clock;
    this.#bundled = bundled;
  }

  current(): TableRevision {
    return this.#rows.current() ?? this.#bundled.revision;
  }

  canary(): RunningCanary | undefined {
    return this.#rows.state().canary;
  }

  text(number: number): Result<RevisionContent, TableChangeError> {
    if (number === 0) return ok(this.#bundled);
    const revision = this.#rows.revision(number);
    if (revision === undefined) return err({ reason: "unknown-revision", revision: number, why: "there is none" });
    const bytes = this.#rows.body(revision.digest);
    return bytes === undefined
      ? err({ reason: "unknown-revision", revision: number, why: "its text is no longer stored" })
      : ok({ revision, bytes });
  }

  /** `known`: faults that stand outside of a text that has none itself, such as those of its packs. So with the three that follow. */
  publish(request: ChangeRequest, { bytes, digest, known }: NewText): Change {
    return this.#change("publish", request, known, () =>
      ok({ kind: "publish", digest, bytes, basedOn: request.expectedRevision }),
    );
  }

  /** Repeats the text of an older revision under a new number. What was good once is checked again. */
  rollback(request: ChangeRequest, to: number, known: readonly Fault[]): Change {
    return this.#change("rollback", request, known, () => this.#repeat("rollback", to));
  }

  startCanary(request: ChangeRequest, { bytes, digest, known }: NewText, audience: CanarySelector): Change {
    const basedOn = this.current().revision;
    return this.#change("canary", request, known, () => ok({ kind: "canary", digest, bytes, basedOn, audience }));
  }

  promote(request: ChangeRequest, known: readonly Fault[]): Change {
    return this.#change("promote", request, known, (canary) =>
      canary === undefined ? err({ reason: "no-canary" }) : this.#repeat("promote", canary.revision),
    );
  }

  abort(request: ChangeRequest): Change {
    const canary = this.canary();
    const refusal = this.#rejection(request) ?? (canary === undefined ? ({ reason: "no-canary" } as const) : undefined);
    if (refusal !== undefined) return this.reject("abort", request, refusal);
    return this.#rows.atomically(() => {
      this.#note("abort", request, { revision: canary?.revision, audience: canary?.audience });
      this.#putIntoForce(this.current(), undefined);
      return ok(this.current());
    });
  }

  /** Refuses a change, and writes it down. */
  reject(action: TableAction, request: ChangeRequest, error: TableChangeError): Change {
    this.#note(action, request, { outcome: error.reason });
    return err(error);
  }

  /** Writes down what was refused before it came here; of its note nobody knows whether it can be shown. */
  recordRejection({ author, action, outcome, pack }: RejectedChange): void {
    this.#note(action, { author, note: "" }, { outcome, pack });
  }

  /** Audits that a pack is complete (`done`), or why a part of it was rejected. */
  recordPack({ sha256: pack, author }: PackPartRequest, outcome: "done" | PackChangeError["reason"]): void {
    this.#note("pack", { author, note: "" }, { outcome, pack });
  }

  /** Takes over what somebody published in KV: under its number there, or the next one where a canary had that number. */
  takeOver(pointer: Pointer, bytes: Uint8Array): void {
    const { digest, publishedAt, canary } = pointer;
    const isFree = pointer.revision > this.#rows.head();
    const revision = isFree ? pointer.revision : this.#nextNumber();
    const time = isoTime(publishedAt) ?? this.#time();
    const note = "Found in KV.";
    const found = { revision, digest, bytes: bytes.byteLength, author: "kv", time, note, basedOn: undefined };
    this.#rows.atomically(() => {
      this.#rows.add({ ...found, kind: "import" }, bytes);
      this.#note("import", found, { revision });
      const state = this.#rows.state();
      const change = Math.max(state.change, pointer.change);
      const publication = adoptPublication(pointer, state.publication, this.#clock.nowMs());
      this.#rows.save({ ...state, isBegun: true, canary: undefined, change, publication });
      if (canary === undefined && isFree) return;
      // A canary of a truth that is lost: its number was given, and nobody here knows its text.
      this.#rows.save({ ...this.#rows.state(), foreign: Math.max(state.foreign, canary?.revision ?? 0) });
      this.#putIntoForce(this.current(), undefined);
    });
  }

  /** Whether so many revisions can still be made. */
  hasNumbers(count: number): boolean {
    return this.#nextNumber() + count - 1 <= REVISION_MAX;
  }

  #repeat(kind: "rollback" | "promote", number: number): Result<Draft, TableChangeError> {
    const text = this.text(number);
    if (!text.ok) return text;
    const { revision, bytes } = text.value;
    return ok({ kind, digest: revision.digest, bytes, basedOn: number });
  }

  #change(
    action: TableAction,
    request: ChangeRequest,
    known: readonly Fault[],
    draftOf: (canary: RunningCanary | undefined) => Result<Draft, TableChangeError>,
  ): Change {
    const refusal = this.#rejection(request);
    if (refusal !== undefined) return this.reject(action, request, refusal);
    const draft = draftOf(this.canary());
    if (!draft.ok) return this.reject(action, request, draft.error);
    // Beside a first canary the table of the build takes one too.
    if (!this.hasNumbers(2)) {
      const why = `there is no number after ${REVISION_MAX}, the last of a revision`;
      return this.reject(action, request, { reason: "control-plane-unavailable", why, outcome: "none" });
    }
    const own = this.#faultsOf(draft.value);
    const faults = own.length > 0 ? own : known;
    if (faults.length > 0) return this.reject(action, request, { reason: "invalid-table", faults });
    return this.#rows.atomically(() => this.#add(action, request, draft.value));
  }

  /** Somebody else was faster, or a canary runs that the wish does not name. */
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
    const faults = this.#validations.faultsOf(digest, bytes);
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
    // Beside a canary the table of the build has to be in KV too, and KV has no revision 0.
    if (audience !== undefined && this.current().revision === 0) this.#publishBundled();
    const revision: TableRevision = {
      ...{ revision: this.#nextNumber(), digest, bytes: bytes.byteLength },
      ...{ author, time: this.#time(), note, kind, basedOn, audience },
    };
    this.#rows.add(revision, bytes);
    const served = action === "promote" ? this.canary()?.audience : audience;
    this.#note(action, request, { revision: revision.revision, audience: served });
    if (audience === undefined) this.#putIntoForce(revision, undefined);
    else this.#putIntoForce(this.current(), { revision: revision.revision, digest, audience });
    return ok(revision);
  }

  #putIntoForce(current: TableRevision, canary: RunningCanary | undefined): void {
    const state: ControlPlaneState = this.#rows.state();
    const change = state.change + 1;
    const { revision, digest, time } = current;
    const pointer: Pointer = { revision, digest, publishedAt: time, change, canary };
    const publication = startPublication(pointer, state.publication, this.#clock.nowMs());
    this.#rows.save({ ...state, change, canary, publication });
  }

  #publishBundled(): void {
    const { revision, bytes } = this.#bundled;
    const number = this.#nextNumber();
    this.#rows.add({ ...revision, revision: number, time: this.#time(), kind: "publish", basedOn: 0 }, bytes);
    this.#note("publish", revision, { revision: number });
  }

  #nextNumber(): number {
    return Math.max(this.#rows.head(), this.#rows.state().foreign) + 1;
  }

  #note(
    action: AuditEntry["action"],
    { author, note }: Pick<ChangeRequest, "author" | "note">,
    what: Partial<Pick<AuditEntry, "revision" | "outcome" | "audience" | "pack">>,
  ): void {
    const { revision, outcome = "done", audience, pack } = what;
    this.#rows.note({ time: this.#time(), author, action, revision, outcome, note, audience, pack });
  }

  #time(): string {
    return new Date(this.#clock.nowMs()).toISOString();
  }
}

/** A pointer is anybody's who writes to KV, and so is what it calls a time. */
function isoTime(text = ""): string | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** Revision 0: the table that was deployed with the code, as text. */
export async function bundledRevision(bundled: unknown): Promise<RevisionContent> {
  const bytes = new TextEncoder().encode(`${JSON.stringify(bundled, null, 2)}\n`);
  const revision: TableRevision = {
    ...{ revision: 0, digest: await sha256(bytes), bytes: bytes.byteLength, author: "deployment" },
    ...{ time: undefined, note: "The table of the build.", kind: "bundled", basedOn: undefined },
  };
  return { revision, bytes };
}
