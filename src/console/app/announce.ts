import { signal } from "@preact/signals";

/** Text for assistive technology, such as that something was copied. */
export const announcement = signal("");
