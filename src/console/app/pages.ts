import type { PageName } from "./router.ts";
import type { Scope } from "./session.ts";

export interface Page {
  readonly name: PageName;
  readonly title: string;
  /** Scopes that see it; absent: everyone, also signed out. */
  readonly scopes?: readonly Scope[];
}

const VIEWERS: readonly Scope[] = ["viewer", "operator"];

/** The pages in the order of the bar. */
export const PAGES: readonly Page[] = [
  { name: "look-up", title: "Look up" },
  { name: "overview", title: "Overview", scopes: VIEWERS },
  { name: "table", title: "Table", scopes: VIEWERS },
  { name: "history", title: "History", scopes: VIEWERS },
  { name: "canary", title: "Canary", scopes: VIEWERS },
  { name: "moves", title: "Moves", scopes: VIEWERS },
  { name: "stock", title: "Limits", scopes: VIEWERS },
  { name: "mint", title: "Mint", scopes: VIEWERS },
  { name: "layouts", title: "Layouts" },
];
