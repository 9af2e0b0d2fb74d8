import { withTimeout } from "../platform.ts";

/** The value of work, or `undefined` after a time. */
export type Within = <Value>(work: Promise<Value>, ms: number) => Promise<Value | undefined>;

export const platformTimer: Within = (work, ms) => withTimeout(work, ms, () => undefined);

/** A promise of its own: one that requests share is no part of any of them, and hangs them. */
export const never = (): Promise<never> => new Promise(() => undefined);
