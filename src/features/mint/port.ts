import type { MintError, Words } from "../../ids/index.ts";
import type { WordRows } from "../../ids/mint/mint.ts";
import type { Result } from "../../ids/result.ts";
import type { KeyRange } from "../../ids/tools/key-range.ts";
import type { Authenticate } from "../../ports/admin.ts";
import type { SequenceError } from "./problems.ts";
import type { MintOrder } from "./table/plan.ts";

declare module "../../ports/gateway.ts" {
  interface Gateway {
    readonly minters: Minters;
    /** Callers that may mint: all, none, or the callers of scope `mint` that it finds. */
    readonly mintDoor: "open" | "off" | Authenticate;
  }
}

declare module "../../ports/metrics.ts" {
  interface CountedEvents {
    /** Blocks of numbers that were reserved, by how much of the range is used up then: 0, 90 or 99 per cent. */
    readonly sequence_blocks: readonly [sequence: string, percent: string];
  }
}

/** Makes IDs that are never made again, in the order that their layout promises. */
export interface Minters {
  mint(order: MintOrder, count: number): Promise<Result<WordRows, MintError | SequenceError>>;
  /**
   * An ID like the next one of an order that takes numbers from a sequence, or why `count` IDs are refused; it takes
   * none. `undefined` for other orders.
   */
  sample(order: MintOrder, count: number): Promise<Result<Words | undefined, MintError | SequenceError>>;
}

/** Numbers that are handed out once: first 1, then rising, never the same twice, with gaps allowed. */
export interface Sequences {
  /** The next `count` numbers of the sequence, in rising order. An error uses none of them up. */
  take(name: string, count: number, bounds: SequenceBounds): Promise<Result<readonly number[], SequenceError>>;
  /** A number that it may give next; none is taken. */
  peek(name: string, bounds: SequenceBounds): Promise<Result<number, SequenceError>>;
  /** Why `count` IDs are refused, if that is known at once. */
  refusal(name: string, count: number, bounds: SequenceBounds): SequenceError | undefined;
}

export interface SequenceBounds extends Pick<KeyRange, "interleaved"> {
  /** Beyond it the sequence is exhausted. */
  readonly max: number;
  /** Where it begins, if not at 1. The same in every call. */
  readonly first?: number;
  readonly least?: number;
  /** Beyond `number` numbers may be taken later: after how many seconds? */
  readonly until?: { readonly number: number; readonly secondsTo: (number: number) => number };
}
