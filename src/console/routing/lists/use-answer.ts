import { useEffect, useState } from "preact/hooks";
import { call, inOrder, type Problem } from "../../app/api.ts";

export interface Asked<Value> {
  /** The last one that came: it stays while the gateway does not answer. */
  readonly value?: Value | undefined;
  readonly problem?: Problem | undefined;
  readonly again: () => void;
}

/** An answer of the gateway, asked again every so often while the page is open; and at once when `key` changes. */
export function useAnswer<Value>(path: string, everyMs: number, key: unknown = path): Asked<Value> {
  const [state, setState] = useState<Omit<Asked<Value>, "again">>({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    const gone = new AbortController();
    const turn = inOrder();
    const ask = async () => {
      const isNews = turn();
      const answer = await call<Value>(path, { signal: gone.signal });
      if (gone.signal.aborted || !isNews()) return;
      setState(({ value }) => (answer.ok ? { value: answer.value } : { value, problem: answer.problem }));
    };
    void ask();
    const timer = setInterval(() => void ask(), everyMs);
    return () => {
      gone.abort();
      clearInterval(timer);
    };
  }, [path, everyMs, key, round]);
  return { ...state, again: () => setRound((before) => before + 1) };
}
