import type { Pointer } from "../../../formats/kv.ts";
import { err, ok, type Result } from "../../../ids/index.ts";
import type { DeclaredTable } from "../../../routing/schema/table.ts";
import { escapeControls } from "../../lib/output.ts";
import type { Runtime } from "../../runtime.ts";
import { leftBy, readPointer, readPublished } from "./published.ts";
import { type ExportTo, writeExport } from "./write.ts";

/** Between two looks at the pointer, a file of some hundred bytes. */
const LOOK_MS = 250;

/** After a failure, whose cause may be outside of the table: a name that no resolver has, or an engine that does not run yet. */
const AGAIN_MS = 5_000;

export interface Watch extends ExportTo {
  /** Folder of a gateway's or an edge's state. */
  readonly state: string;
  /** Has the engine read the new files. */
  readonly reload: () => Promise<Result<undefined, string>>;
}

interface Failure {
  /** The publication. */
  readonly of: string;
  readonly why: string;
  /** Whether Waybill decides all requests meanwhile. */
  readonly isLeft: boolean;
  readonly againAtMs: number;
}

/** Exports and reloads for each change of what is published. It ends with the process. */
export async function watchPublished(watch: Watch, runtime: Runtime): Promise<never> {
  const watcher = new Watcher(watch, runtime);
  for (;;) {
    await watcher.look();
    await runtime.pause(LOOK_MS);
  }
}

class Watcher {
  readonly #watch: Watch;
  readonly #runtime: Runtime;
  #inForce: Pointer | undefined;
  #failure: Failure | undefined;

  constructor(watch: Watch, runtime: Runtime) {
    this.#watch = watch;
    this.#runtime = runtime;
  }

  async look(): Promise<void> {
    const runtime = this.#runtime;
    const pointer = readPointer(this.#watch.state, runtime);
    const of = pointer.ok ? nameOf(pointer.value) : "";
    if (!this.#isDue(of)) return;
    if (!pointer.ok) return this.#fail(of, pointer.error, this.#failure?.isLeft === true);
    const startMs = runtime.nowMs();
    const done = await applied(this.#watch, pointer.value, runtime);
    if (!done.ok) {
      const { why, isOfTable } = done.error;
      // By the former table an entity may be in another region than it is.
      const isLeft = this.#failure?.isLeft === true || (isOfTable && (await leaveAll(this.#watch, pointer.value)));
      return this.#fail(of, why, isLeft);
    }
    this.#inForce = pointer.value;
    this.#failure = undefined;
    const afterMs = runtime.nowMs() - startMs;
    const words = `${this.#watch.engine} routes by ${wordsOf(pointer.value)}`;
    runtime.report(`${words}, ${afterMs} ms after it was seen${done.value}\n`);
  }

  #isDue(of: string): boolean {
    const failure = this.#failure;
    if (failure !== undefined && failure.of === of) return this.#runtime.nowMs() >= failure.againAtMs;
    return this.#inForce === undefined || nameOf(this.#inForce) !== of;
  }

  #fail(of: string, why: string, isLeft: boolean): void {
    if (isLeft) this.#inForce = undefined;
    // The same words again and again would hide the first.
    if (this.#failure?.why !== why || this.#failure.isLeft !== isLeft) this.#report(why, isLeft);
    this.#failure = { of, why, isLeft, againAtMs: this.#runtime.nowMs() + AGAIN_MS };
  }

  #report(why: string, isLeft: boolean): void {
    const { engine } = this.#watch;
    const kept = this.#inForce === undefined ? "" : ` ${engine} keeps ${wordsOf(this.#inForce)}.`;
    const now = isLeft ? ` ${engine} leaves all to Waybill.` : kept;
    this.#runtime.report(`error: ${escapeControls(why)}${now} It is tried again every ${AGAIN_MS / 1000} s.\n`);
  }
}

/** A canary changes without a new revision. */
const nameOf = ({ revision, change, digest, canary }: Pointer): string =>
  JSON.stringify([revision, change, digest, canary?.revision, canary?.audience]);

const wordsOf = (pointer: Pointer): string => {
  const left = leftBy(pointer);
  return `revision ${pointer.revision}${left === undefined ? "" : `, and leaves all to Waybill while ${left}`}`;
};

/** `isOfTable`: the table could not be written as this engine's configuration. */
type Applied = Result<string, Readonly<{ why: string; isOfTable: boolean }>>;

/** A note for the operator, or why the engine does not route by the table. */
async function applied(watch: Watch, pointer: Pointer, runtime: Runtime): Promise<Applied> {
  const { engine, state, reload } = watch;
  const table = readPublished(state, pointer, runtime);
  const settings = { ...watch.settings, left: leftBy(pointer) };
  const written = table.ok ? await writeExport(table.value, { ...watch, settings }) : table;
  if (!written.ok) return err({ why: written.error, isOfTable: true });
  const reloaded = await reload();
  if (!reloaded.ok) {
    const why = `revision ${pointer.revision} is written, but not in force: ${reloaded.error}`;
    return err({ why, isOfTable: false });
  }
  const isUnchecked = written.value.replaced === "not-installed";
  return ok(isUnchecked ? `; ${engine} is not installed here, so it was not checked` : "");
}

/** Names no origin: whatever is wrong with the table in force cannot be wrong here. */
const NO_TABLE: DeclaredTable = {
  regions: { none: { origins: [{ url: "https://none.invalid" }] } },
  entities: { none: { path: "/none/:id", ids: [{ layout: "uuid-v4" }] } },
  routes: [],
  default: "none",
};

/** Whether the engine now leaves all requests to Waybill. */
async function leaveAll(watch: Watch, { revision }: Pointer): Promise<boolean> {
  const settings = { ...watch.settings, left: `revision ${revision} cannot be exported` };
  const written = await writeExport(NO_TABLE, { ...watch, settings });
  return written.ok && (await watch.reload()).ok;
}
