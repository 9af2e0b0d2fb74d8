import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import { fakeControlPlane, type Reply } from "./fake-control-plane.ts";
import { waybill } from "./fake-runtime.ts";

const DONE = {
  scope: "a1b2c3d4e5f6",
  state: "done",
  entity: "order",
  id: "id-1",
  region: "eu",
  revision: 41,
  attempts: 2,
  startedAt: "2026-11-22T12:00:00.000Z",
  until: "2026-11-23T12:00:00.000Z",
  fingerprint: "0".repeat(64),
  answer: { status: 201, bytes: 1204 },
};
const { answer: _, ...OPEN } = { ...DONE, scope: "", state: "open", region: "", id: "id\u001b[31m-2" };

const show = async (reply: Reply, ...args: readonly string[]) => {
  const plane = fakeControlPlane(DECLARED_TABLE);
  plane.override = () => reply;
  const outcome = await waybill(["idempotency", "show", ...args], plane.access);
  return { ...outcome, asked: plane.asked.map(({ method, url }) => `${method} ${url}`) };
};

describe.concurrent("waybill idempotency show", () => {
  it("prints each caller's request", async () => {
    const { stdout, stderr, code } = await show({ body: { key: "k", entries: [DONE, OPEN] } }, "k");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(`caller    sha256 a1b2c3d4e5f6…
state     done
entity    order
id        id-1
region    eu
table     revision 41
attempts  2
started   2026-11-22T12:00:00.000Z
until     2026-11-23T12:00:00.000Z
answer    201, 1.2 kB

caller    without a credential
state     open
entity    order
id        id\\u{1b}[31m-2
region    several
table     revision 41
attempts  2
started   2026-11-22T12:00:00.000Z
until     2026-11-23T12:00:00.000Z
answer    none
`);
  });

  it("prints one object with --json", async () => {
    const body = { key: "k", entries: [DONE] };
    const { stdout, code } = await show({ body }, "k", "--json");
    expect([code, JSON.parse(stdout)]).toEqual([0, body]);
  });

  it.each([
    ["a/b", "%22a%2Fb%22"],
    ["..", "%22..%22"],
    ['"a b"', "%22a%20b%22"],
    ['say "hi"', "%22say%20%5C%22hi%5C%22%22"],
  ])("asks for %s, in a spelling that a path can have", async (key, path) => {
    expect((await show({ body: { key, entries: [DONE] } }, key)).asked).toEqual([`GET /-/idempotency/${path}`]);
  });

  it("an unknown key is exit code 1", async () => {
    const body = { key: "k", entries: [] };
    const stderr = "The key is not known: it was never used, or it has expired.\n";
    expect(await show({ body }, "k")).toMatchObject({ stdout: "", stderr, code: 1 });
    expect(await show({ body }, "k", "--json")).toMatchObject({ stdout: `${JSON.stringify(body)}\n`, stderr, code: 1 });
  });

  it("says what the gateway says", async () => {
    const type = "/-/problems/idempotency-key-invalid";
    const body = { type, title: "No", status: 400, detail: "The field must be one line." };
    const { stderr, code } = await show({ status: 400, body }, "é");
    expect([code, stderr]).toEqual([1, "error: The field must be one line. (idempotency-key-invalid, 400)\n"]);
    expect((await show({ body: { entries: 3 } }, "k")).code).toBe(1);
  });
});
