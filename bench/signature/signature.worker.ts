import { candidateWorker } from "../lib/candidate-worker.ts";
import { signatureCandidates } from "./signature-candidates.ts";

export default candidateWorker(signatureCandidates);
