export type { LayoutTableFault } from "./layout/check-table.ts";
export { compileLayout, fieldValue } from "./layout/compile.ts";
export {
  type DeclarationFault,
  declareLayout,
  type LayoutDeclaration,
  TEXT_NAMES,
  type TextName,
} from "./layout/declare.ts";
export type {
  EncodeError,
  Field,
  FieldValue,
  Layout,
  LayoutTable,
  ParseError,
  Role,
  Row,
  TextForm,
  TimeUnit,
  Words,
} from "./layout/layout.ts";
export { isoTime } from "./layout/time.ts";
export { compareWords, fieldOf, mixWords } from "./layout/words.ts";
export {
  builtinLayouts,
  hotguid,
  hotguidSql,
  hotguidSqlTable,
  hotguidTable,
  iuid,
  iuidTable,
  luuid,
  luuidTable,
} from "./layouts/builtin.ts";
export { everyLayout, layoutNamed } from "./layouts/catalogue.ts";
export {
  combPrefix,
  combPrefixTable,
  combSqlLegacy,
  combSqlLegacyTable,
  combSuffix,
  combSuffixTable,
  orderedUuid,
  orderedUuidTable,
  shortPrefixComb,
  shortPrefixCombTable,
  shortSuffixComb,
  shortSuffixCombTable,
} from "./layouts/comb.ts";
// All layouts of these files, and their tables, are public.
export * from "./layouts/distributed-id.ts";
export * from "./layouts/sixteen.ts";
export * from "./layouts/snowflakes.ts";
export * from "./layouts/uuid.ts";
export { type MinterError, type MinterState, mintNext, startMinter } from "./mint/by-layout.ts";
export {
  customGenerator,
  type DistributedIdGenerator,
  type DistributedIdKind,
  type DistributedIdState,
  type DistributedIdStep,
  distributedId128Kind,
  distributedIdGenerator,
  distributedIdKind,
  type GeneratorPorts,
  incrementalGenerator,
  startDistributedId,
  stepDistributedId,
} from "./mint/distributed-id.ts";
export {
  type HotguidIdentity,
  type HotguidState,
  hotguidIdentity,
  type IdentityError,
  mintHotguid,
  skipHotguids,
  startHotguid,
} from "./mint/hotguid.ts";
export { type IuidState, mintIuid, startIuid } from "./mint/iuid.ts";
export { groupOfClass, type LuuidKeys, mintLuuid } from "./mint/luuid.ts";
export { CLOCK_BEHIND_MS_MAX, type MintError, type Minted, type RandomWords } from "./mint/mint.ts";
export {
  type CombCheckError,
  type CombPlace,
  type CombWindow,
  checkShortComb,
  DEFAULT_COMB_WINDOW,
  intervalAt,
  mintShortComb,
  SHORT_COMB_INTERVAL_MS,
} from "./mint/short-comb.ts";
export { type ParsedId, parseId } from "./parse-id.ts";
export {
  type Choice,
  choose,
  DEFAULT_WINDOW,
  type Reading,
  type Recognisable,
  type Recognition,
  recognise,
  type TimeWindow,
} from "./recognise.ts";
export { type Err, err, type Ok, ok, type Result } from "./result.ts";
export {
  type ArchitectEncoding,
  type ArchitectType,
  architectText,
  architectValue,
} from "./text/architect.ts";
export { formatShortKey, PRIMARY_KEY_MAX, parseShortKey, readShortKey } from "./text/short-key.ts";
export { formatAs, parseAs, textsOf, type UnknownText, type UnwritableText } from "./text/texts.ts";
export {
  explainUuid,
  formatUuid,
  parseLenientUuid,
  parseUuid,
  readUuid,
  UUID_TEXT_LENGTH,
  uuidText,
} from "./text/uuid.ts";
export {
  type Capacity,
  type CapacityError,
  type Collisions,
  capacityOf,
  type Load,
  type Rate,
} from "./tools/capacity.ts";
export { diagram } from "./tools/diagram.ts";
export { type PeriodOrder, type PeriodRange, type PeriodRangeError, periodRange } from "./tools/period-range.ts";
export { compareSqlServer, fromSql, swapComb, swapShortComb, toSql } from "./tools/sql-order.ts";
