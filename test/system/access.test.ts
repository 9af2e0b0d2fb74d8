import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isOpen, settingsFrom } from "../../src/host/settings.ts";
import { type RunningGateway, startGateway } from "../../src/host/workerd/gateway.ts";
import { startWorkerd } from "../../src/host/workerd/workerd.ts";
import { readDemoTable } from "./demo/demo.ts";
import { rawRequest, type Stack, sendRaw, startRecordingOrigins, startStack } from "./stack.ts";

/** The gateway's own pages on bare workerd, asked as no client library would. */

const TOKEN = "a-token-of-this-test-alone-0123456789";
const ADMIN_TOKENS = JSON.stringify([
  { name: "test", scope: "viewer", sha256: createHash("sha256").update(TOKEN).digest("hex") },
]);
const AUTHORIZED = `authorization: Bearer ${TOKEN}`;

let stack: Stack;
let origins: Awaited<ReturnType<typeof startRecordingOrigins>>;
beforeAll(async () => {
  origins = await startRecordingOrigins();
  // Whatever the gateway does not take for its own goes to an origin.
  const withoutId = { rest: { path: "/**", sources: [{ region: "eu" }] } };
  stack = await startStack({ ...origins.declared, withoutId }, { ADMIN_TOKENS });
});
afterAll(async () => {
  await stack?.stop();
  await origins?.stop();
});

describe("the gateway's own pages on bare workerd", () => {
  it("are there for those who have a token", async () => {
    const { port } = stack.gateway;
    expect((await rawRequest(port, "GET", "/-/metrics")).status).toBe(401);
    expect((await rawRequest(port, "GET", "/-/metrics", [AUTHORIZED])).status).toBe(200);
    const twice = await rawRequest(port, "GET", "/-/metrics", [AUTHORIZED, AUTHORIZED]);
    expect(twice.status).toBe(401);
    expect(JSON.parse((await rawRequest(port, "GET", "/-/ready")).body)).toEqual({ status: "ready" });
    expect(stack.gateway.lines.join("\n")).toContain('"event":"credentials-refused"');
    expect(stack.gateway.lines.join("\n")).not.toContain(TOKEN);
  });

  it.each([
    "/%2d/metrics",
    "/-%2fmetrics",
    "//-/metrics",
    "/-//metrics",
    "/-/METRICS",
    "/-/%6detrics",
    "/-/metrics/",
    "/./-/metrics",
    "/%2e/-/metrics",
    "/x/../-/metrics",
    "/x/%2e%2e/-/metrics",
    "/-/%2e/metrics",
    "/-/x/..%2fmetrics",
    "/-\\metrics",
    "\\-\\metrics",
    "/\\-/metrics",
    "/-/metrics%3f",
    "/-/metrics#x",
    "http://gw.test/-/metrics",
    "http://gw.test//-/metrics",
    "http://gw.test/%2d/metrics",
    "-/metrics",
    "*",
  ])("are not shown to a stranger for %s, and no origin gets it", async (target) => {
    const { status, body } = await rawRequest(stack.gateway.port, "GET", target);
    expect([400, 401, 404]).toContain(status);
    expect(body).not.toContain("waybill_");
    expect(origins.recorded).toEqual([]);
  });

  it.each(["gw.test/-/metrics?", "gw.test/-/metrics#", "gw.test/-", "x@gw.test/-/metrics?", "gw.test\\-\\metrics?"])(
    "are not shown for the host %s, to nobody",
    async (host) => {
      for (const field of ["x-nothing: 1", AUTHORIZED]) {
        const head = ["GET /metrics HTTP/1.1", `host: ${host}`, "connection: close", field, "", ""];
        const { status, body } = await sendRaw(stack.gateway.port, head.join("\r\n"));
        expect([400, 401, 404]).toContain(status);
        expect(body).not.toContain("waybill_");
      }
      expect(origins.recorded).toEqual([]);
    },
  );
});

