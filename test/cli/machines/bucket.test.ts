import { describe, expect, it } from "vitest";
import { type BucketNeeds, bucketObstacle, checkBucket } from "../../../src/host/machines/operate/bucket.ts";
import type { ClusterOptions } from "../../../src/host/machines/options.ts";

/** An S3 store in memory that may lack one of the things that a cluster needs. */
type Lack = "if-none-match" | "if-match" | "etag" | "list" | "denied" | "absent" | "slow-down" | "unreachable";

const AT_MS = Date.UTC(2026, 10, 27, 12);

function storeWith(lack: Lack | undefined, dateMs: () => number) {
  const objects = new Map<string, { body: string; etag: string }>();
  const seen: Request[] = [];
  let etags = 0;
  const answer = (status: number, text = "", etag?: string) =>
    new Response(status === 204 || status === 304 ? null : text, {
      status,
      headers: { date: new Date(dateMs()).toUTCString(), ...(etag === undefined ? {} : { etag }) },
    });
  const fetched = async (request: Request): Promise<Response> => {
    const { method, headers } = request;
    const { pathname, searchParams } = new URL(request.url);
    if (lack === "unreachable") throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });
    if (lack === "denied") return answer(403, "<Error><Code>AccessDenied</Code></Error>");
    if (lack === "absent") return answer(404, "<Error><Code>NoSuchBucket</Code></Error>");
    if (lack === "slow-down") return answer(503, "<Error><Code>SlowDown</Code></Error>");
    if (searchParams.has("list-type")) return answer(lack === "list" ? 403 : 200);
    const body = await request.text();
    const held = objects.get(pathname);
    if (method === "DELETE") return objects.delete(pathname) ? answer(204) : answer(404);
    if (method === "GET") return held ? answer(200, held.body, lack === "etag" ? undefined : held.etag) : answer(404);
    if (lack !== "if-none-match" && headers.get("if-none-match") === "*" && held) return answer(412);
    const ifMatch = headers.get("if-match");
    if (lack !== "if-match" && ifMatch !== null && ifMatch !== held?.etag) return answer(412);
    const etag = `"${++etags}"`;
    objects.set(pathname, { body, etag });
    return answer(200, "", etag);
  };
  return {
    objects,
    seen,
    fetch: ((url: URL, init: RequestInit) => {
      const request = new Request(url, { ...init, redirect: "manual" });
      seen.push(request);
      return fetched(request);
    }) as typeof fetch,
  };
}

const CLUSTER: ClusterOptions = {
  bucket: "s3://acme/way/bill",
  bucketOptions: ["aws_endpoint=https://s3.example:9000", "aws_region=eu-1", "aws_credentials_file=/c"],
  address: { host: "127.0.0.1", port: 1 },
  keyFile: "k",
  peers: [],
};
const FILES: Readonly<Record<string, string>> = {
  "/c": "AWS_ACCESS_KEY_ID=AK\nAWS_SECRET_ACCESS_KEY=a-secret\nAWS_SESSION_TOKEN=a-token\n",
};

const NEEDS: Omit<BucketNeeds, "nowMs" | "fetch"> = {
  deadline: () => new AbortController().signal,
  env: () => undefined,
  readText: (path) => FILES[path],
};

async function found(lack?: Lack, { offMs = 0, cluster = CLUSTER, writeMs = 0 } = {}) {
  // The middle of the second that `Date` names.
  let nowMs = AT_MS + 500;
  const store = storeWith(lack, () => nowMs - 500 - offMs);
  const findings = await checkBucket(cluster, {
    ...NEEDS,
    nowMs: () => nowMs,
    fetch: (async (url: URL, init: RequestInit) => {
      const answer = await store.fetch(url, init);
      if (init.method === "PUT") nowMs += writeMs;
      return answer;
    }) as typeof fetch,
  });
  return { ...store, lines: findings.map(({ state, text }) => `${state}: ${text}`) };
}

