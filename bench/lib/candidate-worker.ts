import type { Candidate } from "./sample.ts";

/** A Worker that runs candidates: `/?candidate=NAME&times=N`. The caller does the timing: workerd's clock stands still. */
export function candidateWorker(make: () => readonly Candidate[] | Promise<readonly Candidate[]>) {
  let made: Promise<readonly Candidate[]> | undefined;
  return {
    async fetch(request: Request): Promise<Response> {
      made ??= Promise.resolve(make());
      const query = new URL(request.url).searchParams;
      const candidate = (await made).find(({ name }) => name === query.get("candidate"));
      if (candidate === undefined) return new Response("no such candidate", { status: 404 });
      return new Response(String(await candidate.run(Number(query.get("times")))));
    },
  };
}
