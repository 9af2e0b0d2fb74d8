import type { Pointer } from "../../../formats/kv.ts";
import { err, ok, type Result } from "../../../ids/index.ts";
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

/** Exports and reloads for each change of what is published. It ends with the process. */
export async function watchPublished(watch: Watch, runtime: Runtime): Promise<never> {
  const { engine } = watch;
  let inForce: Pointer | undefined;
  let failure: { readonly of: string; readonly why: string; readonly againAtMs: number } | undefined;
  for (;;) {
    const pointer = readPointer(watch.state, runtime);
    const of = pointer.ok ? nameOf(pointer.value) : "";
    const isDue = failure === undefined || failure.of !== of || runtime.nowMs() >= failure.againAtMs;
    if (isDue && (!pointer.ok || inForce === undefined || nameOf(inForce) !== of)) {
      const startMs = runtime.nowMs();
      const done = pointer.ok ? await applied(watch, pointer.value, runtime) : pointer;
      if (done.ok && pointer.ok) {
        inForce = pointer.value;
        failure = undefined;
        runtime.report(`${engine} routes by ${wordsOf(inForce)}, ${runtime.nowMs() - startMs} ms after it was seen\n`);
      } else if (!done.ok) {
        // The same words again and again would hide the first.
        if (failure?.why !== done.error) {
          const kept = inForce === undefined ? "" : ` ${engine} keeps ${wordsOf(inForce)}.`;
          runtime.report(`error: ${escapeControls(done.error)}${kept} It is tried again every ${AGAIN_MS / 1000} s.\n`);
        }
        failure = { of, why: done.error, againAtMs: runtime.nowMs() + AGAIN_MS };
      }
    }
    await runtime.pause(LOOK_MS);
  }
}

/** A canary changes without a new revision. */
const nameOf = ({ revision, change, digest, canary }: Pointer): string =>
  JSON.stringify([revision, change, digest, canary?.revision, canary?.audience]);

const wordsOf = (pointer: Pointer): string => {
  const left = leftBy(pointer);
  return `revision ${pointer.revision}${left === undefined ? "" : `, and leaves all to Waybill while ${left}`}`;
};

async function applied(watch: Watch, pointer: Pointer, runtime: Runtime): Promise<Result<undefined, string>> {
  const table = readPublished(watch.state, pointer, runtime);
  if (!table.ok) return table;
  const settings = { ...watch.settings, left: leftBy(pointer) };
  const written = await writeExport(table.value, { ...watch, settings });
  if (!written.ok) return written;
  const reloaded = await watch.reload();
  return reloaded.ok
    ? ok(undefined)
    : err(`revision ${pointer.revision} is written, but not in force: ${reloaded.error}`);
}
