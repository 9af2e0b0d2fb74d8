import { describe, expect, it } from "vitest";
import { formatWarning, warningsOf } from "../../../src/cli/lib/warnings.ts";
import { checkTable, type DeclaredTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { fakeControlPlane, GATEWAY_URL, problem } from "../fake-control-plane.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const setUp = async (next: object = DECLARED_TABLE) => {
  const plane = fakeControlPlane(DECLARED_TABLE);
  const files = tableFiles(next);
  const table = (...args: readonly string[]) => waybill(["table", ...args], { files, ...plane.access });
  return { plane, files, table };
};

describe.concurrent("waybill table history and audit", () => {
  it("list the newest first, over as many pages as it takes", async () => {
    const { plane, table } = await setUp();
    const [first] = plane.revisions;
    for (let revision = 2; revision <= 230; revision++) {
      if (first) plane.revisions.push({ ...first, revision, kind: "publish", note: `change ${revision}\u001b[0m` });
    }
    const few = await table("history", "--limit", "2");
    expect(few.stdout.split("\n")).toEqual([
      expect.stringMatching(
        /^230 {2}2026-11-21T12:00:00\.000Z {2}publish on 0 {2}ann {2}[0-9a-f]{12} {2}change 230\\u\{1b\}\[0m$/,
      ),
      expect.stringMatching(/^229 /),
      "",
    ]);
    const all = objectsOf((await table("history", "--limit", "1000", "--json")).stdout);
    expect(all.map(({ revision }) => revision)).toEqual(Array.from({ length: 230 }, (_, at) => 230 - at));
    const older = objectsOf((await table("audit", "--before", "3", "--json")).stdout);
    const none = await table("history", "--before", "1");
    expect(none).toEqual({ stdout: "", stderr: "no revisions below 1\n", code: 0 });
    expect(older).toEqual([
      expect.objectContaining({ id: 2, action: "publish", outcome: "done" }),
      expect.objectContaining({ id: 1 }),
    ]);
  });

  it("say whom a canary was for, a long list of names in short, and all of it as JSON", async () => {
    const { plane, table } = await setUp();
    const [first] = plane.revisions;
    const entities = ["order", "ride", "parcel", "person", "invoice", "refund\u001b"];
    for (const [at, audience] of [{ share: 2.5 }, { countries: ["KZ", "UZ"] }, { entities }].entries()) {
      if (first) plane.revisions.push({ ...first, revision: at + 2, kind: "canary", basedOn: at + 1, audience });
    }
    const cellsOf = (stdout: string) =>
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/ {2,}/)[2]);
    expect(cellsOf((await table("history")).stdout)).toEqual([
      "canary on 3 (order, ride, parcel, person and 2 more)",
      "canary on 2 (KZ, UZ)",
      "canary on 1 (2.5 % of the IDs)",
      "publish on 0",
    ]);
    expect(cellsOf((await table("audit")).stdout)).toEqual([
      "canary 4 (order, ride, parcel, person and 2 more)",
      "canary 3 (KZ, UZ)",
      "canary 2 (2.5 % of the IDs)",
      "publish 1",
    ]);
    for (const list of ["history", "audit"]) {
      const audiences = objectsOf((await table(list, "--json")).stdout).map(({ audience }) => audience);
      expect(audiences).toEqual([{ entities }, { countries: ["KZ", "UZ"] }, { share: 2.5 }, undefined]);
    }
  });

  it("say how often a change was refused, and nothing of members that they do not know", async () => {
    const { plane, table } = await setUp();
    const entry = { time: "2026-11-21T12:00:00.000Z", author: "grafana", action: "publish", note: "" };
    const pack = "0f".repeat(32);
    const entries = [
      { ...entry, id: 8, action: "pack", outcome: "done", pack },
      { ...entry, id: 7, outcome: "forbidden", times: 37 },
      // As a gateway of a former version answers, whose database a later one has had.
      { ...entry, id: 6, outcome: "stale-revision", audience_json: null, times_alike: null },
    ];
    plane.override = () => ({ body: { entries } });
    expect((await table("audit", "--limit", "3")).stdout).toBe(
      [
        "8  2026-11-21T12:00:00.000Z  pack 0f0f0f0f0f0f  grafana  done",
        "7  2026-11-21T12:00:00.000Z  publish            grafana  forbidden × 37",
        "6  2026-11-21T12:00:00.000Z  publish            grafana  stale-revision",
        "",
      ].join("\n"),
    );
    expect(objectsOf((await table("audit", "--limit", "3", "--json")).stdout)).toEqual([
      { ...entry, id: 8, action: "pack", outcome: "done", pack },
      { ...entry, id: 7, outcome: "forbidden", times: 37 },
      { ...entry, id: 6, outcome: "stale-revision" },
    ]);
  });
});

