import type { Machines } from "../../formats/machines.ts";
import type { MadeChange } from "./table-changes.ts";

/** Calls of the log's object to the control plane's. Members may be added, none may change. */

/** Changes after an entry of the audit or, without one, since a time, ISO 8601. */
export interface NewsQuery {
  readonly audit?: number | undefined;
  readonly since: string;
  readonly machines: boolean;
}

export interface ControlPlaneNews {
  /** Those that were made, oldest first. */
  readonly changes: readonly MadeChange[];
  readonly isMore: boolean;
  readonly machines?: Machines | undefined;
}
