export { ownPortOf } from "./check/regions.ts";
export { compileTable } from "./compile/compile.ts";
export { diffTables, type TableDiff } from "./diff/diff.ts";
export type { LayoutFault, RoutingError } from "./errors.ts";
export { LUUID_SHORT } from "./identity.ts";
export { findAmbiguities, type Hint, type LayoutAmbiguity } from "./layouts/ambiguities.ts";
export { REVISION_MAX, TABLE_BYTES_MAX } from "./limits.ts";
export { checkTable, loadTable } from "./load.ts";
export { hintName, primaryPattern } from "./lookup/paths.ts";
export { requiredFields } from "./mint/plan.ts";
export { regionsOfMinted } from "./mint/verify.ts";
export { formatPackFault } from "./packs/format.ts";
export { formatEntryFault, partsOfFile, verifyPack } from "./packs/pack.ts";
export { NO_PUBLIC_KEYS, type PublicKeys, parsePublicKeys, publicCodec } from "./public-ids/codec.ts";
export type { LayoutHint } from "./resolve/match.ts";
export { chooseRegion, stickyCookie } from "./resolve/region-sources.ts";
export { type Explanation, explain, hintNamed, resolveAny, resolvePath } from "./resolve/resolve.ts";
export {
  type CanarySelector,
  canarySelectorSchema,
  selectorTest,
  servesEntity,
  type TableNames,
  unknownNames,
} from "./resolve/table-canary.ts";
export type { Fault } from "./schema/faults.ts";
export { duplicateKey, memberText, parseJson, plainJson } from "./schema/json-scanner.ts";
export { declaredPacks, loadTableText, NOT_UTF8, parseTableText } from "./schema/parse.ts";
export type { DeclaredTable } from "./schema/table.ts";
export type { Candidate, CompiledTable, Decision, Entity, EntityId, PathMatch, Rule, WithoutId } from "./table.ts";
