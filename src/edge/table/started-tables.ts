import { err, type Result } from "../../ids/result.ts";
import type { Tables } from "../../ports/admin.ts";
import type { TableChangeError } from "../../problems/errors.ts";

export interface StartedTablesOptions {
  /** Asks the control plane. Repeating it is safe. */
  readonly begin: () => Promise<Result<undefined, TableChangeError>>;
  /** The host ends the start by it. */
  readonly reportFailure: (error: TableChangeError) => void;
}

/** Tables of a start that hands one over: no request is decided before the control plane has put it into force. */
export function startedTables(tables: Tables, { begin, reportFailure }: StartedTablesOptions): Tables {
  let hasBegun = false;
  return {
    peek: (waitUntil) => (hasBegun ? tables.peek(waitUntil) : undefined),
    async load() {
      // Each request asks by itself: one that another waits for may end before its answer.
      const begun = hasBegun ? undefined : await begin();
      if (begun?.ok === false) {
        reportFailure(begun.error);
        return err({ reason: "table-unavailable", why: `the table of the start: ${begun.error.reason}` });
      }
      hasBegun = true;
      return tables.load();
    },
  };
}
