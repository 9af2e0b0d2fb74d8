import { useEffect, useState } from "preact/hooks";
import type { HistorySpan, MetricsHistory } from "../../../formats/console-api.ts";
import { call } from "../../app/api.ts";

/** Figures that a change is measured by. Either is absent where it could not be read. */
export interface Figures {
  readonly hour?: MetricsHistory;
  readonly day?: MetricsHistory;
}

/** `undefined` until both have come. */
export function useFigures(): Figures | undefined {
  const [figures, setFigures] = useState<Figures>();
  useEffect(() => {
    let isGone = false;
    void Promise.all((["hour", "day"] as const).map(figuresOf)).then(([hour, day]) => {
      if (!isGone) setFigures({ ...(hour && { hour }), ...(day && { day }) });
    });
    return () => {
      isGone = true;
    };
  }, []);
  return figures;
}

export async function figuresOf(span: HistorySpan): Promise<MetricsHistory | undefined> {
  const answer = await call<MetricsHistory>(`/-/metrics/history?span=${span}`);
  return answer.ok && answer.value.source === "all" ? answer.value : undefined;
}
