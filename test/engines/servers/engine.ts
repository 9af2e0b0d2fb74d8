import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** A database engine that a test has started for itself. */
export interface Engine {
  /** Its name with its version. */
  readonly title: string;
  /** Runs statements; throws the engine's own error. */
  readonly run: (sql: string) => Promise<unknown>;
  /** The first column of the rows as text. */
  readonly list: (sql: string) => Promise<readonly string[]>;
  readonly close: () => Promise<unknown> | undefined;
}

/** The first of these commands on PATH. */
export const commandOf = (...names: readonly string[]): string | undefined =>
  names
    .flatMap((name) =>
      [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"].map((folder) => join(folder, name)),
    )
    .find((path) => existsSync(path));

const START_DEADLINE_MS = 30_000;
const POLL_MS = 50;

/** Connects as soon as a process that has just been started takes connections. */
export const connectWhenUp = async <Connection>(connect: () => Promise<Connection>): Promise<Connection> => {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    try {
      return await connect();
    } catch (error) {
      if (waitedMs >= START_DEADLINE_MS) throw error;
      await delay(POLL_MS);
    }
  }
};
