import { parentPort, workerData } from "node:worker_threads";
import { sourceOf } from "../lib/checkouts.ts";
import { type IdModules, idCandidates } from "./id-candidates.ts";

/** The candidates of one checkout in an isolate of their own: neither shares compiled code with the other. */

/** Input of a thread: the folder of the checkout. */
export interface IdThreadData {
  readonly checkout: string;
}

/** Each message asks for runs of a candidate. The reply is a number that depends on all of them. */
export interface IdRunRequest {
  readonly name: string;
  readonly times: number;
}

const { checkout }: IdThreadData = workerData;
const candidates = idCandidates({
  ids: await sourceOf<IdModules["ids"]>(checkout, "ids/index.ts"),
  pooledEntropy: (await sourceOf<Pick<IdModules, "pooledEntropy">>(checkout, "edge/platform.ts")).pooledEntropy,
});
parentPort?.postMessage(candidates.map(({ name }) => name));
parentPort?.on("message", ({ name, times }: IdRunRequest) => {
  parentPort?.postMessage(candidates.find((candidate) => candidate.name === name)?.run(times) ?? Number.NaN);
});
