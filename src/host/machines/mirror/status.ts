import { type EdgeReport, MIRROR_STATUS_KEY, pointerTag } from "../../../formats/machines.ts";
import type { MirrorFolder } from "./folder.ts";
import type { Faults } from "./lines.ts";
import type { StateNodes } from "./nodes.ts";
import type { MirrorClock } from "./platform.ts";
import type { MirroredTables } from "./tables.ts";

/** The edge as the state nodes show it. `version`: of Waybill. */
export type EdgeName = Pick<EdgeReport, "name" | "version" | "run" | "processes">;

export interface MirrorState {
  /** The folder's table; `undefined` without one. */
  readonly revision: number | undefined;
  readonly change: number | undefined;
  /** Since a state node said that the folder is current, also over restarts; `undefined`: none ever did. */
  readonly ageMs: number | undefined;
  /** The one that said so. */
  readonly node: string | undefined;
  readonly lastError: string | undefined;
}

export interface StatusOptions {
  readonly folder: MirrorFolder;
  readonly clock: MirrorClock;
  readonly edge: EdgeName;
  readonly tables: MirroredTables;
  readonly faults: Faults;
  readonly nodes: Pick<StateNodes, "names" | "silent">;
}

/** How current the folder is. */
export class MirrorStatus {
  readonly #options: StatusOptions;
  readonly #beganAtMs: number;
  /** Since this start. */
  isConfirmed = false;
  #confirmedAtMs: number | undefined;
  #node: string | undefined;
  #etag: string | undefined;
  #written: string | undefined;

  constructor(options: StatusOptions) {
    this.#options = options;
    this.#beganAtMs = options.clock.nowMs();
  }

  /** An edge that starts cut off is as old as it was. */
  async open(): Promise<void> {
    const bytes = await this.#options.folder.read(MIRROR_STATUS_KEY);
    const text = bytes && Buffer.from(bytes).toString("utf8");
    const confirmedAt = /"confirmedAt":"([^"]{1,40})"/.exec(text ?? "")?.[1];
    const atMs = Date.parse(confirmedAt ?? "");
    if (!Number.isNaN(atMs)) this.#confirmedAtMs = Math.min(atMs, this.#options.clock.nowMs());
  }

  /** Whether it is news: the first of this start, or of another table. */
  confirmed(node: string): boolean {
    const { held } = this.#options.tables;
    const etag = held && pointerTag(held);
    const isNews = !this.isConfirmed || etag !== this.#etag;
    this.isConfirmed = true;
    this.#etag = etag;
    this.#confirmedAtMs = this.#options.clock.nowMs();
    this.#node = node;
    return isNews;
  }

  state(): MirrorState {
    const { tables, clock, faults } = this.#options;
    const ageMs = this.#confirmedAtMs === undefined ? undefined : Math.max(0, clock.nowMs() - this.#confirmedAtMs);
    const { revision, change } = tables.held ?? {};
    return { revision, change, ageMs, node: this.#node, lastError: faults.last };
  }

  /** An edge that was never confirmed is as old as its start. */
  edgeReport(): EdgeReport {
    const { edge, clock } = this.#options;
    const { name, version, run, processes } = edge;
    const { revision = 0, change = 0, ageMs = Math.max(0, clock.nowMs() - this.#beganAtMs) } = this.state();
    const { silent } = this.#options.nodes;
    return { name, revision, change, version, run, processes, ageMs: Math.round(ageMs), silent };
  }

  /** If it differs from what is there. */
  async write(): Promise<void> {
    const { folder, edge, nodes } = this.#options;
    const { revision, change, node, lastError } = this.state();
    const confirmedAt = this.#confirmedAtMs === undefined ? undefined : new Date(this.#confirmedAtMs).toISOString();
    const { names, silent } = nodes;
    const known = { edge: edge.name, revision, change, confirmedAt, node, lastError };
    const text = JSON.stringify({ ...known, nodes: names, silent });
    if (text === this.#written) return;
    await folder.note(MIRROR_STATUS_KEY, text);
    this.#written = text;
  }
}
