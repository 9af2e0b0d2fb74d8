/** A build's word for the table beside it: that this version of the code has checked it. It is a module of its own. */
export interface Voucher {
  /** The code that checked it. Any other version checks for itself. */
  readonly version: string;
  /** SHA-256 of the table's text. */
  readonly digest: string;
  /**
   * The table as this version compiled it: its numbers in base64, a line feed, its text. `undefined`: too large to be part of
   * every isolate.
   */
  readonly form?: string | undefined;
}
