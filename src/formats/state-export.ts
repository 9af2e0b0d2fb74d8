/**
 * The lines of an exported state: JSON, one value a line. A header; then objects, each a line that names it, its tables with their
 * rows, and its end; between them values of KV; last the end with the digest of all lines before. A later version adds members.
 */

/** Raised when an earlier version could misread the lines. */
export const STATE_FORMAT = 1;

/** Origin of an export. */
export interface ExportHeader {
  readonly waybill: "state";
  readonly format: number;
  /** Version of the command that wrote it. */
  readonly version: string;
  /** ISO 8601. */
  readonly at: string;
  /** The ID of the object of tables: equal for all self-hosted gateways, another for each on Cloudflare. */
  readonly deployment: string;
  /** `stopped`: nothing changed meanwhile. `running`: each object is of a moment of its own. */
  readonly from: "stopped" | "running";
  /** In the order of the file. */
  readonly parts: readonly string[];
}

export interface ObjectLine {
  readonly object: string;
  readonly part: string;
  /** The name from which its ID is made, where it is known. */
  readonly name?: string | undefined;
}

/** The rows behind it are arrays of values in this order. */
export interface TableLine {
  readonly table: string;
  readonly columns: readonly string[];
}

/** A value of SQLite. */
export type Cell = null | number | string | Readonly<{ base64: string }>;

export interface ObjectEnd {
  readonly end: "object";
  readonly rows: number;
  /** SHA-256 of the lines of its tables. */
  readonly sha256: string;
  /** Unix ms. */
  readonly alarm: number | null;
  /** Whether it changed while it was read: each row is whole, and may be as before or after. */
  readonly changed?: true;
}

/** A value of KV. */
export interface ValueLine {
  readonly value: string;
  readonly sha256: string;
  readonly base64: string;
}

export interface ExportEnd {
  readonly end: "export";
  readonly objects: number;
  readonly rows: number;
  readonly values: number;
  /** SHA-256 of all lines before, with their ends. */
  readonly sha256: string;
}

/** Steps of an import in one object. `used`: it has contents of its own. `done`: it serves. */
export type ImportStep = "empty" | "used" | "claimed" | "whole" | "done";

export interface ImportStatus {
  readonly step: ImportStep;
  /** Digest of the file that is, or was, imported. */
  readonly import?: string | undefined;
}

/** All objects of a gateway. */
export interface StateInventory {
  readonly format: number;
  readonly deployment: string;
  readonly parts: readonly {
    readonly part: string;
    /** The name of its namespace. */
    readonly binding: string;
    readonly objects: readonly Readonly<{ id: string; name?: string | undefined }>[];
  }[];
}

/** Rows of one request of an import. */
export const ROWS_BYTES_MAX = 4 * 1024 * 1024;
