export { builtinLayouts, fieldOf, hotguid, hotguidSql, iuid, luuid } from "./builtin.ts";
export type { LayoutTableFault } from "./check-table.ts";
export { compileLayout, fieldValue } from "./compile.ts";
export { groupOfClass } from "./crc12.ts";
export { diagram } from "./diagram.ts";
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
export { hotguidSqlTable, hotguidTable, iuidTable, luuidTable } from "./layouts.ts";
export { CLOCK_BEHIND_MS_MAX, type MintError, type Minted, type RandomWords } from "./mint.ts";
export { type HotguidState, mintHotguid, startHotguid } from "./mint-hotguid.ts";
export { type IuidState, mintIuid, startIuid } from "./mint-iuid.ts";
export { type LuuidKeys, mintLuuid } from "./mint-luuid.ts";
export { isoTime } from "./minted-at.ts";
export {
  DEFAULT_WINDOW,
  type Reading,
  type Recognisable,
  type Recognition,
  recognise,
  type TimeWindow,
} from "./recognise.ts";
export { type Err, err, type Ok, ok, type Result } from "./result.ts";
export { formatShortKey, PRIMARY_KEY_MAX, parseShortKey, readShortKey } from "./short-key.ts";
export { explainUuid, formatUuid, parseUuid, readUuid, UUID_TEXT_LENGTH, uuidText } from "./uuid-text.ts";
