import { CATALOGUE } from "../../problems/catalogue.ts";
import { ownOf } from "../app/own.ts";

/** Where the title of a problem speaks to its client, the operator gets what happened. */
const WORDS: Readonly<Record<string, string>> = {
  "entity-moving": "Write to a moving entity",
  "origin-open-circuit": "No origin is asked",
  "origin-unreachable": "No origin answers",
  "unassigned-key": "No route takes the ID",
  unauthenticated: "No valid credential",
  "unknown-id": "No layout reads the ID",
  "(other)": "Other problems",
};

export interface ProblemWords {
  readonly title: string;
  readonly status: number | undefined;
}

/** A later gateway may have one that this page does not know. */
export const problemWords = (slug: string): ProblemWords => {
  const known = ownOf<{ readonly status: number; readonly title: string }>(CATALOGUE, slug);
  return { title: ownOf(WORDS, slug) ?? known?.title ?? slug, status: known?.status };
};

export const statusOf = (slug: string): number | undefined => problemWords(slug).status;
