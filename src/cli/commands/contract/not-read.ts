import { groupBy } from "../../../routing/layouts/plan.ts";
import { countOf } from "../../lib/output.ts";
import type { NotRead, NotReadReason } from "./paths.ts";

/** Parts named for each reason; all are counted. */
const NAMED_MAX = 5;

/** A longer name fills the line. */
const NAME_LENGTH_MAX = 80;

/** One line of `--json`. It is no finding: the document may be right. */
export interface NotReadGroup {
  readonly kind: "not-read";
  readonly reason: NotReadReason;
  readonly count: number;
  /** The first ones, in the order of the document. */
  readonly first: readonly Pick<NotRead, "pointer" | "text">[];
}

/** Singular, plural, and how the command takes them. */
const WORDS: Readonly<Record<NotReadReason, readonly [string, string, string]>> = {
  webhook: ["webhook", "webhooks", "not compared, because the API sends them"],
  callback: ["callback", "callbacks", "not compared, because the API sends them"],
  "path-key": ["key of paths without a slash at its start", "keys of paths without a slash at their start", "not read"],
  "path-item": ["path without an object", "paths without an object", "not read"],
  "path-query": ["path with a query or fragment", "paths with a query or fragment", "compared without it"],
  server: ["server of unknown base path", "servers of unknown base path", "name it with --base-path"],
  segment: ["path with other text beside an ID", "paths with other text beside an ID", "a table names whole segments"],
  "many-segments": [
    "path with a parameter of several segments",
    "paths with a parameter of several segments",
    "compared as one segment",
  ],
};

/** By reason, in the order of `WORDS`. */
export const groupNotRead = (all: readonly NotRead[]): readonly NotReadGroup[] => {
  const byReason = groupBy(all, ({ reason }) => reason);
  return (Object.keys(WORDS) as NotReadReason[]).flatMap((reason): readonly NotReadGroup[] => {
    const group = byReason.get(reason);
    if (group === undefined) return [];
    const first = group.slice(0, NAMED_MAX).map(({ pointer, text }) => ({ pointer, text }));
    return [{ kind: "not-read", reason, count: group.length, first }];
  });
};

/** A line for stderr: `not read: 3 webhooks (not compared, because the API sends them): ping, push, star`. */
export const formatNotRead = ({ reason, count, first }: NotReadGroup): string => {
  const [one, many, how] = WORDS[reason];
  const more = count > first.length ? ", …" : "";
  return `not read: ${countOf(count, one, many)} (${how}): ${first.map(shown).join(", ")}${more}`;
};

const shown = ({ text }: { readonly text: string }): string =>
  text.length <= NAME_LENGTH_MAX ? text : `${text.slice(0, NAME_LENGTH_MAX - 1)}…`;
