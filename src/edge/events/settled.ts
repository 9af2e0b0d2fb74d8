/** A state that is told once it has held for a while, so that one that flaps is not told at each turn. Stored: only add members. */
export interface Settled {
  /** As it was told. */
  readonly state: string;
  /** Unix ms; absent where it was so from the start. */
  readonly sinceMs?: number;
  /** Since when it is another one. */
  readonly leftMs?: number;
  readonly next?: { readonly state: string; readonly sinceMs: number };
}

/** For how long another state must hold; `Infinity`: it is not told. */
export type HoldMs = (from: string, to: string) => number;

/** A state that comes and goes in between does not begin the wait again, but the last one must have held for this long. */
const STEADY_MS = 10_000;

export function settle(before: Settled, state: string, nowMs: number, holdMs: HoldMs): Settled {
  const { next: known, leftMs = nowMs, ...told } = before;
  if (state === told.state) return known === undefined ? before : told;
  const next = known?.state === state ? known : { state, sinceMs: nowMs };
  const after = { ...told, leftMs, next };
  return dueOf(after, holdMs) <= nowMs ? { state, sinceMs: next.sinceMs } : after;
}

/** When the next state is told, if it holds; Unix ms. */
export function dueOf({ state, leftMs = 0, next }: Settled, holdMs: HoldMs): number {
  if (next === undefined) return Number.POSITIVE_INFINITY;
  const holds = holdMs(state, next.state);
  return Math.max(leftMs + holds, next.sinceMs + Math.min(holds, STEADY_MS));
}

/** Watched states by key, and the changes that are not stored yet. */
export class WatchedStates {
  readonly #states: Map<string, Settled>;
  readonly #changed = new Set<string>();

  constructor(stored: Iterable<readonly [key: string, state: Settled]>) {
    this.#states = new Map(stored);
  }

  get(key: string): Settled | undefined {
    return this.#states.get(key);
  }

  set(key: string, state: Settled): void {
    if (this.#states.get(key) === state) return;
    this.#states.set(key, state);
    this.#changed.add(key);
  }

  drop(key: string): void {
    if (this.#states.delete(key)) this.#changed.add(key);
  }

  /** Keys that begin so. */
  keys(prefix: string): readonly string[] {
    return [...this.#states.keys()].filter((key) => key.startsWith(prefix));
  }

  /** `undefined`: it is no longer watched. */
  takeChanges(): readonly (readonly [key: string, state: Settled | undefined])[] {
    const changes = [...this.#changed].map((key) => [key, this.#states.get(key)] as const);
    this.#changed.clear();
    return changes;
  }
}
