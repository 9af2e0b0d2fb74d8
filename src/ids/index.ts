// A file with `*` is public whole.

export type { LayoutTableFault } from "./layout/check-table.ts";
export { compileLayout, fieldValue } from "./layout/compile.ts";
export type { DeclarationFault, DeclaredText, LayoutDeclaration, TextFault, TextName } from "./layout/declare.ts";
export { declareLayout, declareTexts, TEXT_NAMES } from "./layout/declare.ts";
export type * from "./layout/layout.ts";
export { isoTime } from "./layout/time.ts";
export { compareWords, fieldOf, kindOf, mixWords } from "./layout/words.ts";
export * from "./layouts/builtin.ts";
export * from "./layouts/catalogue.ts";
export * from "./layouts/comb.ts";
export * from "./layouts/distributed-id.ts";
export * from "./layouts/sixteen.ts";
export * from "./layouts/snowflakes.ts";
export * from "./layouts/uuid.ts";
export { type MinterError, type MinterState, mintNext, startMinter } from "./mint/by-layout.ts";
export { createMinter, type MinterOptions } from "./mint/create-minter.ts";
export * from "./mint/distributed-id.ts";
export type { HotguidIdentity, HotguidState, IdentityError } from "./mint/hotguid.ts";
export { hotguidIdentity, mintHotguid, skipHotguids, startHotguid } from "./mint/hotguid.ts";
export { type IuidState, mintIuid, startIuid } from "./mint/iuid.ts";
export * from "./mint/luuid.ts";
export { CLOCK_BEHIND_MS_MAX, type MintError, type Minted, type RandomWords } from "./mint/mint.ts";
export * from "./mint/scoped.ts";
export * from "./mint/short-comb.ts";
export * from "./parse-id.ts";
export * from "./recognise.ts";
export { type Err, err, type Ok, ok, type Result } from "./result.ts";
export * from "./stores/binary.ts";
export * from "./stores/json.ts";
export * from "./stores/refused-by.ts";
export { ALPHABET_NAMES, type AlphabetFault, type AlphabetText } from "./text/alphabet-text.ts";
export { type ArchitectEncoding, type ArchitectType, architectText, architectValue } from "./text/architect.ts";
export * from "./text/texts.ts";
export {
  explainUuid,
  formatUuid,
  parseLenientUuid,
  parseUuid,
  readUuid,
  UUID_TEXT_LENGTH,
  type UuidVariant,
  uuidKind,
  uuidText,
} from "./text/uuid.ts";
export * from "./tools/capacity.ts";
export * from "./tools/client-id.ts";
export { type CouldBe, couldBe, declarationOf } from "./tools/could-be.ts";
export { diagram } from "./tools/diagram.ts";
export { type PeriodOrder, type PeriodRange, type PeriodRangeError, periodRange } from "./tools/period-range.ts";
export * from "./tools/sql-order.ts";
