import { unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";
import { packsFolderOf } from "../host/publish/packs.ts";
import { startGateway } from "../host/workerd/gateway.ts";
import { isOpen, settingsOfOperator } from "./operator-settings.ts";
import { startReloading } from "./reload.ts";

export interface FrontOptions {
  readonly port: number;
  /** What the gateway keeps between runs, a folder for each port. */
  readonly stateFolder: string;
  /** `wrangler dev` with reload, instead of bare workerd. */
  readonly reload: boolean;
  readonly onLogLine: (line: string) => void;
}

export interface Front {
  readonly url: string;
  /** What this gateway keeps: `<stateFolder>/<port>`. */
  readonly folder: string;
  /** Resolves with the gateway's exit code when it has ended, whoever ended it. */
  readonly exited: Promise<number>;
  stop(): Promise<void>;
}

/** The file that a table comes from. */
export interface WatchedTable {
  readonly path: string;
  /** The text to serve of the file as it is now. Throws with its faults, in sentences, while it cannot be served. */
  readonly read: () => Promise<string>;
}

/** How often the table's file is looked at. */
const TABLE_POLL_MS = 500;

/** Starts the gateway; with reload, each good table that its file comes to hold is put into force. */
export async function startFront(options: FrontOptions, tableText: string, watched: WatchedTable): Promise<Front> {
  const { port, onLogLine } = options;
  const folder = join(options.stateFolder, String(port));
  const packsFolder = packsFolderOf(watched.path);
  const gatewayOptions = { port, tableText, packsFolder, onLogLine, stateFolder: folder };
  const vars = settingsOfOperator(process.env);
  const openPages = isOpen(process.env);
  if (!options.reload) return { ...(await startGateway({ ...gatewayOptions, vars, openPages })), folder };
  const gateway = await startReloading({ ...gatewayOptions, vars, openPages });
  // The source is watched by wrangler; the table is in KV, so its file is watched here.
  const republish = async () => {
    try {
      await gateway.publish(await watched.read());
      onLogLine("the table is published again");
    } catch (error) {
      onLogLine(error instanceof Error ? error.message : String(error));
      onLogLine("the table is not published; the one before stays");
    }
  };
  // One after the other: a slower one must not undo a later one.
  let last = Promise.resolve();
  watchFile(watched.path, { interval: TABLE_POLL_MS }, (now, before) => {
    if (now.mtimeMs !== before.mtimeMs) last = last.then(republish);
  });
  const stop = async () => {
    unwatchFile(watched.path);
    await gateway.stop();
  };
  return { ...gateway, folder, stop };
}
