/** A time of its own: it goes on when nothing else happens. */
export function virtualTime() {
  let nowMs = 1_000_000;
  const due: { readonly atMs: number; readonly wake: () => void }[] = [];
  const pause = (ms: number) => new Promise<void>((wake) => void due.push({ atMs: nowMs + ms, wake }));
  return {
    clock: { nowMs: () => nowMs },
    pause,
    within: <Value>(work: Promise<Value>, ms: number) => Promise.race([work, pause(ms).then(() => undefined)]),
    /** Until the work has ended. */
    async run<Value>(work: Promise<Value>): Promise<Value> {
      let isOver = false;
      const ended = work.finally(() => {
        isOver = true;
      });
      ended.catch(() => undefined);
      for (;;) {
        for (let turn = 0; turn < 50; turn++) await Promise.resolve();
        if (isOver) return ended;
        const next = due.toSorted((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) throw new Error("nothing is left to happen");
        due.splice(due.indexOf(next), 1);
        nowMs = Math.max(nowMs, next.atMs);
        next.wake();
      }
    },
  };
}
