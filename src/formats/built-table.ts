/** Constants that a build adds to the Worker: the version of its code for tables, and the bundled table as this version compiled it. */
export interface BuiltConstants {
  readonly version: string;
  /** `undefined`: the table has faults. */
  readonly table?: BuiltTable;
}

interface BuiltTable {
  /** SHA-256 of the table's text. */
  readonly digest: string;
  /** `undefined`: too large to be part of every isolate. Numbers are in base64. */
  readonly form?: { readonly text: string; readonly numbers: string };
}
