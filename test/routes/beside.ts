import { ok } from "../../src/ids/result.ts";
import type { ServedTable } from "../../src/ports/admin.ts";
import type { Tables } from "../../src/ports/gateway.ts";
import {
  type CanarySelector,
  type CompiledTable,
  loadTable,
  selectorTest,
  servesEntity,
} from "../../src/routing/index.ts";

/** A table in force as revision 1, and beside it another one as revision 2 for an audience. */
export function servedBeside(declared: unknown, canary: unknown, audience: CanarySelector): ServedTable {
  const table = compiled(declared, 1);
  return {
    table,
    source: "kv",
    digest: "1".repeat(64),
    confirmedAtMs: 0,
    label: "rev=1",
    canary: {
      table: compiled(canary, 2),
      digest: "2".repeat(64),
      audience,
      matches: selectorTest(table, audience),
      ownsEntity: (entity) => servesEntity(audience, entity),
      label: "rev=2; canary",
    },
  };
}

/** The port of an isolate that has this and nothing else. */
export const tablesOf = (served: ServedTable): Tables => ({ peek: () => served, load: async () => ok(served) });

function compiled(declared: unknown, revision: number): CompiledTable {
  const table = loadTable(declared, revision);
  if (!table.ok) throw new Error(JSON.stringify(table.error));
  return table.value;
}
