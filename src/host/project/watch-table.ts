import { unwatchFile, watchFile } from "node:fs";
import type { RunningGateway } from "../workerd/gateway.ts";
import type { editPublisher } from "./publish-edit.ts";

export interface WatchedTable {
  readonly tableFile: string;
  /** The file's text to serve. Rejects with its faults. */
  readonly readTable: () => Promise<string>;
  readonly edits: ReturnType<typeof editPublisher>;
  /** The one that runs; `undefined` between two starts. */
  readonly gateway: () => RunningGateway | undefined;
  readonly onLine: (line: string) => void;
  /** Called with each text that is in force. */
  readonly onText: (text: string) => void;
}

const TABLE_POLL_MS = 100;

/** Publishes a table file whenever it is saved. A faulty one is not published, and its faults are printed. */
export function watchTable({ tableFile, readTable, edits, gateway, onLine, onText }: WatchedTable) {
  // In sequence: an earlier publish must not overwrite a later one.
  let last = Promise.resolve();
  let isStopping = false;
  let isRefused = false;
  const next = (work: () => Promise<void>, failed: string): void => {
    last = last.then(work).catch((error) => onLine(`${error instanceof Error ? error.message : error}\n${failed}`));
  };
  const publish = async (): Promise<void> => {
    const startMs = performance.now();
    const wasRefused = isRefused;
    isRefused = true;
    const text = await readTable();
    const running = gateway();
    const made = running && (await edits.publish(running, text, tableFile));
    isRefused = false;
    onText(text);
    if (made === undefined) {
      if (wasRefused) onLine("the file has no faults any more: it is the table in force");
      return;
    }
    const seconds = ((performance.now() - startMs) / 1000).toFixed(2);
    const state = made.isInForce ? "in force" : "not yet in force";
    onLine(`the table is published: revision ${made.revision}, ${state} after ${seconds} s`);
    const words = await made.diff();
    // Ctrl-C stops the command that compares, too.
    if (!isStopping) onLine(words);
  };
  watchFile(tableFile, { interval: TABLE_POLL_MS }, (now, before) => {
    if (now.mtimeMs !== before.mtimeMs) next(publish, "the table is not published; the previous one stays");
  });
  return {
    /** Does other work between two publications. */
    next,
    async stop(): Promise<void> {
      isStopping = true;
      unwatchFile(tableFile);
      await last;
    },
  };
}