describe("a check of a bucket", () => {
  it("proves conditional writes, and leaves nothing there", async () => {
    const { lines, objects, seen } = await found();
    expect(lines).toEqual([
      "ok: s3://acme/way/bill has conditional writes",
      "ok: this machine's clock agrees with the bucket's",
    ]);
    expect(objects.size).toBe(0);
    expect(seen.map(({ method }) => method).join(" ")).toBe("PUT PUT PUT PUT GET PUT PUT GET DELETE");
    expect(seen[0]?.url).toMatch(/^https:\/\/s3\.example:9000\/acme\/way\/bill\/waybill-check-[0-9a-f]{16}$/);
    for (const { headers } of seen) {
      expect(headers.get("authorization")).toMatch(/Credential=AK\/20261127\/eu-1\/s3\/aws4_request,/);
      expect(headers.get("x-amz-security-token")).toBe("a-token");
    }
  });

  it.each<readonly [Lack, string]>([
    [
      "if-none-match",
      "error: s3://acme/way/bill let 4 of 4 writes create one object: it ignores if-none-match, and a cluster would lose data",
    ],
    [
      "if-match",
      "error: s3://acme/way/bill ignores if-match, and a cluster would lose data: use a store with conditional writes",
    ],
    ["etag", "error: s3://acme/way/bill gives no etag, which conditional writes need"],
    [
      "list",
      "error: s3://acme/way/bill answered a list with 403: give its credentials the rights to read, write, list and delete, and correct the clock",
    ],
    [
      "denied",
      "error: s3://acme/way/bill answered a write with 403 AccessDenied: give its credentials the rights to read, write, list and delete, and correct the clock",
    ],
    [
      "absent",
      "error: s3://acme/way/bill answered a write with 404 NoSuchBucket: make the bucket, or correct its name",
    ],
    ["slow-down", "error: s3://acme/way/bill answered a write with 503 SlowDown"],
    ["unreachable", "error: s3://acme/way/bill does not answer: connect ECONNREFUSED"],
  ])("names a store that lacks %s", async (lack, line) => {
    const { lines, objects } = await found(lack);
    expect(lines[0]).toBe(line);
    expect(objects.size).toBe(0);
    expect(lines.join()).not.toContain("a-secret");
  });

  it.each<readonly [offMs: number, line: string]>([
    [0, "ok: this machine's clock agrees with the bucket's"],
    [1_000, "note: this machine's clock is about 1.0 s ahead of the bucket's: run NTP"],
    [-1_000, "note: this machine's clock is about 1.0 s behind the bucket's: run NTP"],
    [2_000, "error: this machine's clock is about 2.0 s ahead of the bucket's, and a node leaves at 2 s: run NTP"],
    [-60_000, "error: this machine's clock is about 60.0 s behind the bucket's, and a node leaves at 2 s: run NTP"],
  ])("compares clocks that are %d ms apart", async (offMs, line) => {
    expect((await found(undefined, { offMs })).lines).toContain(line);
  });

  it.each<readonly [writeMs: number, lines: readonly string[]]>([
    [79, []],
    [
      80,
      [
        "warning: a write to the bucket takes 80 ms, so that some creates with a key get 503 while a node is restarted: use a bucket near by",
      ],
    ],
  ])("warns of a bucket whose writes take long: %d ms", async (writeMs, lines) => {
    expect((await found(undefined, { writeMs })).lines.filter((line) => line.startsWith("warning"))).toEqual(lines);
  });

  it("compares clocks where the credentials are refused: a wrong clock may be why", async () => {
    const { lines } = await found("denied", { offMs: -3_600_000 });
    expect(lines[1]).toMatch(/^error: this machine's clock is about 3600.0 s behind/);
  });

  it("says that it does not sign without credentials, and does not ask Google's storage", async () => {
    const open = { ...CLUSTER, bucketOptions: CLUSTER.bucketOptions.slice(0, 2) };
    const { lines, seen } = await found(undefined, { cluster: open });
    expect(lines[0]).toBe("note: s3://acme/way/bill: no credentials are there, so its requests are not signed");
    expect(seen.some(({ headers }) => headers.has("authorization"))).toBe(false);
    const google = await found(undefined, { cluster: { ...CLUSTER, bucket: "gs://acme", bucketOptions: [] } });
    expect([google.seen.length, google.lines]).toEqual([0, [expect.stringMatching(/^note: gs:\/\/acme: each node /)]]);
  });
});

describe("an obstacle to the start of a node", () => {
  const obstacle = async (lack?: Lack, cluster = CLUSTER) => {
    const { seen, fetch } = storeWith(lack, () => AT_MS);
    return { why: await bucketObstacle(cluster, { ...NEEDS, nowMs: () => AT_MS, fetch }), seen };
  };
  const of = (text: string) => `s3://acme/way/bill ${text}`;
  const RIGHTS = "give its credentials the rights to read, write, list and delete, and correct the clock";

  it.each<readonly [Lack | undefined, string | undefined]>([
    [undefined, undefined],
    // A start proves these by itself.
    ["if-match", undefined],
    ["list", of(`answered a list with 403: ${RIGHTS}`)],
    ["denied", of(`answered a list with 403 AccessDenied: ${RIGHTS}`)],
    ["absent", of("answered a list with 404 NoSuchBucket: make the bucket, or correct its name")],
    ["slow-down", of("answered a list with 503 SlowDown")],
    ["unreachable", of("does not answer: connect ECONNREFUSED")],
  ])("is a bucket that lacks %s", async (lack, why) => {
    const { why: found, seen } = await obstacle(lack);
    expect([found, seen.map(({ method }) => method)]).toEqual([why, ["GET"]]);
  });

  it.each([
    ["whose credentials are of another source", { ...CLUSTER, bucketOptions: CLUSTER.bucketOptions.slice(0, 2) }],
    ["of Google, which is not asked", { ...CLUSTER, bucket: "gs://acme", bucketOptions: [] }],
  ])("is not known of a bucket %s", async (_, cluster) => {
    expect(await obstacle("denied", cluster)).toEqual({ why: undefined, seen: [] });
  });
});