describe.concurrent("waybill table status", () => {
  it("shows the control plane, KV and the isolate, and counts what probes saw", async () => {
    const { plane, table } = await setUp();
    let asked = 0;
    plane.override = ({ url }) => {
      if (url !== "/-/ready") return undefined;
      asked += 1;
      const label = asked % 4 === 0 ? "rev=0; source=bundled; age=1" : "rev=1; source=memory; age=2";
      return { headers: { "waybill-table": label }, body: {} };
    };
    const { stdout, code } = await table("status", "--probe", "20");
    expect(asked).toBe(20);
    expect(stdout).toMatch(
      /^control plane {2}revision 1 {2}2026-11-21T12:00:00\.000Z {2}[0-9a-f]{64}\nkv {13}revision 1 .*\nisolate {8}revision 1 {2}memory, 3 s old/,
    );
    expect(stdout).toContain(
      "not every probe saw revision 1\nprobes\n  15 of 20  revision 1  memory\n  5 of 20   revision 0  bundled\n",
    );
    expect(code).toBe(7);
    const [{ probes }] = objectsOf((await table("status", "--probe", "3", "--json")).stdout) as [
      Record<string, unknown>,
    ];
    expect(probes).toEqual([{ revision: 1, source: "memory", count: 3 }]);
  });

  it("says that KV is behind, and why", async () => {
    const { plane, table } = await setUp();
    const digest = "0".repeat(64);
    plane.override = () => ({
      body: {
        controlPlane: { revision: 2, digest },
        kv: null,
        isolate: { revision: 0, source: "bundled", ageSeconds: 9, canary: null },
        pending: true,
        lastError: "KV answered 429",
        canary: null,
      },
    });
    const { stdout, code } = await table("status");
    expect(stdout).toContain("kv             nothing\n");
    expect(stdout).toContain(
      "KV is being updated to revision 2\n" +
        "the responding isolate does not have revision 2 yet\nlast error: KV answered 429\n",
    );
    expect(code).toBe(4);
  });

  it.each([
    ["KV behind", { kv: { revision: 1, canary: null } }, 5, "KV does not have revision 1, canary 2\n"],
    ["KV not to be read", { kv: null, lastError: "store-timeout" }, 5, "last error: store-timeout\n"],
    [
      "the isolate behind by the canary alone",
      { isolate: { revision: 1, canary: null } },
      6,
      "the responding isolate does not have revision 1, canary 2 yet\n",
    ],
    ["nothing behind", {}, 0, "kv             revision 1, canary 2  "],
  ])("tells %s", async (_, differing: { kv?: object | null; isolate?: object }, expected, sentence) => {
    const { plane, table } = await setUp();
    const digest = "0".repeat(64);
    const canary = { revision: 2, digest, share: 5 };
    const checkedAt = "2026-01-01T00:00:00.000Z";
    const kv = differing.kv === null ? null : { revision: 1, digest, canary, checkedAt, ...differing.kv };
    const isolate = { revision: 1, source: "memory", ageSeconds: 9, canary, ...differing.isolate };
    plane.override = () => ({
      body: {
        lastError: null,
        ...differing,
        controlPlane: { revision: 1, digest },
        canary,
        pending: false,
        kv,
        isolate,
      },
    });
    const { stdout, code } = await table("status");
    expect([stdout, code]).toEqual([expect.stringContaining(sentence), expected]);
    const [{ behind }] = objectsOf((await table("status", "--json")).stdout) as [Record<string, unknown>];
    expect(behind).toEqual(expected === 0 ? [] : [expected === 5 ? "kv" : "isolate"]);
  });

  it("waits until all of a row have seen the end of a canary, and says how long that took", async () => {
    const { plane, table } = await setUp();
    let asked = 0;
    plane.override = ({ url }) => {
      if (url !== "/-/ready") return undefined;
      asked += 1;
      const canary = asked > 3 ? null : { revision: 2, digest: "0".repeat(64), share: 5 };
      return { headers: { "waybill-table": "rev=1; source=memory; age=2" }, body: { canary } };
    };
    const { stdout, stderr, code } = await table("status", "--wait", "20", "--probe", "12");
    expect(stdout).toMatch(
      /in force here after \d+\.\d\d s; 12 consecutive probes saw revision 1 after \d+\.\d\d s\n$/,
    );
    expect([stderr, code]).toEqual(["", 0]);
  });

  it("ends a wait in vain with a code of its own, and with what was seen last", async () => {
    const { plane, table } = await setUp();
    plane.override = ({ url }) =>
      url === "/-/ready"
        ? { headers: { "waybill-table": "rev=0; source=bundled; age=2" }, body: { canary: null } }
        : undefined;
    const { stdout, stderr, code } = await table("status", "--wait", "1", "--probe", "3");
    expect(stdout).toContain("probes\n  3 of 3  revision 0  bundled\n");
    expect(stderr).toBe("error: 3 consecutive probes did not see revision 1 within 1 s; no probe saw it\n");
    expect(code).toBe(8);
  });

  it("ends with what is wrong when it may not ask", async () => {
    const { plane, table } = await setUp();
    plane.override = () => problem(503, "control-plane-unavailable", "The control plane did not respond.");
    expect(await table("status")).toEqual({
      stdout: "",
      stderr: expect.stringContaining(
        "(control-plane-unavailable, 503)\n  requests are still routed by the current table",
      ),
      code: 1,
    });
    const unknown = await waybill(["table", "status"], { ...plane.access, env: { WAYBILL_GATEWAY: GATEWAY_URL } });
    expect(unknown.code).toBe(1);
  });
});

