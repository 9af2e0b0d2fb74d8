import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { START_FILE, type StartFile, TABLE_FILE } from "../../formats/start-table.ts";
import { parseJson } from "../../routing/index.ts";
import type { PackFile } from "../publish/publish.ts";

/** A table that a start hands over to the gateway, which publishes it before it decides a request. */
export interface HandedTable {
  /** The declared table as JSON. */
  readonly text: string;
  readonly packs: readonly PackFile[];
  readonly isFirst: boolean;
  /** Names the start. Default: a new name. */
  readonly id?: string | undefined;
}

/** In the state folder, for as long as the start takes. */
export const START_FOLDER = "start";

/** Writes the folder that the start binds. */
export function writeStartFolder(folder: string, { text, packs, isFirst, id = randomUUID() }: HandedTable): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const start: StartFile = { id, isFirst };
  writeFileSync(join(folder, START_FILE), JSON.stringify(start));
  writeFileSync(join(folder, TABLE_FILE), text);
  for (const { parts } of packs) for (const { key, bytes } of parts) writeFileSync(join(folder, key), bytes);
}

const START_DEADLINE_MS = 120_000;

/** The page that the gateway answers once it has a table. */
export const READY_PATH = "/-/ready";

/** The lines of a gateway, without that of the request by which a start waits for it, and with the reason of a failed one. */
export function startLines(show: (line: string) => void = () => undefined) {
  let failure: string | undefined;
  let isAwaited = true;
  return {
    onLine(line: string): void {
      if (isAwaited && line.includes(`"path":"${READY_PATH}"`)) {
        isAwaited = false;
        return;
      }
      if (line.includes('"event":"start-failed"')) failure ??= reasonOf(line);
      show(line);
    },
    failure: () => failure,
  };
}

/** The event has the error of the control plane. */
function reasonOf(line: string): string {
  const { reason, why, faults } = (parseJson(line) ?? {}) as StartFailure;
  return [reason, why, ...(faults ?? []).map(({ pointer, message }) => `${pointer}: ${message}`)].join("\n  ");
}

interface StartFailure {
  readonly reason?: string;
  readonly why?: string;
  readonly faults?: readonly { readonly pointer: string; readonly message: string }[];
}

/** Waits until the gateway has published the table, or could not; gives the status of its answer. `host`: as it listens. */
export async function untilStarted(host: string, port: number): Promise<number> {
  const own = host === "0.0.0.0" ? "127.0.0.1" : host === "[::]" ? "[::1]" : host;
  const response = await fetch(`http://${own}:${port}${READY_PATH}`, {
    signal: AbortSignal.timeout(START_DEADLINE_MS),
    redirect: "manual",
  });
  // A connection that is cut cancels what the request does behind its answer, such as the first report of the metrics.
  await response.arrayBuffer();
  return response.status;
}
