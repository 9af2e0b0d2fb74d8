export { builtinLayouts, fieldOf, hotguid, hotguidSql, iuid, luuid } from "./builtin.ts";
export type { LayoutTableFault } from "./check-table.ts";
export { compileLayout, fieldValue } from "./compile.ts";
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
export { isoTime } from "./minted-at.ts";
export { type Err, err, type Ok, ok, type Result } from "./result.ts";
export { explainUuid, formatUuid, parseUuid, readUuid, UUID_TEXT_LENGTH } from "./uuid-text.ts";
