import { setLast, withTimeout } from "../edge/platform.ts";
import { formatPointer, type Pointer } from "../formats/kv.ts";
import { type EdgeReport, type HeardEdge, pointerTag } from "../formats/machines.ts";

/** A mirror asks for the pointer: for the first one, or for another one than it has. */
export interface PointerCall {
  /** The tag of the last answer. */
  readonly tag?: string | undefined;
  readonly waitMs: number;
  readonly edge?: EdgeReport | undefined;
}

/** `text`: as in KV. `busy`: too many are waiting. */
export type PointerAnswer =
  | { readonly state: "published"; readonly text: string; readonly tag: string }
  | { readonly state: "same" | "none" | "busy" };

/** An edge has one mirror. */
const WAITING_MAX = 2_000;

/** The pointer that KV is known to hold, in memory: mirrors wait for its next change and read nothing meanwhile. */
export class AnnouncedPointer {
  readonly #waiting = new Set<() => void>();
  #pointer: Pointer | undefined;
  #isKnown = false;

  /** Whether KV was read, or written. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Everything that the pointer names must be in KV. */
  set(pointer: Pointer | undefined): void {
    this.#pointer = pointer;
    this.#isKnown = true;
    for (const wake of this.#waiting) wake();
  }

  /** At once if the asker has another one. */
  async next(tag: string | undefined, waitMs: number): Promise<PointerAnswer> {
    const answer = this.#answer(tag);
    if (answer.state === "published" || waitMs <= 0) return answer;
    if (this.#waiting.size >= WAITING_MAX) return { state: "busy" };
    let wake = (): void => undefined;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    this.#waiting.add(wake);
    await withTimeout(woken, waitMs, () => undefined);
    this.#waiting.delete(wake);
    return this.#answer(tag);
  }

  #answer(tag: string | undefined): PointerAnswer {
    if (this.#pointer === undefined) return { state: "none" };
    const own = pointerTag(this.#pointer);
    return own === tag ? { state: "same" } : { state: "published", text: formatPointer(this.#pointer), tag: own };
  }
}

const EDGES_MAX = 1_000;
const EDGE_MS = 600_000;

/** The edges that have asked lately. In memory alone: each asks again within half a minute. */
export class HeardEdges {
  readonly #edges = new Map<string, HeardEdge>();

  add(edge: EdgeReport, nowMs: number): void {
    setLast(this.#edges, edge.name, { ...edge, heardAtMs: nowMs }, EDGES_MAX);
  }

  read(nowMs: number): readonly HeardEdge[] {
    for (const [name, { heardAtMs }] of this.#edges) if (nowMs - heardAtMs >= EDGE_MS) this.#edges.delete(name);
    return [...this.#edges.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }
}
