/** The folder by which a start of a self-hosted gateway hands a table over; beside these its packs, by the names of their keys. */
export const START_FILE = "start.json";
export const TABLE_FILE = "table.json";

/** The author of the revision that a start publishes. */
export const START_AUTHOR = "start";

export interface StartFile {
  /** Names the start: its later calls publish nothing. */
  readonly id: string;
  /** Only as the first table of a state without a history. */
  readonly isFirst: boolean;
}
