import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, it, vi } from "vitest";
import type { Env } from "../../src/edge/env.ts";
import { SETTING_NAMES } from "../../src/edge/settings.ts";
import { bodyKey, POINTER_KEY } from "../../src/formats/kv.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import { IDS } from "../routes/harness.ts";

/** Requests go to the origin behind a binding: tests have no network. */
const TABLE = JSON.stringify({
  ...DECLARED_TABLE,
  regions: Object.fromEntries(
    ["eu", "us", "ap"].map((name) => [name, { origins: [{ url: `http://${name}.test`, binding: "TEST_ORIGIN" }] }]),
  ),
});

/** No setting takes any of these, but that a name may be a word. */
const BAD = ["JSON", "on,", "[{},]", "{", "1,5", "-1", "x".repeat(100_000), 7, true, { a: 1 }] as const;

const TOKEN = "the-only-token-that-this-gateway-knows";
const GUARDED = ["/-/metrics", "/-/table", "/-/ids/1"];

const bytes = new TextEncoder().encode(TABLE);
const digest = Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
const sha256 = Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(TOKEN))).toString("hex");
const ADMIN_TOKENS = JSON.stringify([{ name: "ci", scope: "operator", sha256 }]);

beforeEach(async () => {
  const { TABLE_KV } = env as Env;
  await TABLE_KV.put(bodyKey(digest), bytes);
  await TABLE_KV.put(POINTER_KEY, JSON.stringify({ revision: 7, digest, change: 1 }));
});

let isolates = 0;

/** The Worker as in a new isolate. */
async function startWith(settings: object) {
  const logged = vi.spyOn(console, "error").mockReset();
  const { default: worker } = (await import(/* @vite-ignore */ `../../src/worker.ts?isolate=${isolates++}`)) as {
    default: Required<ExportedHandler<object>>;
  };
  const send = async (path: string, init?: RequestInit) => {
    const context = createExecutionContext();
    const request = new Request(`http://gw.test${path}`, init) as Parameters<typeof worker.fetch>[0];
    const response = await worker.fetch(request, { ...(env as object), ...settings }, context);
    return { status: response.status, body: await response.text() };
  };
  const lines = () =>
    logged.mock.calls.map(([line]) => String(line)).filter((line) => line.includes("settings-invalid"));
  return { send, lines };
}

it.each(SETTING_NAMES)("%s with ten bad values costs no good request, opens nothing, and is named", async (name) => {
  for (const bad of BAD) {
    // A name, which some region may have.
    if (name === "SELF_REGIONS" && bad === "JSON") continue;
    if (name === "GATEWAY_NAME" && (bad === "JSON" || bad === "-1")) continue;
    if (name === "ENVIRONMENT" && bad === "JSON") continue;
    const { send, lines } = await startWith({ REPORT_SECONDS: "0", [name]: bad });
    const answers = await Promise.all([IDS.orderBr, IDS.orderKz, IDS.orderDe].map((id) => send(`/orders/${id}`)));
    for (const { status, body } of answers) {
      // Unsigned requests are not what the operator asked for.
      if (name === "ORIGIN_SIGNING_KEYS")
        expect([status, body]).toEqual([503, expect.stringContaining("signing-unavail")]);
      else expect([status, body]).toEqual([200, expect.stringContaining('"method":"GET"')]);
    }
    expect(await send("/-/health")).toMatchObject({ status: 200 });
    const ready = await send("/-/ready");
    expect([ready.status, JSON.parse(ready.body).invalidSettings]).toEqual([200, [name]]);
    for (const page of GUARDED) {
      const isOfAccess = /^(ADMIN|ACCESS|OPEN)_/.test(name);
      expect((await send(page)).status).toBe(isOfAccess ? 503 : 401);
    }
    expect(lines()).toHaveLength(1);
    expect(lines()[0]).toContain(`"setting":"${name}"`);
    if (typeof bad === "string" && bad.length > 1_000) expect(lines()[0]).not.toContain("xxxx");
  }
});

it("a bad ADMIN_TOKENS makes no token right, and open pages stay closed", async () => {
  const authorization = `Bearer ${TOKEN}`;
  for (const settings of [
    { ADMIN_TOKENS: `${ADMIN_TOKENS},` },
    { ADMIN_TOKENS: `${ADMIN_TOKENS},`, OPEN_PAGES: "on" },
  ]) {
    const { send } = await startWith(settings);
    for (const headers of [{ authorization }, {}]) {
      const answer = await send("/-/metrics", { headers });
      expect([answer.status, answer.body]).toEqual([503, expect.stringContaining("authentication-unavailable")]);
    }
  }
});

it("a bad CLIENT_ADDRESS takes no origin's status for the word of Cloudflare's edge", async () => {
  const TEST_ORIGIN = { fetch: async () => new Response("down for a day", { status: 521 }) };
  const statusWith = async (settings: object) =>
    (await (await startWith({ REPORT_SECONDS: "0", TEST_ORIGIN, ...settings })).send(`/orders/${IDS.orderBr}`)).status;
  expect(await statusWith({ CLIENT_ADDRESS: "either" })).toBe(521);
  expect(await statusWith({ CLIENT_ADDRESS: "socket" })).toBe(521);
  expect(await statusWith({})).toBe(502);
});

it("a right token counts beside a bad setting of Access", async () => {
  const { send } = await startWith({ ADMIN_TOKENS, ACCESS_OPERATORS: "jane" });
  expect(await send("/-/regions", { headers: { authorization: `Bearer ${TOKEN}` } })).toMatchObject({ status: 200 });
  expect(await send("/-/regions", { headers: { authorization: "Bearer wrong" } })).toMatchObject({ status: 503 });
});

it("bad PUBLIC_ID_KEYS stop public entities alone", async () => {
  const declared = JSON.parse(TABLE);
  declared.entities.ride.public = { as: "guid", form: "uuid" };
  const text = new TextEncoder().encode(JSON.stringify(declared));
  const sha = Buffer.from(await crypto.subtle.digest("SHA-256", text)).toString("hex");
  await (env as Env).TABLE_KV.put(bodyKey(sha), text);
  await (env as Env).TABLE_KV.put(POINTER_KEY, JSON.stringify({ revision: 8, digest: sha, change: 2 }));
  const { send } = await startWith({ PUBLIC_ID_KEYS: '{"sealed": [],}' });
  expect(await send(`/orders/${IDS.orderBr}`)).toMatchObject({ status: 200 });
  const hidden = await send(`/rides/${IDS.rideKz}`);
  expect([hidden.status, hidden.body]).toEqual([503, expect.stringContaining("public-ids-unavailable")]);
});
