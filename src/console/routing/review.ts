import { goTo } from "../app/router.ts";

/** Leads to what a publication asks first. */
export async function reviewDraft(): Promise<void> {
  goTo("editor");
}
