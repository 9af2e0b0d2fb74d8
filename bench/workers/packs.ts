import { type PackWork, packWork } from "../pack-candidates.ts";

/** Runs one of the candidates on packs so many times: `/?candidate=NAME&times=N`. `candidate=bytes` tells the memory of the pack. */

let made: Promise<PackWork> | undefined;

export default {
  async fetch(request: Request): Promise<Response> {
    made ??= packWork();
    const { candidates, pack } = await made;
    const changeRequest = new URL(request.url).searchParams;
    if (changeRequest.get("candidate") === "bytes") return new Response(String(pack.bytes));
    const candidate = candidates.find(({ name }) => name === changeRequest.get("candidate"));
    if (candidate === undefined) return new Response("no such candidate", { status: 404 });
    return new Response(String(await candidate.run(Number(changeRequest.get("times")))));
  },
};
