import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objectsOf } from "../../cli/fake-runtime.ts";
import { tableFolder, waybill } from "../command.ts";
import { readDemoTable } from "../demo/demo.ts";
import { type Stack, startStack } from "../stack.ts";

/** The commands of a table's life against the real thing, with tokens of both scopes. */

const OPERATOR = "an-operator-of-this-test-alone-0123456789";
const VIEWER = "a-viewer-of-this-test-alone-0123456789";
const ADMIN_TOKENS = JSON.stringify([
  { name: "ann", scope: "operator", sha256: createHash("sha256").update(OPERATOR).digest("hex") },
  { name: "vic", scope: "viewer", sha256: createHash("sha256").update(VIEWER).digest("hex") },
]);

const KZ_ORDER = "019e807a-ec00-8005-805e-2d8e9c7ac355";
// A directory may have keys of any region: with one, no region is without routes.
const { directory: _, ...demo } = readDemoTable();
const { shop: __, ...entities } = demo.entities;
const before = { ...demo, entities };
const after = {
  ...before,
  routes: before.routes.map((route) => (route.region === "ap" ? { ...route, region: "us" } : route)),
};

let stack: Stack;
let cwd = "";

beforeAll(async () => {
  stack = await startStack(before, { ADMIN_TOKENS, TABLE_REFRESH_SECONDS: "86400" });
  cwd = tableFolder(after);
  writeFileSync(
    join(cwd, "requests.ndjson"),
    `${JSON.stringify({ method: "GET", path: `/orders/${KZ_ORDER}` })}\n/mint\n`,
  );
});
afterAll(() => stack.stop());

const as = (token: string | undefined, ...args: readonly string[]) =>
  waybill(["table", ...args], {
    cwd,
    env: { WAYBILL_GATEWAY: stack.url, ...(token === undefined ? {} : { WAYBILL_TOKEN: token }) },
  });
const operator = (...args: readonly string[]) => as(OPERATOR, ...args);
const viewer = (...args: readonly string[]) => as(VIEWER, ...args);

const regionOf = async (id: string): Promise<unknown> => {
  const response = await fetch(`${stack.url}/-/ids/${id}`, { headers: { authorization: `Bearer ${VIEWER}` } });
  const { decision } = (await response.json()) as { readonly decision?: { readonly region?: string } };
  return decision?.region;
};

/** Isolates look at KV once a second. */
const eventually = async (check: () => Promise<void>): Promise<void> => {
  for (const deadlineMs = Date.now() + 20_000; ; await new Promise((resolve) => setTimeout(resolve, 300))) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadlineMs) throw error;
    }
  }
};

const revisionIn = ({ stdout }: { readonly stdout: string }): number => Number(objectsOf(stdout)[0]?.["revision"]);