it.each([
  ["between others", "a=1; SESSION; b=2", "a=1; b=2"],
  ["alone", "SESSION", undefined],
  ["before a line that the runtime joins", "SESSION, b=2", "b=2"],
  ["behind such a line, which has a comma too", "a=1,2, SESSION; c=3", "a=1,2; c=3"],
  ["beside bytes that no text can hold", "a=\xff; SESSION; b=2", undefined],
])("the session of a console reaches no origin: %s", async (_, cookie, sent) => {
  const fields = [`cookie: ${cookie.replace("SESSION", "__Host-waybill-session=operator.c2VjcmV0")}`];
  origins.recorded.length = 0;
  expect((await rawRequest(stack.gateway.port, "GET", "/cookies", fields)).status).toBe(200);
  expect(origins.recorded.map(({ headers }) => headers.cookie)).toEqual([sent]);
  expect(JSON.stringify(origins.recorded)).not.toContain("waybill-session");
});

describe("a gateway of npm start", () => {
  it.each([
    { ADMIN_TOKENS: JSON.stringify([{ name: "ci", scope: "viewer", sha256: "0f".repeat(32) }]) },
    { ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com", ACCESS_AUDIENCE: "0f".repeat(32) },
  ])("is open unless the environment has %o, which it then gets", (settings) => {
    expect([isOpen({}), isOpen(settings)]).toEqual([true, false]);
    expect(settingsFrom({ ...settings, HOME: "/" })).toEqual(settings);
  });
});

describe("open pages", () => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-open-"));
  let open: RunningGateway;
  beforeAll(async () => {
    open = await startGateway({
      port: 0,
      tableText: JSON.stringify(readDemoTable()),
      stateFolder: folder,
      openPages: true,
    });
  });
  afterAll(async () => {
    await open.stop();
    rmSync(folder, { recursive: true });
  });

  const ask = (method: string, path: string, host: string, fields: readonly string[] = [], body = "") => {
    const length = `content-length: ${Buffer.byteLength(body)}`;
    const head = [`${method} ${path} HTTP/1.1`, `host: ${host}`, length, "connection: close", ...fields, "", ""];
    return sendRaw(open.port, head.join("\r\n") + body);
  };

  it("neither tell nor take anything by a name that was rebound to this machine", async () => {
    const host = `evil.example:${open.port}`;
    const own = [`origin: http://${host}`, "sec-fetch-site: same-origin"];
    const before = await ask("GET", "/-/table", `127.0.0.1:${open.port}`);
    for (const [method, path] of [
      ["GET", "/-/table"],
      ["GET", "/-/metrics"],
      ["PUT", "/-/table"],
      ["POST", "/-/table/rollback"],
    ] as const) {
      const { status, body } = await ask(method, path, host, [...own, 'if-match: "1"'], before.body);
      expect([path, status]).toEqual([path, 403]);
      expect(body).toContain(`"host":"${host}"`);
      expect(body).toContain("ADMIN_TOKENS");
    }
    const { body: ready } = await ask("GET", "/-/ready", host, own);
    expect(ready).not.toContain("revision");
    expect((await ask("GET", "/-/table", `127.0.0.1:${open.port}`)).body).toBe(before.body);
  });

  it("are there by this machine's own names and by addresses", async () => {
    for (const host of ["localhost", "127.0.0.1", "[::1]:8787", "gateway.localhost:80", "192.168.1.5:8787"]) {
      expect([host, (await ask("GET", "/-/metrics", host)).status]).toEqual([host, 200]);
    }
  });
});

describe("the configuration that a gateway with open pages leaves", () => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-access-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  it("opens nothing", async () => {
    const tableText = JSON.stringify(readDemoTable());
    const open = await startGateway({ port: 0, tableText, stateFolder: folder, openPages: true });
    expect((await fetch(`${open.url}/-/metrics`)).status).toBe(200);
    await open.stop();
    const configPath = join(folder, "config.capnp");
    expect(readFileSync(configPath, "utf8")).not.toContain('"on"');
    const closed = await startWorkerd({ configPath });
    expect((await fetch(`${closed.url}/-/metrics`)).status).toBe(401);
    await closed.stop();
  });
});
