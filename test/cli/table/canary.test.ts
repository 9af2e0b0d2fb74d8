import { describe, expect, it } from "vitest";
import { judgeCanary } from "../../../src/formats/canary-verdict.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { fakeControlPlane, problem } from "../fake-control-plane.ts";
import { waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const [kz, ...others] = DECLARED_TABLE.routes;
const NEXT = { ...DECLARED_TABLE, routes: [{ ...kz, region: "us" }, ...others] };

/** A control plane of its own for each test, and a folder whose table differs from the one in force. */
const setUp = async () => {
  const plane = fakeControlPlane(DECLARED_TABLE);
  const files = tableFiles(NEXT);
  const table = (...args: readonly string[]) => waybill(["table", ...args], { files, ...plane.access });
  const changesAsked = () => plane.asked.filter(({ method }) => method !== "GET").map(({ url }) => url);
  return { plane, table, changesAsked };
};

const EFFECT =
  "takes effect at once in a gateway of one process, within seconds in a cluster, on Cloudflare within 2 minutes\n";

describe.concurrent("a canary of the whole table", () => {
  it("starts for a share, is seen in the status, and ends in both ways", async () => {
    const { plane, table } = await setUp();
    const started = await table("canary", "routing-table.json", "--share", "5", "--yes");
    expect(started.stdout).toMatch(/^accepted for 5 % of the IDs: revision 2 \(canary, by ann\)/);
    expect(plane.canary).toMatchObject({ text: JSON.stringify(NEXT), audience: { share: 5 } });
    expect((await table("status")).stdout).toMatch(/^canary +revision 2 +5 % of the IDs/m);
    const grown = await table("canary", "--country", "KZ,BR", "routing-table.json", "--yes", "--expect", "2");
    expect(grown.stderr).toContain(
      "it replaces the running canary: revision 2 (canary, by ann) serves 5 % of the IDs\n",
    );
    expect(plane.canary).toMatchObject({ audience: { countries: ["KZ", "BR"] } });
    const aborted = await table("abort", "--yes", "--expect", "3");
    expect(aborted.stderr).toBe(`revision 3 (canary, by ann) serves KZ, BR, revision 1 the rest\n${EFFECT}`);
    expect(aborted.stdout).toMatch(/^accepted for all IDs: revision 1 /);
    await table("canary", "--entity", "order", "--entity", "ride,parcel", "routing-table.json", "--yes");
    expect(plane.canary).toMatchObject({ audience: { entities: ["order", "ride", "parcel"] } });
    const promoted = await table("promote", "--yes", "--expect", "2");
    expect(promoted.stderr.split("\n")).toEqual([
      "revision 2 (canary, by ann) serves order, ride, parcel, revision 1 the rest",
      "from revision 1 to revision 2:",
      "routes  6 before, 6 after",
      "keys routed differently",
      "  order (iuid)  country KZ  ap → us  1 key, 0.39 % of the key space, 1 of 4 countries",
      "  ride (iuid)   country KZ  ap → us  1 key, 0.39 % of the key space, 1 of 4 countries",
      "warning: region ap has no routes: no ID is routed there",
      "There are no figures of the canary to judge.",
      EFFECT.trimEnd(),
      "",
    ]);
    expect(promoted.stdout).toMatch(/^accepted for all IDs: revision 3 \(promote, by ann\)/);
  });

  it("is promoted with its verdict, and one that fails more often only over it", async () => {
    const { plane, table, changesAsked } = await setUp();
    await table("canary", "routing-table.json", "--share", "5", "--yes");
    const none = { "2xx": 0, "3xx": 0, "404": 0, "421": 0, "4xx": 0, "5xx": 0, elsewhere: 0, left: 0 };
    const judge = (bad: number) => ({
      source: "all",
      canaryVerdict: judgeCanary({ ...none, "2xx": 9_900, "404": 100 }, { ...none, "2xx": 1_000 - bad, "404": bad }),
    });
    let bad = 60;
    const wanted: string[] = [];
    plane.override = ({ url }) => {
      if (!url.startsWith("/-/metrics/history")) return undefined;
      wanted.push(url);
      return { body: judge(bad) };
    };
    const words = "Do not promote: 6 % get 404, 1 % in force.";
    expect((await table("status")).stdout).toContain(`\n${words}\n`);
    const { canaryVerdict } = JSON.parse((await table("status", "--json")).stdout);
    expect(canaryVerdict).toEqual(judge(bad).canaryVerdict);
    const before = changesAsked();
    const refused = await table("promote", "--yes", "--expect", "2");
    expect(refused).toMatchObject({ stdout: "", code: 1 });
    expect(refused.stderr).toMatch(/Do not promote: 6 % get 404, 1 % in force\.\nerror: the canary is worse than .*/);
    expect(refused.stderr).toMatch(/pass --over-verdict\nnothing was changed\n$/);
    expect([changesAsked(), plane.canary?.revision]).toEqual([before, 2]);
    // 20 s after it began.
    expect(new Set(wanted)).toEqual(
      new Set([`/-/metrics/history?span=hour&from=${Date.UTC(2026, 10, 21, 12) / 1000 + 20}`]),
    );
    const over = await table("promote", "--yes", "--expect", "2", "--over-verdict");
    expect([over.code, over.stderr]).toEqual([0, expect.stringContaining(words)]);
    await table("canary", "routing-table.json", "--share", "5", "--yes");
    bad = 10;
    const good = await table("promote", "--yes", "--expect", "4");
    expect([good.code, good.stderr]).toEqual([0, expect.stringContaining("No kind of failure is more frequent")]);
  });

  it.each([
    ["promote", ["promote"]],
    ["abort", ["abort"]],
    ["replace", ["canary", "routing-table.json", "--share", "20"]],
  ])("is ended only if --expect names it: %s", async (_, args) => {
    const { plane, table, changesAsked } = await setUp();
    await table("canary", "routing-table.json", "--share", "5", "--yes");
    const before = changesAsked();
    const unnamed = await table(...args, "--yes");
    expect(unnamed).toMatchObject({ stdout: "", code: 1 });
    expect(unnamed.stderr).toContain("revision 2 (canary, by ann) serves 5 % of the IDs");
    expect(unnamed.stderr).toMatch(/error: --yes needs --expect 2 to end .*\n$/);
    const another = await table(...args, "--yes", "--expect", "1");
    expect(another).toMatchObject({ stdout: "", code: 3 });
    expect(another.stderr).toContain("error: conflict: the latest revision is 2, not 1; nothing was changed\n");
    expect(another.stderr).toContain("`waybill table diff 1 2`");
    expect([changesAsked(), plane.canary?.revision]).toEqual([before, 2]);
    expect((await table(...args, "--yes", "--expect", "2")).code).toBe(0);
  });

  it("cannot be ended if none is running; with --expect the exit code differs", async () => {
    const { table } = await setUp();
    const stderr = "error: no canary is running; revision 1 serves all IDs\n";
    expect(await table("abort", "--yes")).toEqual({ stdout: "", stderr, code: 1 });
    expect(await table("promote", "--expect", "2")).toEqual({ stdout: "", stderr, code: 3 });
  });

  it("is not promoted where another took its place a moment ago", async () => {
    const { plane, table } = await setUp();
    await table("canary", "routing-table.json", "--share", "5", "--yes");
    plane.override = ({ url }) =>
      url === "/-/table/promote" ? problem(412, "stale-revision", "No.", { current: 1, canary: 3 }) : undefined;
    const raced = await table("promote", "--yes", "--expect", "2");
    expect(raced.code).toBe(3);
    expect(raced.stderr).toContain("start again with --expect 3\n");
  });

  it.each([
    { args: [], error: "pass exactly one of --share, --country, --entity" },
    { args: ["--share", "5", "--entity", "order"], error: "pass exactly one of --share, --country, --entity" },
    { args: ["--share", "0"], error: "a canary of 0 % serves no ID" },
    { args: ["--share", "101"], error: "It must be a number from 0 to 100" },
    { args: ["--country", "kz"], error: "codes of two capital letters, comma-separated: KZ,UZ." },
    { args: ["--entity", "order,"], error: "entity names, comma-separated: order,ride." },
  ])("is for one part of the IDs, and $args says none", async ({ args, error }) => {
    const outcome = await waybill(["table", "canary", "routing-table.json", ...args], { files: tableFiles() });
    expect(outcome).toMatchObject({ code: 64, stderr: expect.stringContaining(error) });
  });

  it.each([
    [["--country", "KZ,XX"], "error: --country XX: revision 1, the current table, has only KZ, BR, DE, AQ\n"],
    [["--entity", "invoice"], "error: --entity invoice: neither revision 1 nor routing-table.json has this entity\n"],
  ])("is for whom the tables know: %j", async (args, stderr) => {
    const { table, changesAsked } = await setUp();
    const outcome = await table("canary", "routing-table.json", ...args, "--yes");
    expect([outcome, changesAsked()]).toEqual([{ stdout: "", stderr, code: 1 }, []]);
  });
});
