import { describe, expect, it } from "vitest";
import { findOutcome, type PendingChange } from "../../../src/cli/client/change.ts";
import type { GatewayClient } from "../../../src/cli/client/client.ts";
import type { Runtime } from "../../../src/cli/runtime.ts";
import type { AuditEntry, TableRevision } from "../../../src/formats/table-api.ts";
import { ok } from "../../../src/ids/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { type Asked, fakeControlPlane, problem, type Reply } from "../fake-control-plane.ts";
import { FakeClock, objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const [kz, ...others] = DECLARED_TABLE.routes;
const NEXT = { ...DECLARED_TABLE, routes: [{ ...kz, region: "us" }, ...others] };

const setUp = (outcome: "unknown" | "none") => {
  const plane = fakeControlPlane(DECLARED_TABLE);
  const files = tableFiles(NEXT);
  const clock = new FakeClock();
  const made = { revision: 2, text: files.text("routing-table.json"), note: "", basedOn: 1 };
  const publish = () =>
    waybill(["table", "publish", "routing-table.json", "--yes", "--json"], { files, clock, ...plane.access });
  /** The gateway gives the change up, and some time later the history has what `then` says. */
  const loseThe = (then: () => void) => {
    plane.override = ({ method }) => {
      if (method !== "PUT") return undefined;
      clock.after(1_500, then);
      return problem(503, "control-plane-unavailable", "The truth could not be asked.", { outcome });
    };
  };
  return { plane, publish, loseThe, made };
};

describe.concurrent("a publication whose answer does not come", () => {
  it("is reported as applied when the history shows it later", async () => {
    const { plane, publish, loseThe, made } = setUp("unknown");
    loseThe(() => plane.revisions.push({ ...made, kind: "publish" }));
    const { stdout, stderr, code } = await publish();
    expect(code).toBe(0);
    expect(stderr).toContain("outcome unknown: checking the history\n");
    expect(stderr).toContain("the change was made: revision 2 (publish, by ann)");
    expect(stderr).not.toContain("nothing was changed");
    expect(objectsOf(stdout)).toEqual([expect.objectContaining({ revision: 2, kind: "publish" })]);
  });

  it("is reported as a conflict when the history shows another change", async () => {
    const { plane, publish, loseThe, made } = setUp("unknown");
    loseThe(() => plane.revisions.push({ ...made, kind: "publish", note: "another's" }));
    const { stdout, stderr, code } = await publish();
    expect({ stdout, code }).toEqual({ stdout: "", code: 3 });
    expect(stderr).toContain("shows who published revision 2");
  });

  it("is reported as unknown when the history stays the same", async () => {
    const { publish, loseThe } = setUp("unknown");
    loseThe(() => undefined);
    const { stdout, stderr, code } = await publish();
    expect({ stdout, code }).toEqual({ stdout: "", code: 9 });
    expect(stderr).toContain("outcome unknown: the history does not show the change yet");
    expect(stderr).not.toContain("nothing was changed");
  });

  it("has changed nothing where the gateway says so", async () => {
    const { plane, publish, loseThe } = setUp("none");
    loseThe(() => undefined);
    const { stderr, code } = await publish();
    expect(code).toBe(1);
    expect(stderr).toContain("nothing was changed\n");
    expect(plane.asked.at(-1)?.method).toBe("PUT");
  });
});

describe.concurrent("a proxy before the gateway", () => {
  const bad = (status: number): Reply => ({ status, headers: { "content-type": "text/html" }, body: "<html>" });
  const dropped = new TypeError("fetch failed", {
    cause: Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" }),
  });
  const WAYS: readonly (readonly [string, Reply | Error])[] = [
    ["drops the answer", dropped],
    ["answers 502", bad(502)],
    ["answers 504", bad(504)],
  ];

  it.each(WAYS)("%s of a change that was made", async (_, lost) => {
    const { plane, publish, made } = setUp("unknown");
    plane.override = ({ method }) => {
      if (method !== "PUT") return undefined;
      plane.revisions.push({ ...made, kind: "publish" });
      return lost;
    };
    const { stdout, stderr, code } = await publish();
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining("the change was made: revision 2 (publish"),
    });
    expect(objectsOf(stdout)).toEqual([expect.objectContaining({ revision: 2, changed: true })]);
  });

  it.each(WAYS)("%s, and the outcome of the change is unknown", async (_, lost) => {
    const { plane, publish } = setUp("unknown");
    plane.override = ({ method }) => (method === "PUT" ? lost : undefined);
    const { stdout, stderr, code } = await publish();
    expect({ stdout, code }).toEqual({ stdout: "", code: 9 });
    expect(stderr).not.toContain("nothing was changed");
  });
});

