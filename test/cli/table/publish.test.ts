import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { fakeControlPlane, problem } from "../fake-control-plane.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const [kz, ...others] = DECLARED_TABLE.routes;
const NEXT = { ...DECLARED_TABLE, routes: [{ ...kz, region: "us" }, ...others] };

/** A control plane of its own for each test, and a folder whose table differs from the one in force. */
const setUp = async (next: object = NEXT) => {
  const plane = fakeControlPlane(DECLARED_TABLE);
  const files = tableFiles(next);
  const table = (...args: readonly string[]) => waybill(["table", ...args], { files, ...plane.access });
  return { plane, files, table };
};

describe.concurrent("waybill table publish", () => {
  it("shows what changes, publishes the file's bytes on top of the revision read, and reports it", async () => {
    const { plane, table } = await setUp();
    const note = "us tries Kazakhstan – for a day";
    const { stdout, stderr, code } = await table("publish", "routing-table.json", "--yes", "--note", note);
    expect(stderr.split("\n")).toEqual([
      "from revision 1 to routing-table.json:",
      "routes  6 before, 6 after",
      "keys routed differently",
      "  order (iuid)  country KZ  ap → us  1 key, 0.39 % of the key space, 1 of 4 countries",
      "  ride (iuid)   country KZ  ap → us  1 key, 0.39 % of the key space, 1 of 4 countries",
      "warning: region ap has no routes: no ID is routed there",
      "takes effect at once in a gateway of one process, within seconds in a cluster, on Cloudflare within 2 minutes",
      "",
    ]);
    expect({ stdout, code }).toEqual({
      stdout: expect.stringMatching(
        /^accepted: revision 2 \(publish, by ann\): sha256 [0-9a-f]{64}\nin force here after 0\.00 s; on Cloudflare within 2 minutes everywhere\n$/,
      ),
      code: 0,
    });
    expect(plane.revisions.at(-1)).toMatchObject({ text: JSON.stringify(NEXT, null, 2), note, basedOn: 1 });
    expect((await table("publish", "routing-table.json")).stderr).toBe(
      "nothing to publish: revision 2 has the same text\n",
    );
  });

  it("gives the revision as one JSON object", async () => {
    const { table } = await setUp();
    const { stdout } = await table("publish", "routing-table.json", "--yes", "--json");
    expect(objectsOf(stdout)).toEqual([
      expect.objectContaining({ revision: 2, kind: "publish", author: "ann", changed: true, inForceHereMs: 0 }),
    ]);
    const digest = expect.stringMatching(/^[0-9a-f]{64}$/);
    const again = await table("publish", "routing-table.json", "--json");
    expect(again.code).toBe(0);
    expect(objectsOf(again.stdout)).toEqual([{ revision: 2, digest, changed: false }]);
    const back = await table("rollback", "2", "--json");
    expect(objectsOf(back.stdout)).toEqual([{ revision: 2, digest, changed: false }]);
  });

  it("says within seconds that the isolate that answers has another table, and claims nothing", async () => {
    const { plane, table } = await setUp();
    const digest = "0".repeat(64);
    const published = { revision: 2, digest };
    const isolate = { revision: 1, digest, canary: null, source: "memory", ageSeconds: 1 };
    const kv = { ...published, canary: null, checkedAt: "2026-01-01T00:00:00.000Z" };
    const status = { controlPlane: published, canary: null, kv, isolate, pending: false, lastError: null };
    plane.override = ({ url }) => (url === "/-/table/status" ? { body: status } : undefined);
    const { stdout, stderr, code } = await table("publish", "routing-table.json", "--yes");
    expect([stdout, code]).toEqual([expect.stringMatching(/^accepted: revision 2 [^\n]*\n$/), 0]);
    expect(stderr).toMatch(
      /\nnot yet in force here, 2 s after it was accepted; on Cloudflare within 2 minutes; watch it/,
    );
    const read = await table("rollback", "1", "--yes", "--json");
    expect(objectsOf(read.stdout)).toEqual([expect.not.objectContaining({ inForceHereMs: expect.anything() })]);
  });

  it("waits, where that is asked for, until a row of probes has seen it, and says when it was not", async () => {
    const { plane, table } = await setUp();
    const seen = await table("publish", "routing-table.json", "--yes", "--wait");
    expect(seen.stdout).toMatch(
      /^accepted: revision 2 .*\nin force here after \d+\.\d\d s; 10 consecutive probes saw revision 2 after \d+\.\d\d s\n$/,
    );
    expect(seen.code).toBe(0);
    plane.override = ({ url }) =>
      url === "/-/ready" ? { headers: { "waybill-table": "rev=1; source=memory; age=3" }, body: {} } : undefined;
    const unseen = await table("rollback", "1", "--yes", "--json", "--wait", "1");
    expect(objectsOf(unseen.stdout)).toEqual([expect.objectContaining({ revision: 3, propagation: { seen: false } })]);
    expect(unseen.stderr).toContain(
      "error: 10 consecutive probes did not see revision 3 within 1 s; no probe saw it\n",
    );
    expect(unseen.code).toBe(8);
    expect((await table("publish", "routing-table.json", "--yes", "--wait", "soon")).stderr).toContain("--wait");
    expect(plane.revisions).toHaveLength(3);
  });

  it("is watched at a terminal without being asked, and not with --no-wait or for JSON", async () => {
    const { plane, files } = await setUp();
    const atTerminal = (...args: readonly string[]) =>
      waybill(["table", ...args], { files, ...plane.access, answer: () => "y" });
    const seen = await atTerminal("publish", "routing-table.json");
    expect(seen.stdout).toMatch(
      /^accepted: revision 2 .*\nin force here after \S+ s; 10 consecutive probes saw revision 2 /,
    );
    const unseen = await atTerminal("rollback", "1", "--no-wait");
    expect(unseen.stdout).toMatch(/^accepted, the text of revision 1: revision 3 [^\n]*\n$/);
    expect(unseen.stderr).toContain("not yet known to be in force");
    const read = await atTerminal("rollback", "2", "--json");
    expect(objectsOf(read.stdout)).toEqual([expect.not.objectContaining({ propagation: expect.anything() })]);
  });

  it("is in force only where every probe has seen it: else its code at a terminal is 8", async () => {
    const { plane, files } = await setUp();
    plane.override = ({ url }) =>
      url === "/-/ready" ? { headers: { "waybill-table": "rev=1; source=memory; age=3" }, body: {} } : undefined;
    const options = { files, ...plane.access, answer: () => "y" };
    const { stdout, stderr, code } = await waybill(["table", "publish", "routing-table.json"], options);
    expect([stdout, code]).toEqual([expect.stringMatching(/^accepted: revision 2 [^\n]*\n$/), 8]);
    expect(stderr).toContain("probes did not see revision 2 within 120 s; no probe saw it");
  });

  it("asks nothing without a terminal, and publishes nothing then", async () => {
    const { plane, table } = await setUp();
    const { stderr, code } = await table("publish", "routing-table.json");
    expect(stderr).toContain("error: not a terminal; pass --yes to confirm\n");
    expect({ code, revisions: plane.revisions.length }).toEqual({ code: 64, revisions: 1 });
  });

  it("checks the file before it asks the gateway for anything", async () => {
    const { plane, files, table } = await setUp();
    files.write("faulty.json", JSON.stringify({ ...NEXT, default: "mars" }, null, 2));
    const { stderr, code } = await table("publish", "faulty.json", "--yes");
    expect(stderr).toMatch(
      /^faulty\.json:\d+:3: \/default: .*"mars".*\nerror: faulty\.json is not .*\nnothing was published\n$/,
    );
    expect({ code, asked: plane.asked }).toEqual({ code: 1, asked: [] });
  });

  it("advises after a conflict, in each of the two ways", async () => {
    const { plane, table } = await setUp();
    plane.override = ({ method }) =>
      method === "PUT" ? problem(412, "stale-revision", "Revision 2 is in force.", { current: 2 }) : undefined;
    const raced = await table("publish", "routing-table.json", "--yes");
    expect(raced.code).toBe(3);
    expect(raced.stderr).toContain("error: Revision 2 is in force. (stale-revision, 412)\n  nothing was changed.");
    expect(raced.stderr).toContain("--expect 2\n");
    const late = await table("publish", "routing-table.json", "--yes", "--expect", "0");
    expect(late.code).toBe(3);
    expect(late.stderr).toMatch(/^error: conflict: the current revision is 1, not 0; nothing was published\n/);
  });

  it("puts the gateway's own faults to places in the file", async () => {
    const { plane, table } = await setUp();
    const faults = [{ pointer: "/routes/0/region", kind: "unknown-name", message: "Not here." }];
    plane.override = ({ method }) =>
      method === "PUT" ? problem(422, "invalid-table", "The table has 1 fault.", { faults }) : undefined;
    const { stderr, code } = await table("publish", "routing-table.json", "--yes");
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /invalid-table, 422\)\nrouting-table\.json:\d+:7: \/routes\/0\/region: Not here\.\nnothing was changed\n$/,
    );
  });
});

describe.concurrent("waybill table rollback", () => {
  it("puts an old text into force as a new revision", async () => {
    const { plane, table } = await setUp();
    await table("publish", "routing-table.json", "--yes");
    const { stdout, stderr, code } = await table("rollback", "1", "--yes", "--note", "errors in us");
    expect(stderr).toContain("from revision 2 back to revision 1:\nroutes  6 before, 6 after\n");
    expect(stdout).toMatch(/^accepted, the text of revision 1: revision 3 \(rollback, by ann\)/);
    expect(code).toBe(0);
    expect(plane.revisions.at(-1)).toMatchObject({ kind: "rollback", note: "errors in us", basedOn: 2 });
    expect((await table("rollback", "1")).stderr).toBe(
      "nothing to do: revision 3 already has the text of revision 1\n",
    );
  });

  it("names a revision that there is not", async () => {
    const { table } = await setUp();
    const { stderr, code } = await table("rollback", "7", "--yes");
    expect(stderr).toContain("error: Revision 7 is not available: there is none. (unknown-revision, 404)\n");
    expect(stderr).toContain("`waybill table history` lists all revisions");
    expect(code).toBe(1);
  });
});
