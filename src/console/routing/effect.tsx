import type { DeclaredTable } from "../../routing/schema/table.ts";
import { DiffView } from "../table/diff-view.tsx";

/** The effects of a change in words, before anything is sent. */
export const Effect = ({ before, after }: { before: DeclaredTable; after: DeclaredTable }) => (
  <DiffView before={before} after={after} />
);
