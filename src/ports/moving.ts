import type { Cell, ImportStatus, StateInventory, TableLine } from "../formats/state-export.ts";
import type { Result } from "../ids/result.ts";
import type { StateError } from "../problems/errors.ts";
import type { Bytes, Sha256 } from "../routing/bytes.ts";

/** Port of the gateway's whole state: its objects row by row, and values of KV. */

/** How the rows of a class are moved. Plain data: objects get it with each call. */
export interface MovedRows {
  /** Tables that are made of other rows: they are not carried. */
  readonly derived?: readonly string[];
  /** Tables whose rows are no contents: every object makes them for itself. */
  readonly aside?: readonly string[];
  /** A query that gives a row if an object has contents of its own, and may not be replaced. Default: any row. */
  readonly contents?: string;
}

/** A kind of objects, as a feature or the core names it. */
export interface MovedPart {
  /** In files and paths. It never changes. */
  readonly part: string;
  /** Name of its namespace's binding. */
  readonly binding: string;
  /**
   * Place in an export of a running gateway. Each part is read after those that may name what it has: a restored state lacks what came
   * later, and has nothing whose consequence it lacks.
   */
  readonly order: number;
  /** The names of all its objects; or that of the one which lists the others by `listed`, for names that no code knows. */
  readonly objects: readonly string[] | Readonly<{ listedBy: string }>;
  readonly rows?: MovedRows;
  /** A call that writes what an object has in memory alone. */
  readonly flush?: string;
}

/** Values of KV that are no copy of an object's rows. */
export interface MovedValues {
  /** The keys that the text of a published table needs, pointers last. */
  keysOf(text: string, tools: ValueTools): Promise<readonly string[]>;
  /** Why bytes cannot be the value of a key; `undefined` if they can, `false` if the key is not of this feature. */
  faultOf(key: string, bytes: Bytes, tools: ValueTools): Promise<string | undefined | false>;
}

export interface ValueTools {
  readonly read: (key: string) => Promise<Bytes | undefined>;
  readonly sha256: Sha256;
}

/** Where the next rows begin: behind the primary key of a row. */
export type RowCursor = Readonly<{ table: string; after: readonly Cell[] }>;

export interface RowsPage {
  /** Lines of tables and rows. */
  readonly text: string;
  readonly rows: number;
  /** `undefined` at the end. */
  readonly next: RowCursor | undefined;
  /** Changes when any row does. */
  readonly changes: number;
  readonly alarm: number | null;
}

export type RowsDigest = Readonly<{ rows: number; sha256: string }>;

/** Calls that each class of objects takes beside its own. */
export type MoveCall =
  | { readonly do: "read"; readonly from: RowCursor | undefined }
  | { readonly do: "status" }
  | { readonly do: "claim"; readonly import: string }
  | { readonly do: "discard"; readonly import: string }
  | { readonly do: "write"; readonly import: string; readonly part: number; readonly lines: string }
  | { readonly do: "digest"; readonly tables: readonly TableLine[] }
  | {
      readonly do: "verify";
      readonly import: string;
      readonly tables: readonly TableLine[];
      readonly sha256: string;
      readonly alarm: number | null;
    }
  | { readonly do: "release"; readonly import: string };

export interface MoveAnswers {
  readonly read: RowsPage;
  readonly status: ImportStatus;
  readonly claim: ImportStatus;
  readonly discard: ImportStatus;
  readonly write: ImportStatus;
  readonly digest: RowsDigest;
  readonly verify: ImportStatus;
  readonly release: ImportStatus;
}

/** One object of a part: by its name where that is known, else by its ID. */
export interface MovedObject {
  readonly part: string;
  readonly id: string;
  readonly name?: string | undefined;
}

export interface Moving {
  inventory(parts: readonly MovedPart[]): Promise<Result<StateInventory, StateError>>;
  call<Call extends MoveCall>(
    part: MovedPart,
    object: MovedObject,
    call: Call,
  ): Promise<Result<MoveAnswers[Call["do"]], StateError>>;
  readValue(key: string): Promise<Result<Bytes | undefined, StateError>>;
  writeValue(key: string, bytes: Bytes): Promise<Result<undefined, StateError>>;
}
