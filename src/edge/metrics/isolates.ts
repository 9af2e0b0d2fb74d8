import { waitUntil } from "cloudflare:workers";
import type { IsolateTables } from "../../formats/console-api.ts";
import type { Clock, Entropy, Tables } from "../../ports/gateway.ts";
import { setLast } from "../platform.ts";

/** The table of an isolate, as its report has it; absent before the first table, and from former versions. */
export interface ReportedTable {
  /** Random, made when the isolate began. */
  readonly isolate: string;
  readonly revision: number;
  readonly canary: number | undefined;
  /** Since it was confirmed to be the published one. */
  readonly ageMs: number;
  /** Between its reports. */
  readonly everyMs: number;
}

/** `tablesOf`: there is a table before there is a report. */
export function tableReporter(entropy: Entropy, clock: Clock, everyMs: number, tablesOf: () => Tables) {
  const isolate = entropy.word().toString(16).padStart(8, "0");
  return (): ReportedTable | undefined => {
    const served = tablesOf().peek(waitUntil);
    if (served === undefined) return undefined;
    const { table, canary, confirmedAtMs } = served;
    const ageMs = clock.nowMs() - confirmedAtMs;
    return { isolate, revision: table.revision, canary: canary?.table.revision, ageMs, everyMs };
  };
}

/** An isolate that is silent for this long, and for three reports, is gone or gets no requests. */
const SILENT_MS = 60_000;

/** About 200 bytes each. */
const ISOLATES_MAX = 5_000;

const SHOWN_MAX = 50;

/** The tables that isolates have in force. In memory alone: those that get requests report again within seconds. */
export class IsolateTableReports {
  readonly #reports = new Map<string, ReportedTable & { readonly heardAtMs: number }>();

  add(table: ReportedTable, nowMs: number): void {
    setLast(this.#reports, table.isolate, { ...table, heardAtMs: nowMs }, ISOLATES_MAX);
  }

  /** Those that are furthest behind come first. */
  read(nowMs: number): IsolateTables {
    for (const [isolate, { heardAtMs, everyMs }] of this.#reports) {
      if (nowMs - heardAtMs > Math.max(SILENT_MS, 3 * everyMs)) this.#reports.delete(isolate);
    }
    const confirmedAtMs = ({ heardAtMs, ageMs }: { heardAtMs: number; ageMs: number }) => heardAtMs - ageMs;
    const shown = [...this.#reports.values()]
      .toSorted((a, b) => a.revision - b.revision || confirmedAtMs(a) - confirmedAtMs(b))
      .slice(0, SHOWN_MAX);
    return {
      count: this.#reports.size,
      shown: shown.map((table) => ({
        isolate: table.isolate,
        revision: table.revision,
        canary: table.canary ?? null,
        confirmedAt: new Date(confirmedAtMs(table)).toISOString(),
        reportedAt: new Date(table.heardAtMs).toISOString(),
      })),
    };
  }
}