describe.concurrent("waybill table capacity", () => {
  it("weighs a file, and the table in force", async () => {
    const { table } = await setUp();
    const offline = await table("capacity", "routing-table.json");
    expect(offline.stdout).toMatch(/^routes +6 of 200,000 +0\.003 %$/m);
    expect(offline.stdout).toMatch(/^complexity +\d+ of 1,500,000 /m);
    const [online] = objectsOf((await table("capacity", "--json")).stdout);
    expect(online).toMatchObject({ routes: { used: 6, max: 200_000 }, overrides: { used: 0 } });
  });
});

describe.concurrent("waybill table plan", () => {
  it("says of the text in force that there is nothing to publish, and of another spelling that only the text differs", async () => {
    const { plane, files, table } = await setUp(NEXT);
    files.write("same.json", plane.revisions[0]?.text ?? "");
    files.write("spaced.json", `${plane.revisions[0]?.text} `);
    expect((await table("plan", "same.json")).stdout).toContain("nothing to publish: revision 1 has the same text\n");
    expect((await table("plan", "spaced.json")).stdout).toContain("no differences except in the text\n");
  });

  const [, ...others] = DECLARED_TABLE.routes;
  const NEXT = {
    ...DECLARED_TABLE,
    regions: { ...DECLARED_TABLE.regions, us: { origins: [{ url: "http://su.test/base" }] } },
    routes: others,
  };

  it("says what publishing would change and what looks odd, and publishes nothing", async () => {
    const { plane, table } = await setUp(NEXT);
    const { stdout, stderr, code } = await table("plan", "routing-table.json");
    expect({ stderr, code, revisions: plane.revisions.length }).toEqual({ stderr: "", code: 0, revisions: 1 });
    expect(stdout).toContain(
      "routing-table.json on top of revision 1\n  regions  1 changed: us\n  routes   6 before, 5 after\n",
    );
    expect(stdout).toContain("\ncapacity\n  bytes ");
    expect(stdout.slice(stdout.indexOf("warnings"))).toBe(
      [
        "warnings",
        "  region ap has no routes: no ID is routed there",
        "  su.test:80 in region us is not an origin of the current table: new, or misspelled?",
        "  order (iuid): 1 of its keys lose their region; their IDs get 404",
        "  ride (iuid): 1 of its keys lose their region; their IDs get 404",
        "",
        "publishing",
        "  takes effect at once in a gateway of one process, within seconds in a cluster, on Cloudflare within 2 minutes",
        "",
      ].join("\n"),
    );
  });

  it("warns of a pack that no route leads to", async () => {
    const pack = { sha256: "0".repeat(64), bytes: 100, ranges: 1, bits: 32, regions: ["us"] };
    const declared = checkTable(DECLARED_TABLE);
    if (!declared.ok) throw new Error("the fixtures' table has faults");
    const table: DeclaredTable = { ...declared.value, packs: { shards: pack } };
    expect(warningsOf(table, table, undefined, undefined).map(formatWarning)).toEqual([
      "pack shards is in no route: it is uploaded, but unused",
    ]);
    const routed = { ...table, routes: [{ when: { layout: "hotguid" }, pack: "shards" }, ...table.routes] };
    expect(warningsOf(table, routed, undefined, undefined)).toEqual([]);
  });

  it("gives the same as one JSON object, with the verdict of the gateway's own version", async () => {
    const { plane, table } = await setUp(NEXT);
    const [planned] = objectsOf((await table("plan", "routing-table.json", "--json")).stdout);
    expect(planned).toMatchObject({
      basedOn: 1,
      changes: {
        routes: { before: 6, after: 5 },
        keys: [{ entity: "order", from: "ap", to: "nowhere", keys: "1" }, {}],
      },
      warnings: [
        { kind: "region-without-routes", region: "ap" },
        { kind: "new-origin", authority: "su.test:80" },
        {},
        {},
      ],
    });
    const faults = [{ pointer: "/regions/us", kind: "schema", message: "Not in this version." }];
    plane.override = ({ url }) =>
      url === "/-/table/check" ? problem(422, "invalid-table", "The table has 1 fault.", { faults }) : undefined;
    const { stderr, code } = await table("plan", "routing-table.json");
    expect(code).toBe(1);
    expect(stderr).toMatch(/routing-table\.json:\d+:5: \/regions\/us: Not in this version\.\n$/);
  });
});
