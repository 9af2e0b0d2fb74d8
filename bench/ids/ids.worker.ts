import { candidateWorker } from "../lib/candidate-worker.ts";
import { idCandidates } from "./id-candidates.ts";

export default candidateWorker(idCandidates);
