import type { DeclaredTable } from "../../routing/schema/table.ts";
import { knownTable } from "../app/session.ts";
import { DiffView } from "../publish/changes-view.tsx";

/** The effects of a change in words, before anything is sent; requests are known of the table in force alone. */
export function Effect({ before, after }: { before: DeclaredTable; after: DeclaredTable }) {
  const known = knownTable.value;
  const revision = known?.declared === before ? { revision: known.revision } : {};
  return <DiffView before={before} after={after} {...revision} />;
}
