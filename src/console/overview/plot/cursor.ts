import { signal } from "@preact/signals";
import type { Span } from "./places.ts";

/** One cursor and one zoom for all charts of a page. Unix seconds; `undefined`: now, and all that is shown. */

export const cursorAt = signal<number | undefined>(undefined);
export const zoom = signal<Span | undefined>(undefined);

export function resetCursor(): void {
  cursorAt.value = undefined;
  zoom.value = undefined;
}
