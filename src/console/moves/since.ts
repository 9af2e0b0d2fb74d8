import { useEffect, useState } from "preact/hooks";
import type { RuleView } from "../../formats/console-api.ts";
import { call } from "../app/api.ts";

export type Since = NonNullable<RuleView["since"]>;

/** Each costs the gateway a look through its history. */
const ASKED_MAX = 12;

/** The revisions that wrote the entries of some IDs, asked for one after the other. Of more than a few nothing is known. */
export function useSince(ids: readonly string[], revision: number): ReadonlyMap<string, Since> {
  const [known, setKnown] = useState<ReadonlyMap<string, Since>>(new Map());
  const asked = ids.slice(0, ASKED_MAX);
  useEffect(() => {
    const left = new AbortController();
    void (async () => {
      for (const id of asked) {
        const answer = await call<RuleView>(`/-/console/rule/${encodeURIComponent(id)}`, { signal: left.signal });
        if (left.signal.aborted) return;
        const since = answer.ok ? answer.value.since : null;
        if (since) setKnown((before) => new Map(before).set(id, since));
      }
    })();
    return () => left.abort();
  }, [asked.join(" "), revision]);
  return known;
}
