import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sendAgain } from "../../../docs/examples/send-again.ts";
import { CATALOGUE, PROBLEM_SLUGS, type ProblemSlug } from "../../../src/problems/catalogue.ts";

const fileAt = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const page = fileAt("docs/guides/mobile-apps.md");

describe("docs/guides/mobile-apps.md", () => {
  it("names the function that is tested here", () => expect(page).toContain("(../examples/send-again.ts)"));

  const rows = [...page.matchAll(/^\| (\d{3}) \| ([^|]*) \| [^|]+ \|$/gm)].flatMap(([, status, slugs = ""]) =>
    [...slugs.matchAll(/`([a-z-]+)`/g)].map(([, slug = ""]) => [slug, Number(status)] as const),
  );

  it("has a row for each problem that an app can meet", () => {
    // Problems of endpoints that no app uses, between gateways, or of deployments that are not set up.
    const others =
      /^(not-found|hop-|body-too-large$|key-out-of-range|clock-behind|sequence-|public-ids-unavailable|(un)?auth|forbidden|stale-(?:revision|key)|claim-lost|key-(?:reserved|taken)|directory-full|console-|state-|invalid-(?:table|pack)|canary-running|no-canary|unknown-(?:revision|pack)|control-plane-|precondition-)/;
    const listed = rows.map(([slug]) => slug);
    expect(listed.toSorted()).toEqual(PROBLEM_SLUGS.filter((slug) => !others.test(slug)).toSorted());
  });

  it.each(rows)("gives %s its status %d", (slug, status) => {
    expect(CATALOGUE[slug as ProblemSlug].status).toBe(status);
  });
});

const problem = (slug: string, status: number, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify({ type: `/-/problems/${slug}`, status }), {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
  });

const BROKEN = "broken";

/** How often a request was sent, what came of it and how long the pauses were, when the answers come one after the other. */
async function send(method: string, answers: readonly (Response | typeof BROKEN)[], key?: string) {
  const bodies: string[] = [];
  const pauses: number[] = [];
  const request = new Request("https://api.example.com/orders", {
    method,
    body: method === "GET" ? null : "body",
    headers: key === undefined ? {} : { "idempotency-key": key },
  });
  const outcome = await sendAgain(request, {
    fetch: async (sent) => {
      bodies.push(await sent.text());
      const answer = answers[bodies.length - 1] ?? new Response("done");
      if (answer === BROKEN) throw new TypeError("no answer");
      return answer.clone();
    },
    pause: async (ms) => {
      pauses.push(ms);
    },
    random: () => 0.5,
  }).then(
    ({ status }) => status,
    (error: Error) => error.message,
  );
  return { sent: bodies.length, bodies, outcome, pauses };
}

describe("an app sends again", () => {
  it.each([
    "rate-limited",
    "table-unavailable",
    "origin-open-circuit",
    "entity-moving",
    "body-too-large-to-replay",
    "origins-disagree",
    "idempotency-key-in-use",
    "idempotency-unavailable",
  ] as const)("any request after %s, with its body", async (slug) => {
    const { status } = CATALOGUE[slug];
    expect(await send("POST", [problem(slug, status)])).toMatchObject({
      sent: 2,
      bodies: ["body", "body"],
      outcome: 200,
    });
  });

  it.each([
    ["GET", undefined],
    ["PUT", undefined],
    ["DELETE", undefined],
    ["POST", "5e1f"],
    ["PATCH", "5e1f"],
  ])("%s with key %s after whatever may pass", async (method, key) => {
    const answers = [BROKEN, problem("origin-unreachable", 502), new Response("busy", { status: 503 })] as const;
    expect(await send(method, answers, key)).toMatchObject({ sent: 4, outcome: 200 });
  });

  it.each(["POST", "PATCH"])("but not %s without a key, which may have been done", async (method) => {
    expect(await send(method, [BROKEN])).toMatchObject({ sent: 1, outcome: "no answer" });
    for (const answer of [problem("origin-timeout", 504), new Response("busy", { status: 503 })]) {
      expect(await send(method, [answer])).toMatchObject({ sent: 1, outcome: answer.status });
    }
  });

  it.each([
    problem("answer-withheld", 502),
    problem("invalid-response", 502),
    problem("entity-gone", 410),
    problem("region-unknown", 400),
    problem("ambiguous-id", 409),
    new Response("taken", { status: 409 }),
    problem("internal-error", 500),
    new Response("gone", { status: 404 }),
    new Response(null, { status: 304 }),
  ])("nothing after an answer that will not change: %#", async (answer) => {
    expect(await send("GET", [answer])).toMatchObject({ sent: 1, outcome: answer.status });
  });

  it("four times at most", async () => {
    expect(await send("GET", Array(9).fill(BROKEN))).toMatchObject({ sent: 4, outcome: "no answer" });
    expect(await send("GET", Array(9).fill(problem("origin-timeout", 504)))).toMatchObject({ sent: 4, outcome: 504 });
  });

  it("after pauses that grow, and as long as the gateway says", async () => {
    expect((await send("GET", [BROKEN, BROKEN, BROKEN])).pauses).toEqual([250, 500, 1000]);
    const moving = problem("entity-moving", 503, { "retry-after": "2" });
    expect((await send("POST", [moving, moving])).pauses).toEqual([2250, 2500]);
    const date = new Response(null, { status: 503, headers: { "retry-after": "Fri, 31 Dec 2027 23:59:59 GMT" } });
    expect((await send("GET", [date])).pauses).toEqual([250]);
    const later = problem("rate-limited", 429, { "retry-after": "60" });
    expect(await send("GET", [later])).toMatchObject({ sent: 1, outcome: 429, pauses: [] });
  });

  it("nothing on the word of a problem that is not the gateway's, or is none", async () => {
    const type = { "content-type": "application/problem+json" };
    for (const body of ['{"type":"https://example.com/entity-moving"}', "{", "null", '{"type":5}', '"/-/problems/x"']) {
      expect(await send("POST", [new Response(body, { status: 503, headers: type })])).toMatchObject({ sent: 1 });
    }
  });

  it("nothing that the user has called off", async () => {
    const request = new Request("https://api.example.com/", { signal: AbortSignal.abort() });
    let sent = 0;
    const fetch = async (): Promise<Response> => {
      sent++;
      throw new Error("aborted");
    };
    const pause = () => Promise.resolve();
    await expect(sendAgain(request, { fetch, pause, random: () => 0 })).rejects.toThrow("aborted");
    expect(sent).toBe(1);
  });
});
