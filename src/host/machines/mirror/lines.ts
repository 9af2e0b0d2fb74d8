/** Lines of the log. A failure is told once, until it ends or another takes its place. */
export type MirrorLine =
  | {
      readonly event: "mirror-current";
      readonly revision: number;
      readonly change: number;
      readonly node: string;
      readonly ms: number;
      readonly fetched: number;
      readonly fetchedBytes: number;
    }
  | { readonly event: "mirror-copy"; readonly directory: string; readonly sha256: string | undefined }
  | { readonly event: "mirror-deleted"; readonly keys: number }
  /** `source`: a state node, `table`, `folder`, or `copy` and the name of a directory. */
  | { readonly event: "mirror-failed"; readonly source: string; readonly why: string }
  | { readonly event: "mirror-recovered"; readonly source: string };

export type ReportLine = (line: MirrorLine) => void;

/** The failures that last, by source. */
export class Faults {
  readonly #whys = new Map<string, string>();
  readonly #report: ReportLine;

  constructor(report: ReportLine) {
    this.#report = report;
  }

  /** The latest that has not ended. */
  get last(): string | undefined {
    return [...this.#whys].map(([source, why]) => `${source}: ${why}`).at(-1);
  }

  failed(source: string, why: string): void {
    const isTold = this.#whys.get(source) === why;
    this.#whys.delete(source);
    this.#whys.set(source, why);
    if (!isTold) this.#report({ event: "mirror-failed", source, why });
  }

  ended(source: string): void {
    if (this.#whys.delete(source)) this.#report({ event: "mirror-recovered", source });
  }
}
