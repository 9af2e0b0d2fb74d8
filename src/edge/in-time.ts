/** What work comes to, or what `late` gives or throws when it takes longer than a time. The work itself goes on. */
export function withTimeout<Value, Late>(
  work: Promise<Value>,
  deadlineMs: number,
  late: (deadlineMs: number) => Late,
): Promise<Value | Late> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // A throw becomes a rejection here as in any other promise.
      new Promise<Late>((give) => give(late(deadlineMs))).then(resolve, reject);
    }, deadlineMs);
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

/** For work without which nothing can be said. */
export function throwTimeout(deadlineMs: number): never {
  throw new Error(`no answer within ${deadlineMs} ms`);
}
