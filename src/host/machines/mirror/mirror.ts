import { type AskNode, httpsAsk } from "./ask.ts";
import { MirroredCopies } from "./copies.ts";
import { MirrorFolder } from "./folder.ts";
import { Faults, type ReportLine } from "./lines.ts";
import { lockFolder } from "./lock.ts";
import { StateNodes, whyOf } from "./nodes.ts";
import { type Disk, type MirrorClock, nodeDisk, systemClock } from "./platform.ts";
import { type EdgeName, type MirrorState, MirrorStatus } from "./status.ts";
import { MirroredTables, type TablesOptions } from "./tables.ts";
import { deleteUnreferenced } from "./unreferenced.ts";
import { type WatchOptions, watchNode } from "./watch.ts";

export interface MirrorOptions {
  /** Addresses of state nodes, `host:port`; IPv6 in brackets. */
  readonly nodes: readonly string[];
  /** Folder with `ca.pem`, `cert.pem` and `key.pem`. */
  readonly tls: string;
  /** The folder that workerd reads as KV. No other process may write it. */
  readonly kvFolder: string;
  readonly edge: EdgeName;
  /** The build's, by `codeVersionOf`: its Worker reads stored forms of this version. */
  readonly codeVersion: string | undefined;
  readonly report: ReportLine;
  /** The folder has another table. The edge is reported with it when this has ended, which must be soon. Never rejects. */
  readonly onTable?: (revision: number) => Promise<void>;
  readonly clock?: MirrorClock;
  readonly disk?: Disk;
  readonly ask?: AskNode;
  readonly lock?: typeof lockFolder;
}

export interface Mirror {
  /**
   * `kept`: the folder has a table of before, which is served at once. `mirrored`: it had none, and has one now. `none`: it has
   * none after 5 s; the Worker serves the bundled one.
   */
  readonly first: Promise<"mirrored" | "kept" | "none">;
  status(): MirrorState;
  stop(): Promise<void>;
}

/** Longest wait of an edge without a table for its first one. */
const FIRST_MS = 5_000;

/** An edge with a table waits no longer than this until its values are verified. */
const KEPT_MS = 100;

/** Between two looks at the directories' copies. */
const UPKEEP_MS = 10_000;

/** Between two looks at the files of the folder, or for forms that were missing. */
const TIDY_MS = 600_000;

