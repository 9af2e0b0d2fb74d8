import { candidateWorker } from "../lib/candidate-worker.ts";
import { packWork } from "./pack-candidates.ts";

export default candidateWorker(async () => (await packWork()).candidates);
