import { describe, expect, it } from "vitest";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";

const files = tableFiles({
  regions: { eu: { origins: [{ url: "http://eu.test" }] } },
  entities: {
    order: { path: "/orders/:id", ids: [{ layout: "ulid" }], public: true },
    ticket: { path: "/tickets/:id", ids: [{ layout: "snowflake" }], public: { as: "long" } },
    box: { path: "/boxes/:id", ids: [{ layout: "ksuid" }] },
  },
  routes: [],
  default: "eu",
});
const PUBLIC_ID_KEYS = JSON.stringify({ sealed: [{ id: "a", key: Buffer.alloc(32, 7).toString("base64") }] });
const env = { PUBLIC_ID_KEYS };
const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

describe.concurrent("waybill public", () => {
  it("shows internal IDs and opens public ones, as arguments and from stdin", async () => {
    const shown = await waybill(["public", "show", "--entity", "order", ULID], { files, env });
    expect(shown).toEqual({ stdout: expect.stringMatching(/^[0-9A-Za-z]{44}\n$/), stderr: "", code: 0 });
    const opened = await waybill(["public", "open", "--entity", "order", "--json"], {
      files,
      env,
      stdin: shown.stdout,
    });
    expect(objectsOf(opened.stdout)).toEqual([{ text: shown.stdout.trimEnd(), id: ULID }]);
  });

  it("goes on after what no key made", async () => {
    const args = ["public", "open", "--entity", "order", "0".repeat(44), "x"];
    const { stdout, stderr, code } = await waybill(args, { files, env });
    expect([stdout, code]).toEqual(["", 1]);
    expect(stderr).toBe(
      `error: "${"0".repeat(44)}" was not converted: no key decrypts it.\nerror: "x" was not converted: no key decrypts it.\n`,
    );
  });

  it.each([
    [["--entity", "order"], {}, "The environment has no PUBLIC_ID_KEYS."],
    [["--entity", "order"], { PUBLIC_ID_KEYS: "{" }, "PUBLIC_ID_KEYS is not a JSON object."],
    [["--entity", "ticket"], env, "PUBLIC_ID_KEYS has no compatible key, which the public IDs of ticket need."],
    [["--entity", "box"], env, 'does not make public the entity "box". Public ones: order, ticket. (--entity)'],
    [["--entity", "crate"], env, 'has no entity "crate". Public ones: order, ticket. (--entity)'],
  ])("%j with %j is refused with a sentence", async (args, keys, sentence) => {
    const { stderr, code } = await waybill(["public", "show", ...args, ULID], { files, env: keys });
    expect(code).toBe(1);
    expect(stderr).toContain(sentence);
  });
});

describe.concurrent("the other commands, where entities are public", () => {
  it("mint says that its IDs are internal, and --public prints those that clients see", async () => {
    const internal = await waybill(["mint", "--entity", "order"], { files });
    expect(internal.stdout).toMatch(/^[0-9A-Z]{26}\n$/);
    expect(internal.stderr).toContain("note: these are internal IDs of order");
    const shown = await waybill(["mint", "--entity", "order", "--public", "--count", "2"], { files, env });
    expect(shown).toEqual({ stdout: expect.stringMatching(/^([0-9A-Za-z]{44}\n){2}$/), stderr: "", code: 0 });
    const opened = await waybill(["public", "open", "--entity", "order"], { files, env, stdin: shown.stdout });
    expect(opened.stdout).toMatch(/^([0-9A-Z]{26}\n){2}$/);
    const bare = await waybill(["mint", "ulid", "--public"], { files, env });
    expect(bare.stderr).toContain("--public requires an entity of a routing table.");
  });

  it("explain says whose public ID a text may be", async () => {
    const { stderr } = await waybill(["explain", "0".repeat(44)], { files });
    expect(stderr).toContain("it looks like a public ID of order; `waybill public open --entity order 000");
    const { stdout } = await waybill(["explain", "--json", "0".repeat(22)], { files });
    expect(objectsOf(stdout)).toMatchObject([{ publicOf: ["ticket"] }]);
  });

  it("explain and locate lead a public ID to its region where the keys are in the environment", async () => {
    const id = (await waybill(["public", "show", "--entity", "order", ULID], { files, env })).stdout.trim();
    for (const text of [id, `/orders/${id}`]) {
      const explained = await waybill(["explain", text], { files, env });
      expect(explained).toMatchObject({ stderr: "", code: 0 });
      expect(explained.stdout).toMatch(/ulid → order → .* → \w+ {3}\/orders\/\w{44}\n/);
      expect(explained.stdout).not.toContain(ULID);
    }
    const located = await waybill(["locate", "-", "--format", "ndjson"], { files, env, stdin: `${id}\n` });
    expect(objectsOf(located.stdout)).toMatchObject([{ id, entity: "order" }]);
    expect((await waybill(["explain", id], { files })).stderr).toContain("it looks like a public ID of order");
    const wrong = await waybill(["explain", id], { files, env: { PUBLIC_ID_KEYS: "{" } });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("PUBLIC_ID_KEYS is not a JSON object.") });
  });
});
