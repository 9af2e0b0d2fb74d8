import type { StoredPack } from "../../formats/table-api.ts";
import type { Result } from "../../ids/result.ts";
import type { TableError, TableHistoryError } from "../../problems/errors.ts";
import type { CompiledTable } from "../../routing/table.ts";
import type { PackError } from "./problems.ts";
import type { MissingPage } from "./table/pack.ts";

declare module "../../ports/gateway.ts" {
  interface LoadPorts {
    readonly packs: Packs;
  }
}

declare module "../../ports/admin.ts" {
  interface ControlPlaneApi {
    packStatus(sha256: string): Promise<Result<StoredPack, TableHistoryError>>;
    putPackPart(
      request: PackPartRequest,
      bytes: Uint8Array<ArrayBuffer>,
    ): Promise<Result<PackReceipt, PackChangeError>>;
  }
}

/** Why a part of a pack was not stored. */
export type PackChangeError = TableHistoryError | PackError;

/** The packs of the tables in force. Look-ups read what is in memory; these fetch the rest. */
export interface Packs {
  /** Gives a table the verified header of each of its packs. `waitMs`: what the caller has left to wait for them, if it is little. */
  open(table: CompiledTable, waitMs?: number): Promise<Result<undefined, TableError>>;
  /** Fetches what a look-up was lacking, within a deadline. */
  load(table: CompiledTable, missing: Pick<MissingPage, "pack" | "page">): Promise<Result<undefined, TableError>>;
}

/** `isNew`: something was stored that was not there before; `completes`: nothing else was missing. */
export type PackReceipt = Readonly<{ pack: StoredPack; isNew: boolean; completes: boolean }>;

/** An upload. `sha256`: of the pack's header, in lower-case hex. */
export interface PackPartRequest {
  readonly sha256: string;
  /** A page by its number. The header comes first: pages are verified by it. */
  readonly part: "header" | number;
  readonly author: string;
}
