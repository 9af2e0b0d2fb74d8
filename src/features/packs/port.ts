import type { Result } from "../../ids/result.ts";
import type { TableError, TableHistoryError } from "../../problems/errors.ts";
import type { CompiledTable } from "../../routing/table.ts";
import type { PackError } from "./problems.ts";
import type { MissingPage } from "./table/pack.ts";

declare module "../../ports/gateway.ts" {
  interface Gateway {
    readonly packs: Packs;
  }
}

/** Why a part of a pack was not stored. */
export type PackChangeError = TableHistoryError | PackError;

/** The packs of the tables in force. Look-ups read what is in memory; these fetch the rest. */
export interface Packs {
  /** Gives a table the verified header of each of its packs. `waitMs`: what the caller has left to wait for them, if it is little. */
  open(table: CompiledTable, waitMs?: number): Promise<Result<undefined, TableError>>;
  /** Fetches what a look-up was lacking, within a deadline. */
  load(table: CompiledTable, missing: MissingPage): Promise<Result<undefined, TableError>>;
}
