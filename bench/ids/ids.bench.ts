import { Worker } from "node:worker_threads";
import { pooledEntropy } from "../../src/edge/platform.ts";
import * as ids from "../../src/ids/index.ts";
import { nextMessage, OWN_CHECKOUT } from "../lib/checkouts.ts";
import { inNode, inWorkerd } from "../lib/measure.ts";
import type { Bench, BenchOptions, Section } from "../lib/report.ts";
import type { Candidate } from "../lib/sample.ts";
import { idCandidates } from "./id-candidates.ts";
import type { IdRunRequest, IdThreadData } from "./id-thread.ts";

/** Reading and minting IDs. */
export const idsBench: Bench = {
  name: "ids",
  run: async (options) => {
    const candidates = idCandidates({ ids, pooledEntropy });
    for (const { name, against, run } of candidates) {
      const reference = candidates.find((other) => other.name === against && name.includes("parse"));
      // A comparison is valid only if both read the same fields from the same texts.
      if (reference !== undefined && reference.run(1000) !== run(1000))
        throw new Error(`"${name}" and "${against}" differ`);
    }
    return [
      await inNode("IDs", candidates, options),
      await inWorkerd("IDs", candidates, new URL("ids.worker.ts", import.meta.url), options),
      ...(options.against === undefined ? [] : [await besideCheckout(options.against, options)]),
    ];
  },
};

/** Each candidate that both checkouts have, in alternating turns of two threads. */
async function besideCheckout(other: string, options: BenchOptions): Promise<Section> {
  const threads = await Promise.all([other, OWN_CHECKOUT].map(startThread));
  try {
    const [before, now] = threads.map(({ thread, names }, at) =>
      names.map((name): Candidate => {
        const label = at === 0 ? `${name}, of ${other}` : name;
        return {
          name: label,
          ...(at === 1 && threads[0]?.names.includes(name) ? { against: `${name}, of ${other}` } : {}),
          run: (times) => {
            thread.postMessage({ name, times } satisfies IdRunRequest);
            return nextMessage<number>(thread);
          },
        };
      }),
    );
    const both = (now ?? []).filter(({ against }) => against !== undefined);
    const pairs = both.flatMap((own) => [own, ...(before ?? []).filter(({ name }) => name === own.against)]);
    return await inNode(`IDs beside ${other}`, pairs, options);
  } finally {
    await Promise.all(threads.map(({ thread }) => thread.terminate()));
  }
}

async function startThread(checkout: string) {
  const thread = new Worker(new URL("id-thread.ts", import.meta.url), {
    workerData: { checkout } satisfies IdThreadData,
  });
  return { thread, names: await nextMessage<readonly string[]>(thread) };
}
