/** Properties that decide, beside the path, who takes a request. */

/** When an owner takes the paths of its patterns. */
export interface PathConditions {
  /** With HEAD beside GET; `undefined`: all that no other owner of the pattern lists. */
  readonly methods: readonly string[] | undefined;
  /** In lower case, `*.` for any one label; `undefined`: all that no other owner of the pattern lists. */
  readonly hosts: readonly string[] | undefined;
  /** Whether other methods go on to less specific patterns, in place of a 405. */
  readonly passesOthers: boolean;
}

/** How exactly an owner names the host: as one of all others, by `*.`, by its name. */
export type HostRank = 0 | 1 | 2;

/** A request's properties beside its path. */
export interface Asked {
  readonly method: string;
  /** The method that a CORS preflight asks for (Fetch standard): it goes where that request would. */
  readonly preflightFor: string | undefined;
  /** As the client asked for it, with case and port. */
  readonly servedHost: string;
  /** Owners whose hosts are named less exactly than so are none: `hostRankOf` of the entity that refused it. */
  readonly hostRankMin?: HostRank;
  /** Collects the owners that did not take it; for errors alone. */
  readonly passed?: unknown[];
}

/** Why no owner takes a path that some pattern matches. */
export type Untaken = { readonly allow: readonly string[] } | { readonly isOtherHost: true };
