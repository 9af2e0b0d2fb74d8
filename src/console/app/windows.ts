import { signal } from "@preact/signals";

/** Windows of the shell that several parts open. */

export const isPaletteOpen = signal(false);
export const isHelpOpen = signal(false);
/** The signed-out reader wants to sign in, and comes back to the page. */
export const isSigningIn = signal(false);
