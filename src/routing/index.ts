export { canonicalText } from "./canonical-text.ts";
export { checkTable, loadTable } from "./check.ts";
export { compileTable } from "./compile.ts";
export { diffTables, type TableDiff } from "./diff.ts";
export type { KeyChange, KeyOutcome } from "./diff-changes.ts";
export type { Changed, PartDiff } from "./diff-parts.ts";
export type { OverrideChange, OverrideKind, OverridesDiff, OverrideTarget, UndoneSteps } from "./diff-singles.ts";
export { findAmbiguities, type Hint, type LayoutAmbiguity } from "./distinguish.ts";
export { duplicateKey } from "./duplicate-keys.ts";
export { hintName, primaryPattern } from "./entity-paths.ts";
export { type Explanation, explain, type PlainDecision, type TextFormOf } from "./explain.ts";
export type { Fault, FaultKind } from "./faults.ts";
export { LUUID_SHORT } from "./identity.ts";
export { REVISION_MAX, TABLE_BYTES_MAX } from "./limits.ts";
export { regionsOfMinted } from "./mint-region.ts";
export { requiredFields } from "./minting.ts";
export { missingPages } from "./missing-pages.ts";
export { formatPackFault } from "./pack/fault-text.ts";
export { formatEntryFault } from "./pack/slot.ts";
export { partsOfFile } from "./pack/store.ts";
export { verifyPack } from "./pack/verify.ts";
export { NO_PUBLIC_KEYS, type PublicKeys, parsePublicKeys } from "./public-keys.ts";
export type { LayoutHint } from "./readings.ts";
export { chooseRegion, stickyCookie } from "./region-sources.ts";
export { hintNamed, resolveAny, resolvePath, type UnknownLayout } from "./resolve.ts";
export type { LayoutFault, RoutingError } from "./routing-error.ts";
export type { DeclaredTable } from "./schema.ts";
export type {
  Candidate,
  CompiledTable,
  Decision,
  EnabledLayout,
  Entity,
  EntityId,
  Gone,
  Move,
  Origin,
  PathMatch,
  Region,
  Rule,
  Slice,
  Target,
  TimeWindow,
  WithoutId,
} from "./table.ts";
export {
  type CanarySelector,
  canarySelectorSchema,
  selectorTest,
  servesEntity,
  type TableNames,
  unknownNames,
} from "./table-canary.ts";
export { declaredPacks, loadTableText, NOT_UTF8, parseTableText } from "./table-text.ts";
export { hasPublic, withoutPublic } from "./without-public.ts";
