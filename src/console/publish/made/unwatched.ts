import { signal } from "@preact/signals";

/** A change whose window was closed before its end was known. `why`: nothing came of it. */
export const unwatched = signal<{ readonly title: string; readonly why?: string } | undefined>(undefined);
