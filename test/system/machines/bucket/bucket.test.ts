import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type RunningBucket, startBucket } from "./bucket.ts";
import { ask, type BucketAccess, type BucketCall } from "./client.ts";
import { describeContract } from "./contract.ts";
import type { Fault } from "./fault.ts";

let bucket: RunningBucket;
let access: BucketAccess;
beforeAll(async () => {
  bucket = await startBucket();
  access = { url: bucket.url, name: bucket.name, accessKey: "node1", secretKey: "secret" };
});
afterEach(async () => {
  await bucket.setFaults([]);
  await bucket.shiftClock(0);
});
afterAll(() => bucket.stop());

const statusOf = (call: BucketCall, as = access): Promise<number | string> =>
  ask(as, call).then(
    ({ status }) => status,
    () => "no answer",
  );
const put = (key: string, as = access) => statusOf({ method: "PUT", key, body: "1" }, as);
const get = (key: string, as = access) => statusOf({ method: "GET", key }, as);

describe("the stand-in by the contract of stores", () => {
  describeContract(() => access);

  it("answers a match of nothing with 404, as S3 does", async () => {
    expect(await statusOf({ method: "PUT", key: "nothing", headers: { "if-match": '"a"' }, body: "1" })).toBe(404);
  });

  it("tells of what it does not know", async () => {
    expect(await statusOf({ method: "POST", key: "a", query: { uploads: "" } })).toBe(501);
    expect((await bucket.counts()).unknown).toEqual(["POST /acme/a?uploads="]);
  });
});

describe("faults", () => {
  it.for<[Fault, number | string, number]>([
    [{ kind: "reset" }, "no answer", 404],
    [{ kind: "status", status: 500 }, 500, 404],
    [{ kind: "status", status: 503 }, 503, 404],
    [{ kind: "status", status: 403 }, 403, 404],
    [{ kind: "answer-lost" }, "no answer", 200],
    [{ kind: "delay", ms: 50 }, 200, 200],
  ])("%j: %s, and a read afterwards %s", async ([fault, seen, afterwards]) => {
    const key = `faults/${JSON.stringify(fault)}`;
    await bucket.setFaults([fault]);
    const startMs = performance.now();
    expect(await put(key)).toBe(seen);
    if (fault.kind === "delay") expect(performance.now() - startMs).toBeGreaterThanOrEqual(fault.ms - 1);
    await bucket.setFaults([]);
    expect(await get(key)).toBe(afterwards);
  });

  it("a black hole answers nothing, and does nothing", async () => {
    await bucket.setFaults([{ kind: "black-hole" }]);
    const silent = new Promise((resolve) => setTimeout(resolve, 100, "silent"));
    const asked = put("hole");
    expect(await Promise.race([asked, silent])).toBe("silent");
    await bucket.setFaults([]);
    expect(await get("hole")).toBe(404);
  });

  it("concern only whom they name, and so often", async () => {
    const other = { ...access, accessKey: "node2" };
    await put("scope/a");
    await bucket.setFaults([
      { kind: "status", status: 503, accessKey: "node2", methods: ["GET"], prefix: "scope/", times: 2 },
    ]);
    expect(await get("scope/a")).toBe(200);
    expect(await put("scope/a", other)).toBe(200);
    expect(await get("else", other)).toBe(404);
    expect([await get("scope/a", other), await get("scope/a", other), await get("scope/a", other)]).toEqual([
      503, 503, 200,
    ]);
    await bucket.setFaults([{ kind: "reset", address: "10.9.9.9" }]);
    expect(await get("scope/a")).toBe(200);
  });

  it("is down and up again with all its objects", async () => {
    await put("kept");
    await bucket.setDown(true);
    expect(await get("kept")).toBe("no answer");
    await bucket.setDown(false);
    expect(await get("kept")).toBe(200);
  });

  it("shifts the clock of its answers", async () => {
    await bucket.shiftClock(-60_000);
    const { headers } = await ask(access, { method: "GET", key: "none" });
    expect(Math.abs(Date.parse(headers.get("date") ?? "") - (Date.now() - 60_000))).toBeLessThan(20_000);
  });
});
