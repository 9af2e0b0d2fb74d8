import type { LogEvent } from "../log-lines.ts";
import type { ModuleFile } from "../workerd/modules.ts";
import type { TlsTexts } from "../workerd/tls-text.ts";
import type { Clock } from "./supervise.ts";

/** A role runs it: a build, its settings, and the files of this machine. */
export interface Machine {
  readonly worker: readonly ModuleFile[];
  /** Settings of the environment. */
  readonly vars: Readonly<Record<string, string>>;
  /** The table of the build, and the folder of its packs. */
  readonly tableText: string;
  readonly packsFolder: string;
  readonly consoleFolder: string | undefined;
  readonly openPages: boolean;
  /** For each start of workerd: those on the disk, or the last ones where these cannot be used. */
  readonly tls: () => TlsTexts;
  readonly clusterKey?: string | undefined;
  readonly clock: Clock;
  /** `process`: its number, where there are several. */
  readonly onLogLine: (line: string, process?: number) => void;
  /** A line of the log by this process, not by the Worker. */
  readonly onEvent: (event: LogEvent) => void;
  /** Sentences for operators, while it runs. */
  readonly report: (sentence: string) => void;
}
