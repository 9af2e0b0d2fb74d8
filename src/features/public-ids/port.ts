import type { Result } from "../../ids/result.ts";
import type { CompiledTable, Entity } from "../../routing/table.ts";
import type { PublicIdOpener, PublicIdsError } from "./table/reading.ts";

declare module "../../ports/gateway.ts" {
  interface Gateway {
    readonly publicIds: PublicIds;
  }
}

/** Public texts of the IDs of public entities. The keys stay behind this port. */
export interface PublicIds extends PublicIdOpener {
  /** The public text of an internal one; `undefined` when the text is no ID of the entity. */
  show(entity: Entity, internal: string): Result<string | undefined, PublicIdsError>;
  /** Whether there are keys for every public entity of a table. */
  covers(table: CompiledTable): boolean;
}
