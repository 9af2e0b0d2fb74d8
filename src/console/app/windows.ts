import { signal } from "@preact/signals";
import type { ComponentType } from "preact";

/** Windows of the shell that several parts open. */

export const isPaletteOpen = signal(false);
export const isHelpOpen = signal(false);
/** The signed-out reader wants to sign in, and comes back to the page. */
export const isSigningIn = signal(false);
/** Where the storage of this tab has the last change of the table that was made in it. */
export const MADE_KEY = "waybill-made";

/** Windows that are loaded by need and outlive their page, such as that of a publication. */
export const laterWindows = signal<ComponentType | undefined>(undefined);
