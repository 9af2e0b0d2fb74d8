export { ownPortOf } from "./check/regions.ts";
export { compileTable } from "./compile/compile.ts";
export { storeTable } from "./compile/store.ts";
export { diffTables, type TableDiff } from "./diff/diff.ts";
export type { LayoutFault, RoutingError } from "./errors.ts";
export { LUUID_SHORT } from "./identity.ts";
export { findAmbiguities, type Hint, type LayoutAmbiguity } from "./layouts/ambiguities.ts";
export { REVISION_MAX, TABLE_BYTES_MAX } from "./limits.ts";
export { checkTable, loadTable, loadTableText, reviewTable } from "./load.ts";
export { hintName, primaryPattern } from "./lookup/paths.ts";
export type { LayoutHint } from "./resolve/match.ts";
export { chooseRegion, type RequestSays, stickyCookie } from "./resolve/region-sources.ts";
export { type Explanation, explain, hintNamed, plainDecision, resolveAny, resolvePath } from "./resolve/resolve.ts";
export type { CanarySelector, TableNames } from "./resolve/table-canary.ts";
export { readSelector, selectorTest, servesEntity, unknownNames } from "./resolve/table-canary.ts";
export { type Taken, takenIn } from "./resolve/taken.ts";
export { type Fault, nearest } from "./schema/faults.ts";
export { duplicateKey, memberText, parseJson, parseUniqueJson, plainJson } from "./schema/json-scanner.ts";
export { NOT_UTF8, parseTableText } from "./schema/parse.ts";
export type { DeclaredEntity, DeclaredTable } from "./schema/table.ts";
export type {
  Candidate,
  CompiledTable,
  Decision,
  Entity,
  EntityId,
  IdDecision,
  PathMatch,
  Rule,
  WithoutId,
} from "./table.ts";
