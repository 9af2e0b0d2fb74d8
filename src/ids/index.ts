export {
  type ArchitectEncoding,
  type ArchitectType,
  architectText,
  architectValue,
} from "./architect-codec.ts";
export { builtinLayouts, hotguid, hotguidSql, iuid, luuid } from "./builtin.ts";
export { type Capacity, type CapacityError, type Collisions, capacityOf, type Load, type Rate } from "./capacity.ts";
export { everyLayout, layoutNamed } from "./catalogue.ts";
export type { LayoutTableFault } from "./check-table.ts";
export { compileLayout, fieldValue } from "./compile.ts";
export { groupOfClass } from "./crc12.ts";
export { type DeclarationFault, declareLayout, type LayoutDeclaration } from "./declare.ts";
export { diagram } from "./diagram.ts";
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
} from "./distributed-id-generator.ts";
export { fieldOf } from "./fields.ts";
export { type HotguidIdentity, hotguidIdentity, type IdentityError } from "./hotguid-identity.ts";
export { fromSql, toSql } from "./hotguid-sql.ts";
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
} from "./layout.ts";
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
export { hotguidSqlTable, hotguidTable, iuidTable, luuidTable } from "./layouts.ts";
export { parseLenientUuid } from "./lenient-uuid.ts";
export { joinLongs, type LongPair, type LongPairError, splitLongs } from "./long-pair.ts";
export { CLOCK_BEHIND_MS_MAX, type MintError, type Minted, type RandomWords } from "./mint.ts";
export { type MinterError, type MinterState, mintNext, startMinter } from "./mint-by-layout.ts";
export { type HotguidState, mintHotguid, skipHotguids, startHotguid } from "./mint-hotguid.ts";
export { type IuidState, mintIuid, startIuid } from "./mint-iuid.ts";
export { type LuuidKeys, mintLuuid } from "./mint-luuid.ts";
export { isoTime } from "./minted-at.ts";
export { type ParsedId, parseId } from "./parse-id.ts";
export { type PeriodOrder, type PeriodRange, type PeriodRangeError, periodRange } from "./period-range.ts";
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
  type CombCheckError,
  type CombPlace,
  type CombWindow,
  checkShortComb,
  DEFAULT_COMB_WINDOW,
  intervalAt,
  mintShortComb,
  SHORT_COMB_INTERVAL_MS,
} from "./short-comb.ts";
export { formatShortKey, PRIMARY_KEY_MAX, parseShortKey, readShortKey } from "./short-key.ts";
export { compareSqlServer, swapComb, swapShortComb } from "./sql-order.ts";
export { TEXT_NAMES, type TextName } from "./text/registry.ts";
export { formatAs, parseAs, textsOf, type UnknownText, type UnwritableText } from "./texts.ts";
export { explainUuid, formatUuid, parseUuid, readUuid, UUID_TEXT_LENGTH, uuidText } from "./uuid-text.ts";
export { compareWords, mixWords } from "./words.ts";
