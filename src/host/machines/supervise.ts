/** A process that runs. */
export interface Running {
  /** Resolves with the exit code. */
  readonly exited: Promise<number>;
  /** Lets running requests finish within a deadline, or until `atOnce`: whether some were cut off. */
  stop(deadlineMs: number, atOnce?: Promise<void>): Promise<boolean>;
}

export interface Clock {
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface SuperviseOptions<Process extends Running> {
  readonly clock: Clock;
  /** `isFirst`: none has run yet. */
  readonly start: (isFirst: boolean) => Promise<Process>;
  /** Whether a first start that failed is tried again: another one may not fail. */
  readonly isRetried: (error: Error) => boolean;
  /** Why a start would fail just now, in words; `undefined`: nothing is known of that. */
  readonly obstacle?: (() => Promise<string | undefined>) | undefined;
  readonly stopMs: number;
  /** Whether it waits for a first `release`. */
  readonly isHeld?: boolean | undefined;
  /** How the process is called in sentences for operators. */
  readonly name: string;
  readonly report: (sentence: string) => void;
}

export interface Supervisor<Process> {
  /** Resolves with the first process that runs. Rejects if none could be started; then nothing runs. */
  readonly first: Promise<Process>;
  /** Stops the process, and starts none until `release`. */
  hold(): void;
  release(): void;
  /** Ends for good: whether requests were cut off. */
  stop(atOnce?: Promise<void>): Promise<boolean>;
}

/** A service manager may signal all processes: one may end before this process hears of it. */
const SIGNAL_DEADLINE_MS = 250;

/** Before the first restart. Each further one waits twice as long. */
const LEAST_MS = 500;

/** The longest of these waits: a node whose bucket cannot be asked starts within it. */
const MOST_MS = 5_000;

/** A start would fail: it is asked this often whether that has ended. */
const OBSTACLE_EVERY_MS = 250;

/** An obstacle may be seen wrongly. */
const OBSTACLE_MAX_MS = 30_000;

/** After this time a process counts as well started. */
const SETTLED_MS = 30_000;

/**
 * The wait before a process starts again. `beforeMs`: the wait before its last start; `undefined` for the first. `ranMs`: how long it ran.
 */
export function restartWaitMs(beforeMs: number | undefined, ranMs: number): number {
  if (beforeMs === undefined || ranMs >= SETTLED_MS) return LEAST_MS;
  return Math.min(beforeMs * 2, MOST_MS);
}

/** Keeps a process running: one that ends by itself starts again. */
export function supervise<Process extends Running>(options: SuperviseOptions<Process>): Supervisor<Process> {
  const { clock, name, report, stopMs } = options;
  let isHeld = options.isHeld === true;
  let isStopping = false;
  let current: Process | undefined;
  let wake: () => void = () => undefined;
  const first = deferred<Process>();
  let hasRun = false;

  /** Ends early when the process is to be held, released or stopped. */
  const change = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  const pause = (ms: number) => Promise.race([clock.sleep(ms), change()]);

  /** One life of the process; the sentence says how it ended. */
  async function live(): Promise<string> {
    try {
      const process = await options.start(!hasRun);
      hasRun = true;
      current = process;
      first.resolve(process);
      // It was held or stopped while it started.
      if (isHeld || isStopping) void process.stop(stopMs);
      return `${name} ended with code ${await process.exited}`;
    } finally {
      current = undefined;
    }
  }

  const ask = async (): Promise<string | undefined> => options.obstacle?.().catch(() => undefined);
  const obstacle = async (): Promise<string | undefined> => (await Promise.race([ask(), change()])) ?? undefined;

  /** A question that a silent store holds up keeps no later one from an answer. */
  async function untilClear(leastMs: number): Promise<void> {
    const untilMs = clock.nowMs() + OBSTACLE_MAX_MS;
    let isOver = false;
    const look = async () => {
      if ((await ask()) !== undefined || isOver) return;
      isOver = true;
      wake();
    };
    await pause(leastMs);
    while (!isOver && !isHeld && !isStopping && clock.nowMs() < untilMs) {
      void look();
      await pause(OBSTACLE_EVERY_MS);
    }
    isOver = true;
  }

  async function run(): Promise<void> {
    let waitMs: number | undefined;
    while (!isStopping) {
      if (isHeld) {
        await change();
        continue;
      }
      const beganMs = clock.nowMs();
      let ended: string;
      try {
        ended = await live();
      } catch (error) {
        const failure = error instanceof Error ? error : new Error(String(error));
        if (!hasRun && !options.isRetried(failure)) {
          isStopping = true;
          first.reject(failure);
          return;
        }
        // Its output is in the log already.
        ended = `${name} did not start: ${failure.message.split("\n", 1)[0]}`;
      }
      if (isHeld || isStopping) continue;
      const ranMs = clock.nowMs() - beganMs;
      await pause(SIGNAL_DEADLINE_MS);
      const why = await obstacle();
      if (isStopping) return;
      if (isHeld) continue;
      waitMs = restartWaitMs(waitMs, ranMs);
      if (why !== undefined) {
        report(`${ended}. It starts again when the obstacle is gone: ${why}.`);
        // A store that slows its callers down would be asked without end.
        await untilClear(waitMs);
        continue;
      }
      report(`${ended}. It starts again in ${waitMs / 1000} s.`);
      await pause(waitMs);
    }
  }

  const ended = run();
  return {
    first: first.promise,
    hold() {
      isHeld = true;
      wake();
      void current?.stop(stopMs);
    },
    release() {
      isHeld = false;
      wake();
    },
    async stop(atOnce) {
      isStopping = true;
      wake();
      const isCutOff = (await current?.stop(stopMs, atOnce)) ?? false;
      await Promise.race([ended, ...(atOnce === undefined ? [] : [atOnce])]);
      return isCutOff;
    },
  };
}

function deferred<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<Value>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  // A caller that waits hears of the error; there may be none.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