describe.concurrent("Ctrl-C", () => {
  /** A publication that is interrupted when the gateway has begun to answer what `isHeld` says, and does not end. */
  const stop = (isHeld: (asked: Asked) => boolean, ...more: readonly string[]) => {
    const plane = fakeControlPlane(DECLARED_TABLE);
    const interrupt = new AbortController();
    plane.override = (asked) => {
      if (!isHeld(asked)) return undefined;
      setImmediate(() => interrupt.abort());
      return { body: new ReadableStream() };
    };
    return waybill(["table", "publish", "routing-table.json", "--yes", ...more], {
      files: tableFiles(NEXT),
      interrupt: interrupt.signal,
      ...plane.access,
    });
  };

  it("while a change is under way says that it may have been made, and where to look", async () => {
    const { stdout, stderr, code } = await stop(({ method }) => method === "PUT");
    expect({ stdout, code }).toEqual({ stdout: "", code: 130 });
    expect(stderr).toMatch(/\nthe change was in progress and may still be made\. .*`waybill table history`.*\n$/);
  });

  it("while a change is waited for says that it was made", async () => {
    const { stdout, stderr, code } = await stop(({ url }) => url === "/-/ready", "--json", "--wait");
    expect({ stdout, code }).toEqual({ stdout: "", code: 130 });
    expect(stderr).toMatch(/\nthe change was made; no longer waiting for it: revision 2 \(publish, by ann\)/);
  });
});

describe("what the history says of a change", () => {
  const revision = (number: number, kind: TableRevision["kind"], digest: string, note = ""): TableRevision => {
    return { revision: number, digest: digest.repeat(64), bytes: 1, author: "ann", time: "", note, kind };
  };
  const find = (
    change: PendingChange,
    revisions: readonly TableRevision[],
    audit: readonly Partial<AuditEntry>[] = [],
  ) => {
    const gateway = { revisions: async () => ok(revisions), audit: async () => ok(audit) } as unknown as GatewayClient;
    return findOutcome(gateway, change, { pause: () => Promise.resolve() } as unknown as Runtime);
  };
  const request = { expectedRevision: 4, note: "why" };
  const before = revision(4, "publish", "a");

  it.each<readonly [string, PendingChange, readonly TableRevision[], object]>([
    ["nothing yet", { kind: "publish", request, digest: "b".repeat(64) }, [before], { outcome: "unknown" }],
    [
      "it, below a change of another author",
      { kind: "publish", request, digest: "b".repeat(64) },
      [revision(6, "rollback", "a"), revision(5, "publish", "b", "why"), before],
      { outcome: "applied", revision: { revision: 5 } },
    ],
    [
      "another text",
      { kind: "promote", request, digest: "b".repeat(64) },
      [revision(5, "promote", "c", "why"), before],
      { outcome: "superseded", revision: { revision: 5 } },
    ],
    [
      "the canary, and the table of the build that came with it",
      { kind: "canary", request },
      [revision(6, "canary", "c", "why"), revision(5, "publish", "d"), before],
      { outcome: "applied", revision: { revision: 6 } },
    ],
    [
      "a canary that still runs",
      { kind: "abort", request },
      [revision(4, "canary", "b"), before],
      { outcome: "unknown" },
    ],
    [
      "a promotion before the abort",
      { kind: "abort", request },
      [revision(5, "promote", "b"), revision(4, "canary", "b")],
      { outcome: "superseded", revision: { revision: 5 } },
    ],
  ])("%s", async (_, change, revisions, found) => {
    expect(await find(change, revisions)).toMatchObject(found);
  });

  it("an abort in the audit", async () => {
    const revisions = [revision(4, "canary", "b"), revision(3, "publish", "a")];
    const done = { action: "abort", revision: 4, outcome: "done" } as const;
    expect(await find({ kind: "abort", request }, revisions, [done])).toMatchObject({
      outcome: "applied",
      revision: { revision: 3 },
    });
    expect(await find({ kind: "abort", request }, revisions, [{ ...done, outcome: "forbidden" }])).toEqual({
      outcome: "unknown",
    });
  });
});
