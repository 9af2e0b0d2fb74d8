import { POINTER_KEY } from "../../../formats/kv.ts";
import type { MirrorFolder } from "./folder.ts";
import { type Gathered, gatherTables } from "./gather.ts";
import type { Faults, ReportLine } from "./lines.ts";
import { type StateNodes, whyOf } from "./nodes.ts";
import { formPart } from "./parts.ts";
import type { MirrorClock } from "./platform.ts";
import { orderOf, type Publication, readPublication } from "./references.ts";
import { Supply } from "./supply.ts";

export interface TablesOptions {
  readonly folder: MirrorFolder;
  readonly nodes: StateNodes;
  readonly clock: MirrorClock;
  readonly stopped: AbortSignal;
  readonly codeVersion: string | undefined;
  readonly report: ReportLine;
  readonly faults: Faults;
}

const SOURCE = "table";

/** The tables of the folder: those in force, and their renewal. The pointer is written when all that it leads to is there. */
export class MirroredTables {
  readonly #options: TablesOptions;
  /** As the folder has it. */
  held: Publication | undefined;
  gathered: Gathered | undefined;
  #next: { readonly publication: Publication; readonly node: string } | undefined;
  #running: Promise<void> | undefined;
  #undisturbed: Promise<void> = Promise.resolve();

  constructor(options: TablesOptions) {
    this.#options = options;
  }

  /** Whether every value to which the pointer leads is there and sound. */
  get isWhole(): boolean {
    return this.gathered !== undefined;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Reads what a former mirror left. */
  async open(): Promise<void> {
    const { folder, faults } = this.#options;
    const bytes = await folder.read(POINTER_KEY);
    if (bytes === undefined) return;
    const read = readPublication(bytes);
    if (!read.ok) return faults.failed(SOURCE, `the ${POINTER_KEY} of this edge cannot be read: ${read.error}`);
    this.held = read.value;
  }

  /** Reads every value again that is not known to be sound. */
  async verify(): Promise<void> {
    const { folder, stopped, codeVersion, faults } = this.#options;
    if (this.held === undefined) return;
    try {
      this.gathered = await gatherTables(this.held, new Supply(folder, undefined, stopped), codeVersion);
    } catch (error) {
      this.gathered = undefined;
      faults.failed(SOURCE, `the table of this edge is not whole: ${whyOf(error)}`);
    }
  }

  /** Ends when the folder has this publication or a newer one. A publication that was overtaken is left. Throws why it failed. */
  take(publication: Publication, node: string): Promise<void> {
    if (this.#next === undefined || orderOf(publication, this.#next.publication) === "newer") {
      this.#next = { publication, node };
    }
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Whether the work could be done: no table is renewed meanwhile. */
  async whileNoneRuns(work: () => Promise<void>): Promise<boolean> {
    if (this.#running !== undefined) return false;
    const undisturbed = work();
    this.#undisturbed = undisturbed.catch(() => undefined);
    await undisturbed;
    return true;
  }

  async #run(): Promise<void> {
    await this.#undisturbed;
    for (let next = this.#next; next !== undefined; next = this.#next) {
      this.#next = undefined;
      try {
        await this.#renew(next.publication, next.node);
        this.#options.faults.ended(SOURCE);
      } catch (error) {
        if (this.#next === undefined) {
          this.#options.faults.failed(SOURCE, whyOf(error));
          throw error;
        }
      }
    }
  }

  async #renew(publication: Publication, node: string): Promise<void> {
    const { folder, nodes, clock, stopped, codeVersion, report } = this.#options;
    const order = orderOf(publication, this.held);
    if (order !== "newer" && (order !== "same" || this.isWhole)) return;
    const beganAtMs = clock.nowMs();
    const supply = new Supply(folder, nodes, stopped);
    const gathered = await gatherTables(publication, supply, codeVersion);
    stopped.throwIfAborted();
    if (order === "newer") await folder.point(POINTER_KEY, Buffer.from(publication.text));
    this.held = publication;
    this.gathered = gathered;
    const { revision, change } = publication;
    const { fetched, fetchedBytes } = supply;
    report({ event: "mirror-current", revision, change, node, ms: clock.nowMs() - beganAtMs, fetched, fetchedBytes });
  }

  /** The control plane may write a form later than its table: isolates that start then need not check the table. */
  async bringForms(): Promise<void> {
    const { folder, nodes, stopped, codeVersion } = this.#options;
    const { gathered } = this;
    if (gathered === undefined || codeVersion === undefined) return;
    const supply = new Supply(folder, nodes, stopped);
    const withoutForm: string[] = [];
    for (const digest of gathered.withoutForm) {
      if (!(await supply.bringIfThere(formPart(digest, codeVersion)))) withoutForm.push(digest);
    }
    if (this.gathered === gathered) this.gathered = { ...gathered, withoutForm };
  }
}

/** Why a pointer is not taken, and the remedy. */
export function refusalOf(order: "older" | "conflict", theirs: Publication, own: Publication): string {
  const numbers = ({ revision, change }: Publication) => `revision ${revision}, change ${change}`;
  const differs =
    order === "older"
      ? `has ${numbers(theirs)}, which is older than ${numbers(own)} of this edge`
      : `has other tables than this edge under the same numbers (${numbers(own)})`;
  const remedy =
    "This edge keeps its table. If the state was restored or imported anew, stop the edge, empty its --state folder, and start it again.";
  return `it ${differs}. ${remedy}`;
}