/** Copies what is published into the folder from which an edge routes. Rejects if another mirror has the folder. */
export async function startMirror(options: MirrorOptions): Promise<Mirror> {
  const { kvFolder, clock = systemClock, disk = nodeDisk, lock = lockFolder } = options;
  const folder = new MirrorFolder(kvFolder, disk);
  await folder.make();
  const release = await lock(folder.own, kvFolder);
  try {
    await folder.clear();
    const run = new MirrorRun(options, folder, clock);
    await run.open();
    run.start();
    return {
      first: run.first,
      status: () => run.status.state(),
      async stop() {
        await run.stop();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

class MirrorRun {
  readonly first: Promise<"mirrored" | "kept" | "none">;
  readonly status: MirrorStatus;
  readonly #options: MirrorOptions;
  readonly #folder: MirrorFolder;
  readonly #clock: MirrorClock;
  readonly #stop = new AbortController();
  readonly #faults: Faults;
  readonly #nodes: StateNodes;
  readonly #ask: ReturnType<typeof httpsAsk>;
  readonly #tables: MirroredTables;
  readonly #copies: MirroredCopies;
  #isVerified = false;
  #settle: (first: "mirrored" | "kept" | "none") => void = () => undefined;
  #works: readonly Promise<void>[] = [];
  #served = Promise.resolve();
  /** Ends the pause of the upkeep. */
  #wake = new AbortController();
  #tidyDueMs = 0;
  #formsDueMs = 0;

  constructor(options: MirrorOptions, folder: MirrorFolder, clock: MirrorClock) {
    const { ask, tls, nodes: names, codeVersion, report } = options;
    this.#options = options;
    this.#folder = folder;
    this.#clock = clock;
    this.#ask = ask === undefined ? httpsAsk(tls) : { ask, close: () => undefined };
    this.#faults = new Faults(report);
    this.#nodes = new StateNodes(names, this.#ask.ask, clock);
    const stopped = this.#stop.signal;
    const shared: TablesOptions = {
      folder,
      nodes: this.#nodes,
      clock,
      stopped,
      codeVersion,
      report,
      faults: this.#faults,
    };
    this.#tables = new MirroredTables(shared);
    this.#copies = new MirroredCopies(shared);
    this.status = new MirrorStatus({
      folder,
      clock,
      edge: options.edge,
      tables: this.#tables,
      faults: this.#faults,
      nodes: this.#nodes,
    });
    this.first = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  async open(): Promise<void> {
    await this.status.open();
    await this.#tables.open();
  }

  start(): void {
    const { signal: stopped } = this.#stop;
    const confirmed = (node: string): void => {
      if (!this.status.confirmed(node)) return;
      this.#wake.abort();
      const { held } = this.#tables;
      if (held !== undefined) this.#served = this.#options.onTable?.(held.revision) ?? this.#served;
    };
    const watch: WatchOptions = {
      ask: this.#ask.ask,
      nodes: this.#nodes,
      tables: this.#tables,
      clock: this.#clock,
      faults: this.#faults,
      stopped,
      edgeReport: () => this.status.edgeReport(),
      confirmed,
      served: () => this.#served,
    };
    this.#works = [this.#verifyAndWatch(watch), this.#upkeep(), this.#settleLate()];
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("the mirror is stopped"));
    this.#wake.abort();
    await Promise.all(this.#works);
    await this.status.write();
    this.#ask.close();
  }

  async #verifyAndWatch(watch: WatchOptions): Promise<void> {
    await this.#tables.verify();
    this.#isVerified = true;
    if (this.#tables.isWhole) this.#settle("kept");
    await Promise.all(this.#options.nodes.map((node) => watchNode(node, watch)));
  }

  async #settleLate(): Promise<void> {
    const { signal: stopped } = this.#stop;
    if (this.#tables.held !== undefined) {
      await this.#clock.pause(KEPT_MS, stopped);
      // The Worker verifies what it reads too.
      if (!this.#isVerified) this.#settle("kept");
    }
    await this.#clock.pause(FIRST_MS, stopped);
    const isKept = this.status.isConfirmed ? "mirrored" : "kept";
    this.#settle(this.#tables.isWhole ? isKept : "none");
  }

  async #upkeep(): Promise<void> {
    const { signal: stopped } = this.#stop;
    while (!stopped.aborted) {
      this.#wake = new AbortController();
      const { isConfirmed } = this.status;
      await this.#keepUp(isConfirmed);
      if (isConfirmed && this.#tables.isWhole) this.#settle("mirrored");
      if (!stopped.aborted) await this.#clock.pause(UPKEEP_MS, this.#wake.signal);
    }
  }

  /** Never throws. */
  async #keepUp(isConfirmed: boolean): Promise<void> {
    const { signal: stopped } = this.#stop;
    try {
      const { gathered } = this.#tables;
      await this.status.write();
      if (isConfirmed && gathered !== undefined) await this.#copies.renew(gathered.directories);
      const isDue = gathered !== undefined && this.#clock.nowMs() >= this.#tidyDueMs;
      if (isDue && !stopped.aborted && (await this.#tables.whileNoneRuns(() => this.#tidy()))) {
        this.#tidyDueMs = this.#clock.nowMs() + TIDY_MS;
      }
      if (isConfirmed && this.#clock.nowMs() >= this.#formsDueMs) {
        this.#formsDueMs = this.#clock.nowMs() + TIDY_MS;
        await this.#tables.bringForms();
      }
      this.#faults.ended("folder");
    } catch (error) {
      if (!stopped.aborted) this.#faults.failed("folder", whyOf(error));
    }
  }

  /** Finds values that were removed from outside, and deletes those that nothing needs any more. */
  async #tidy(): Promise<void> {
    if (await this.#folder.forgetLost()) {
      this.#copies.forget();
      await this.#tables.verify();
    }
    const { held, gathered } = this.#tables;
    if (held === undefined || gathered === undefined) return;
    const { directories, packs } = gathered;
    const inForce = {
      tables: held.digests,
      packs: packs.map(({ sha256 }) => sha256),
      copies: await this.#copies.inForce(directories),
      directories,
    };
    const deleted = await deleteUnreferenced(this.#folder, inForce, this.#clock.nowMs());
    if (deleted.length > 0) this.#options.report({ event: "mirror-deleted", keys: deleted.length });
  }
}
