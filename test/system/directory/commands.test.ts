import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { objectsOf } from "../../cli/fake-runtime.ts";
import { tableFolder, waybill } from "../command.ts";
import { type Stack, startRecordingOrigins, startStack } from "../stack.ts";

/** The commands of directories against the real thing: rows in, a copy out, and requests that it decides. */

const OPERATOR = "an-operator-of-this-test-alone-0123456789";
const ADMIN_TOKENS = JSON.stringify([
  { name: "ann", scope: "operator", sha256: createHash("sha256").update(OPERATOR).digest("hex") },
]);

let stack: Stack;
let origins: Awaited<ReturnType<typeof startRecordingOrigins>>;
let cwd = "";

beforeAll(async () => {
  origins = await startRecordingOrigins();
  const { regions } = origins.declared;
  const table = {
    regions,
    directory: { slug: { key: { text: "lower" } } },
    entities: { shop: { path: "/shops/:id", directory: "slug" } },
    routes: [],
  };
  stack = await startStack(table as unknown as Parameters<typeof startStack>[0], { ADMIN_TOKENS });
  cwd = tableFolder();
});
afterAll(async () => {
  await stack.stop();
  await origins.stop();
});

const directory = (...args: readonly string[]) =>
  waybill(["directory", ...args], { cwd, env: { WAYBILL_GATEWAY: stack.url, WAYBILL_TOKEN: OPERATOR } });
const regionOf = async (key: string) => (await fetch(`${stack.url}/shops/${key}`)).headers.get("waybill-region");

it("imports rows, publishes a copy, and routes by it", async () => {
  const rows = Array.from({ length: 30_000 }, (_, at) => ({ key: `shop-${at}`, region: at % 2 === 0 ? "eu" : "us" }));
  writeFileSync(join(cwd, "slugs.ndjson"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const imported = await directory("import", "slug", "slugs.ndjson", "--resume", "slugs.state");
  expect(imported).toMatchObject({ code: 0, stderr: expect.stringContaining("30,000 added") });
  const again = await directory("import", "slug", "slugs.ndjson", "--json");
  expect(objectsOf(again.stdout)[0]).toMatchObject({ lines: 30_000, added: 0, unchanged: 30_000 });
  const exported = await directory("export", "slug");
  expect(objectsOf(exported.stdout).length).toBe(30_000);

  expect(await directory("copy", "slug")).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/30,000 keys in 8 pages/),
  });
  expect(await directory("verify", "slug")).toMatchObject({ code: 0, stdout: "" });
  expect((await directory("stat", "slug")).stdout).toContain("30,000 keys in 8 pages");
  // The copy has it still; the objects note what was removed since.
  expect((await directory("delete", "slug", "shop-8")).code).toBe(0);
  expect(await regionOf("Shop-8")).toBeNull();
  expect(await regionOf("Shop-10")).toBe("eu");
  expect(await regionOf("shop-9")).toBe("us");
  expect(await directory("verify", "slug")).toMatchObject({ code: 2, stderr: expect.stringContaining("1 removed") });
  // A copy that is absent stays so: a folder as KV fails to delete it.
  for (let times = 0; times < 3; times++) {
    expect((await directory("copy", "slug", "--remove")).code).toBe(0);
    const headers = { authorization: `Bearer ${OPERATOR}` };
    const removed = await fetch(`${stack.url}/-/directory/slug/-/copy`, { method: "DELETE", headers });
    expect([removed.status, await removed.text()]).toEqual([204, ""]);
  }
});

it("claims, moves and removes a key", async () => {
  const reserved = await directory("reserve", "slug", "Ada-Bö", "--owner", "42", "--region", "eu", "--json");
  const [{ operation, state, key } = {}] = objectsOf(reserved.stdout);
  expect([state, key]).toEqual(["reserved", "ada-bö"]);
  const other = await directory("reserve", "slug", "ada-bö", "--owner", "7", "--region", "us", "--lease", "1m");
  expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining("key-reserved") });
  const claim = ["slug", "ada-bö", "--owner", "42", "--operation", String(operation)];
  expect(await directory("confirm", ...claim)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^state +confirmed$/m),
  });
  expect(await directory("release", ...claim)).toMatchObject({ code: 1, stderr: expect.stringContaining("key-taken") });
  const before = await directory("move", "slug", "ada-bö", "--to", "us", "--dry-run", "--json");
  const [{ region, version } = {}] = objectsOf(before.stdout);
  expect(region).toBe("eu");
  const moved = await directory("move", "slug", "ada-bö", "--to", "us", "--expect", String(version));
  expect(moved.stdout).toMatch(/^region +us$/m);
  const stale = await directory("delete", "slug", "ada-bö", "--expect", String(version));
  expect(stale).toMatchObject({ code: 1, stderr: expect.stringContaining("stale-key") });
  expect(await directory("delete", "slug", "ada-bö")).toMatchObject({ code: 0, stderr: "removed\n" });
  expect(await directory("get", "slug", "ada-bö")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("unknown-key"),
  });
  expect(await directory("orphans", "slug")).toMatchObject({ code: 0, stderr: "0 orphans\n" });
  // No path has such a key; it is asked for by the query, since an older version may have stored it.
  expect(await directory("get", "slug", "..")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("unknown-key"),
  });
  expect(await directory("get", "slugs", "a")).toMatchObject({ code: 1, stderr: expect.stringContaining("slug") });
});
