import type { Result } from "../ids/result.ts";
import type { TableChangeError, TableHistoryError } from "../problems/port-errors.ts";
import type { CanaryAudience, Fault } from "../routing/index.ts";
import type { AuditEntry, RevisionText, Stretch, TableRevision, TableStatus, TableWish } from "../table-ports.ts";

type Answer<Value> = Promise<Result<Value, TableHistoryError>>;
type Change = Promise<Result<TableRevision, TableChangeError>>;

/** What can be asked of the truth. */
export interface TruthCalls {
  text(revision: number | undefined): Promise<Result<RevisionText, TableChangeError>>;
  revisions(stretch: Stretch): Answer<readonly TableRevision[]>;
  audit(stretch: Stretch): Answer<readonly AuditEntry[]>;
  status(): Answer<TableStatus>;
  packFaults(octets: Uint8Array): Answer<readonly Fault[]>;
  publish(wish: TableWish, octets: Uint8Array): Change;
  rollback(wish: TableWish, to: number): Change;
  startCanary(wish: TableWish, octets: Uint8Array, audience: CanaryAudience): Change;
  promote(wish: TableWish): Change;
  abort(wish: TableWish): Change;
}

/** The Durable Object, as those who call it know it. */
export interface TruthObject extends TruthCalls, Rpc.DurableObjectBranded {}
