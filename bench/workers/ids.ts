import { idCandidates, type SyncCandidate } from "../id-candidates.ts";

/** Runs one of the ID candidates so many times: `/?candidate=NAME&times=N`. Who asks does the timing. */

let candidates: readonly SyncCandidate[] | undefined;

export default {
  fetch(request: Request): Response {
    candidates ??= idCandidates();
    const changeRequest = new URL(request.url).searchParams;
    const candidate = candidates.find(({ name }) => name === changeRequest.get("candidate"));
    if (candidate === undefined) return new Response("no such candidate", { status: 404 });
    return new Response(String(candidate.run(Number(changeRequest.get("times")))));
  },
};