describe("a table's life from the command line, at a gateway that runs", () => {
  let first = 0;
  let second = 0;

  it("is shown to those who have a token, and changed by operators alone", async () => {
    const unknown = await as(undefined, "status");
    expect(unknown).toMatchObject({ stdout: "", code: 1, stderr: expect.stringContaining("(unauthenticated, 401)") });
    const refused = await viewer("publish", "routing-table.json", "--yes");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("(forbidden, 403)\n  the token in") });
    const [status] = objectsOf((await viewer("status", "--json")).stdout) as [
      { readonly controlPlane: { readonly revision: number } },
    ];
    first = status.controlPlane.revision;
  });

  it("is planned: what changes, which caps, and nothing of it done", async () => {
    const { stdout, stderr, code } = await viewer("plan", "routing-table.json", "--json");
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    const [plan] = objectsOf(stdout);
    expect(plan).toMatchObject({
      basedOn: first,
      changes: { routes: { differ: true } },
      warnings: [{ kind: "region-without-routes", region: "ap" }],
    });
    const [capacity] = objectsOf((await viewer("capacity", "--json")).stdout);
    expect(capacity).toMatchObject({ routes: { used: before.routes.length } });
  });

  it("is published, seen by every probe, and routed by", async () => {
    expect(await regionOf(KZ_ORDER)).toBe("ap");
    const published = await operator(
      "publish",
      "routing-table.json",
      "--yes",
      "--note",
      "us for a day – tried",
      "--json",
      "--wait=30",
    );
    expect(published.stderr).toContain("order (iuid)");
    second = revisionIn(published);
    expect(second).toBe(first + 1);
    const [{ propagation }] = objectsOf(published.stdout) as [Record<string, unknown>];
    expect(propagation).toEqual({ seen: true, firstSeenMs: expect.any(Number), lastSeenMs: expect.any(Number) });
    const { stdout, code } = await viewer("status", "--probe", "12");
    expect(stdout).toContain(`12 of 12  revision ${second}  memory\n`);
    expect(code).toBe(0);
    expect(await regionOf(KZ_ORDER)).toBe("us");
    const again = await operator("publish", "routing-table.json");
    expect(again).toMatchObject({ code: 0, stderr: `nothing to publish: revision ${second} has the same text\n` });
  });

  it("is refused to whoever saw an older one", async () => {
    const late = await operator("publish", "routing-table.json", "--yes", "--expect", String(first));
    expect(late.code).toBe(3);
    expect(late.stderr).toContain(`--expect ${second}\n`);
  });

  it("has requests of the past replayed through two of its revisions", async () => {
    const args = ["replay", "requests.ndjson", "--old", String(first), "--new", String(second), "--exit-code"];
    expect(await viewer(...args)).toMatchObject({
      stdout: `GET /orders/${KZ_ORDER}  order  ap → us\n`,
      stderr: "2 requests: 1 routed differently, 1 unchanged\n  order  ap → us  1 request  50 %\n",
      code: 2,
    });
  });

  it("is tried by some first: a canary that starts, is refused a rival, and ends", async () => {
    writeFileSync(join(cwd, "declared.json"), JSON.stringify(before));
    const started = await operator("canary", "declared.json", "--entity", "order", "--yes", "--wait=30");
    expect(started.stdout).toMatch(
      /^accepted for order: revision (\d+) \(canary, by ann\): .*\nin force here after \d\.\d\d s; 10 consecutive probes saw revision \d+, canary \1 after \d\.\d\d s\n$/,
    );
    const status = await viewer("status", "--probe", "12");
    expect(status.stdout).toMatch(
      /^canary +revision (\d+) +order .*\nToo few requests to judge: .*\nprobes\n {2}12 of 12 {2}revision \d+, canary \1 /m,
    );
    expect(status.code).toBe(0);
    expect(await regionOf(KZ_ORDER)).toBe("ap");
    const rival = await operator("publish", "declared.json", "--yes");
    expect(rival).toMatchObject({ code: 1, stderr: expect.stringContaining("(canary-running, ") });
    const aborted = await operator("abort", "--yes", "--expect", /revision (\d+) /.exec(started.stdout)?.[1] ?? "");
    expect(aborted.stdout).toContain(`accepted for all IDs: revision ${second} `);
    expect(aborted.stdout).toMatch(/\nin force here after \d\.\d\d s; on Cloudflare within 2 minutes everywhere\n$/);
    expect(await regionOf(KZ_ORDER)).toBe("us");
    const waited = await viewer("status", "--wait=30");
    expect(waited.stdout).toMatch(/\nin force here after \S+ s; 10 consecutive probes saw revision \d+ after \S+ s\n$/);
    expect(waited.code).toBe(0);
    expect((await operator("promote", "--yes")).stderr).toContain("error: no canary is running");
  });

  it("is rolled back as a new revision, and tells its history", async () => {
    const back = await operator("rollback", String(first), "--yes", "--note", "enough", "--json");
    const third = revisionIn(back);
    expect(third).toBeGreaterThan(second);
    await eventually(async () => expect(await regionOf(KZ_ORDER)).toBe("ap"));
    const history = objectsOf((await viewer("history", "--json")).stdout);
    expect(history[0]).toMatchObject({
      revision: third,
      kind: "rollback",
      basedOn: first,
      author: "ann",
      note: "enough",
    });
    expect(history).toContainEqual(expect.objectContaining({ revision: second, note: "us for a day – tried" }));
    const audit = objectsOf((await viewer("audit", "--json")).stdout);
    expect(audit[0]).toMatchObject({ action: "rollback", revision: third, outcome: "done", author: "ann" });
    expect(audit).toContainEqual(expect.objectContaining({ action: "publish", outcome: "canary-running" }));
    expect(audit).toContainEqual(expect.objectContaining({ author: "vic", action: "publish", outcome: "forbidden" }));
    const audience = { entities: ["order"] };
    expect(history).toContainEqual(expect.objectContaining({ kind: "canary", audience }));
    for (const action of ["canary", "abort"]) {
      expect(audit).toContainEqual(expect.objectContaining({ action, outcome: "done", audience }));
    }
  });
});
