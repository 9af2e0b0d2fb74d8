import { signatureCandidates } from "../signature-candidates.ts";

/** Runs one of the candidates so many times: `/?candidate=NAME&times=N`. Who asks does the timing. */
export default {
  async fetch(request: Request): Promise<Response> {
    const changeRequest = new URL(request.url).searchParams;
    const candidate = (await signatureCandidates()).find(({ name }) => name === changeRequest.get("candidate"));
    if (candidate === undefined) return new Response("no such candidate", { status: 404 });
    return new Response(String(await candidate.run(Number(changeRequest.get("times")))));
  },
};
