import { pooledEntropy } from "../../src/edge/platform.ts";
import * as ids from "../../src/ids/index.ts";
import { candidateWorker } from "../lib/candidate-worker.ts";
import { idCandidates } from "./id-candidates.ts";

export default candidateWorker(() => idCandidates({ ids, pooledEntropy }));
