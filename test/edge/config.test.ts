import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/edge/config.ts";
import type { Env } from "../../src/edge/env.ts";
import { SETTING_NAMES } from "../../src/edge/settings.ts";

const { TABLE_KV, SEQUENCES, TRAFFIC, TABLE_TRUTH, IDEMPOTENCY, DIRECTORY } = env as Env;
const bindings: Env = { TABLE_KV, SEQUENCES, TRAFFIC, TABLE_TRUTH, IDEMPOTENCY, DIRECTORY };

const WEBHOOK_SECRET = `whsec_${Buffer.alloc(25, 7).toString("base64")}`;

describe("the Worker's settings", () => {
  it.each(["https://hooks.test", "https://hooks.test:8443/a?b=c", "http://localhost:9000/", "http://[::1]:9000/a"])(
    "sends events to %s, signed by one secret or two",
    (url) => {
      const secrets = [WEBHOOK_SECRET, `whsec_${Buffer.alloc(64, 9).toString("base64")}`];
      const read = (secret: string) => readConfig({ ...bindings, EVENTS_WEBHOOK: url, EVENTS_WEBHOOK_SECRET: secret });
      expect(read(WEBHOOK_SECRET)).toMatchObject({ webhook: { url, secrets: [WEBHOOK_SECRET] }, faults: [] });
      expect(read(secrets.join(", "))).toMatchObject({ webhook: { url, secrets }, faults: [] });
    },
  );

  it("has a default for each", () => {
    expect(readConfig(bindings)).toEqual({
      gatewayName: "waybill",
      environment: undefined,
      earlyAnswers: { bytesMax: 1_048_576, holdMs: 5_000 },
      requestLog: "off",
      clientAddress: "cf-connecting-ip",
      isOnEdge: true,
      forwardedFields: "replace",
      trustedProxies: undefined,
      fields: { passesOverride: false, hidesServer: false },
      tableRefreshMs: 30_000,
      reportMs: 10_000,
      checkMs: 15_000,
      deadlines: { firstByteMs: 30_000, idleMs: 60_000, totalMs: 0 },
      publicKeys: { sealed: [], compatible: [] },
      selfRegions: undefined,
      peerKeys: [],
      signingKeys: [],
      secrets: [],
      rateLimits: { client: undefined, entity: undefined, lookup: undefined },
      mustSign: false,
      consoleHost: undefined,
      consolePreview: [],
      metricsPush: undefined,
      webhook: undefined,
      keepsSamples: true,
      traceShare: undefined,
      mint: "open",
      auth: { openPages: false, tokens: [], access: undefined, isFaulty: false },
      faults: [],
    });
  });

  it("takes what is set", () => {
    const set = {
      REQUEST_LOG: "json",
      CLIENT_ADDRESS: "socket",
      TABLE_REFRESH_SECONDS: "5",
      FIRST_BYTE_DEADLINE_MS: "0",
      IDLE_DEADLINE_MS: "7000",
      TOTAL_DEADLINE_MS: "86400000",
      FORWARDED_FIELDS: "append",
      REPORT_SECONDS: "0",
      CHECK_SECONDS: "1",
      GATEWAY_NAME: "eu-edge",
      ENVIRONMENT: "EU production",
    };
    expect(readConfig({ ...bindings, ...set })).toEqual({
      gatewayName: "eu-edge",
      environment: "EU production",
      earlyAnswers: { bytesMax: 1_048_576, holdMs: 5_000 },
      requestLog: "json",
      clientAddress: "socket",
      isOnEdge: false,
      forwardedFields: "append",
      trustedProxies: undefined,
      fields: { passesOverride: false, hidesServer: false },
      tableRefreshMs: 5_000,
      reportMs: 0,
      checkMs: 1_000,
      deadlines: { firstByteMs: 0, idleMs: 7_000, totalMs: 86_400_000 },
      publicKeys: { sealed: [], compatible: [] },
      selfRegions: undefined,
      peerKeys: [],
      signingKeys: [],
      secrets: [],
      rateLimits: { client: undefined, entity: undefined, lookup: undefined },
      mustSign: false,
      consoleHost: undefined,
      consolePreview: [],
      metricsPush: undefined,
      webhook: undefined,
      keepsSamples: true,
      traceShare: undefined,
      mint: "open",
      auth: { openPages: false, tokens: [], access: undefined, isFaulty: false },
      faults: [],
    });
  });

  it.each([
    { REQUEST_LOG: "yes" },
    { GATEWAY_NAME: "a b" },
    { ENVIRONMENT: "" },
    { EVENTS_WEBHOOK: "https://hooks.test/waybill" },
    ...[
      "http://hooks.test/",
      "https://me:secret@hooks.test/",
      "http://127.0.0.1.evil.test/",
      "http://localhost@evil.test/",
      "https://hooks.test/#a",
      "https://",
      "ftp://localhost/",
      "hooks.test",
    ].map((url) => ({ EVENTS_WEBHOOK: url, EVENTS_WEBHOOK_SECRET: WEBHOOK_SECRET })),
    ...[
      "whsec_",
      "whsec_YWJj",
      WEBHOOK_SECRET.slice(6),
      `${WEBHOOK_SECRET.slice(0, -1)}`,
      `${WEBHOOK_SECRET}, whsec_x`,
    ].map((secret) => ({ EVENTS_WEBHOOK_SECRET: secret, EVENTS_WEBHOOK: "https://hooks.test/" })),
    { EVENTS_WEBHOOK: "https://hooks.test/", EVENTS_WEBHOOK_SECRET: WEBHOOK_SECRET, REPORT_SECONDS: "0" },
    { ENVIRONMENT: "<b>production</b>" },
    { ENVIRONMENT: "production " },
    { ENVIRONMENT: "p".repeat(41) },
    { CLIENT_ADDRESS: "x-forwarded-for" },
    { TABLE_REFRESH_SECONDS: "0" },
    { TABLE_REFRESH_SECONDS: "-1" },
    { TABLE_REFRESH_SECONDS: "1,5" },
    { TABLE_REFRESH_SECONDS: "1e3" },
    { TABLE_REFRESH_SECONDS: " 5" },
    { FIRST_BYTE_DEADLINE_MS: "" },
    { FIRST_BYTE_DEADLINE_MS: "86400001" },
    { IDLE_DEADLINE_MS: "-1" },
    { TOTAL_DEADLINE_MS: "1s" },
    { FORWARDED_FIELDS: "on" },
    { REPORT_SECONDS: "3601" },
    { CHECK_SECONDS: "-1" },
    { OPEN_PAGES: "yes" },
    { OPEN_PAGES: "on", ADMIN_TOKENS: `[{"name":"ci","scope":"viewer","sha256":"${"0".repeat(64)}"}]` },
    { OPEN_PAGES: "on", ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com", ACCESS_AUDIENCE: "a" },
    { ADMIN_TOKENS: "[]" },
    { ADMIN_TOKENS: "waybill_secret" },
    { ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com" },
    { ACCESS_TEAM_DOMAIN: "https://acme.cloudflareaccess.com", ACCESS_AUDIENCE: "a" },
    { ACCESS_TEAM_DOMAIN: "acme", ACCESS_AUDIENCE: "a" },
    { ACCESS_AUDIENCE: "a" },
    { ACCESS_AUDIENCE: "a,,b", ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com" },
    { ACCESS_AUDIENCE: "", ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com" },
    { ACCESS_OPERATORS: "jane@acme.com" },
    { ACCESS_SUPPORT: "jane@acme.com" },
    { ACCESS_OPERATORS: "*", ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com", ACCESS_AUDIENCE: "a" },
    { ACCESS_OPERATORS: "*@*", ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com", ACCESS_AUDIENCE: "a" },
    { ACCESS_OPERATORS: "*@com", ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com", ACCESS_AUDIENCE: "a" },
    { ACCESS_OPERATORS: "jane", ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com", ACCESS_AUDIENCE: "a" },
  ])("%j is a fault by name", (set) => {
    const [name = ""] = Object.keys(set);
    expect(readConfig({ ...bindings, ...set }).faults).toMatchObject([
      { setting: name, why: expect.stringContaining(name) },
    ]);
  });

  it.each([
    [{ REQUEST_LOG: "yes" }, 'REQUEST_LOG: must be ("off" | "json")'],
    [{ REQUEST_LOG: 7 }, 'REQUEST_LOG: must be ("off" | "json")'],
    [{ GATEWAY_NAME: null }, "GATEWAY_NAME: must be a text"],
    [{ CHECK_SECONDS: "-1" }, "CHECK_SECONDS: must be a whole number from 0 to 3600"],
    [{ CHECK_SECONDS: "3601" }, "CHECK_SECONDS: must be a whole number from 0 to 3600"],
    [{ CHECK_SECONDS: "1.5" }, "CHECK_SECONDS: must be a whole number from 0 to 3600"],
    [{ IDLE_DEADLINE_MS: "60s" }, "IDLE_DEADLINE_MS: must be a whole number from 0 to 86400000"],
    [{ CHECK_SECONDS: 15 }, "CHECK_SECONDS: must be a text"],
    [
      { TABLE_REFRESH_SECONDS: "0.0" },
      "TABLE_REFRESH_SECONDS: must be a number of at most one decimal from 0.1 to 86400",
    ],
    [
      { TABLE_REFRESH_SECONDS: "86400.1" },
      "TABLE_REFRESH_SECONDS: must be a number of at most one decimal from 0.1 to 86400",
    ],
    [
      { TABLE_REFRESH_SECONDS: "1.55" },
      "TABLE_REFRESH_SECONDS: must be a number of at most one decimal from 0.1 to 86400",
    ],
    [{ RATE_LIMIT_PERIOD_SECONDS: "20" }, 'RATE_LIMIT_PERIOD_SECONDS: must be ("10" | "60")'],
    [
      { ACCESS_TEAM_DOMAIN: "a.b", ACCESS_AUDIENCE: Array(11).fill("a").join() },
      "ACCESS_AUDIENCE: must be at most 10 values",
    ],
    [
      { PUBLIC_ID_KEYS: '{"sealed":[{"id":"a"}]}' },
      'PUBLIC_ID_KEYS: sealed.0.key must be like {"id": "2026", "key": "<base64>"}.',
    ],
    [{ PUBLIC_ID_KEYS: '{"sealed":[{"id":7,"key":"AA=="}]}' }, "PUBLIC_ID_KEYS: sealed.0.id is no text."],
    [{ PUBLIC_ID_KEYS: '{"compatible":[{"id":"","key":"AA=="}]}' }, "PUBLIC_ID_KEYS: compatible.0.id is empty."],
    [{ PUBLIC_ID_KEYS: '{"compatible":[{"id":"a","key":"A"}]}' }, "PUBLIC_ID_KEYS: compatible.0.key is not base64."],
    [{ PUBLIC_ID_KEYS: '{"sealed":{}}' }, "PUBLIC_ID_KEYS: sealed is no list."],
    [
      { PUBLIC_ID_KEYS: '{"sealed":[{"id":"a","key":"AA==","secret":1}]}' },
      "PUBLIC_ID_KEYS: sealed.0 must have no other members than id and key.",
    ],
    [{ PUBLIC_ID_KEYS: '{"secret":1}' }, "PUBLIC_ID_KEYS: it must have no other members than sealed and compatible."],
  ])("%j is a fault in these words", (set, why) => {
    expect(readConfig({ ...bindings, ...set }).faults).toEqual([{ setting: why.split(/[ :]/)[0], why }]);
  });

  const signing = (...keys: readonly object[]) => ({ ORIGIN_SIGNING_KEYS: JSON.stringify(keys) });
  const key = btoa("k".repeat(32));
  it.each([
    [1, signing({ id: "a", key })],
    [2, signing({ id: "a", key }, { id: "b", key })],
    [0, signing()],
    [0, signing({ id: "a", key }, { id: "a", key })],
    [0, signing({ id: "a", key }, { id: "b", key }, { id: "c", key })],
    [0, signing({ id: "a", key: btoa("k".repeat(31)) })],
    [0, signing({ id: "a", key: `${key}=` })],
    [0, signing({ id: "a", key, more: 1 })],
    [0, signing({ id: 7, key })],
    [0, { ORIGIN_SIGNING_KEYS: `[{"id":"a","id":"b","key":"${key}"}]` }],
    [0, { ORIGIN_SIGNING_KEYS: `{"0":{"id":"a","key":"${key}"},"length":1}` }],
  ])("%i signing keys are read of %j", (count, set) => {
    const config = readConfig({ ...bindings, ...set });
    expect([config.signingKeys.length, config.faults.length]).toEqual([count, count === 0 ? 1 : 0]);
  });

  it("replaces what is wrong by what is safe", () => {
    const wrong = Object.fromEntries(SETTING_NAMES.map((name) => [name, "wrong,"]));
    const { faults, ...config } = readConfig({ ...bindings, ...wrong });
    const { faults: _, ...defaults } = readConfig(bindings);
    expect(new Set(faults.map(({ setting }) => setting))).toEqual(new Set(SETTING_NAMES));
    expect(config).toEqual({
      ...defaults,
      clientAddress: "either",
      isOnEdge: false,
      fields: { passesOverride: false, hidesServer: true },
      mustSign: true,
      mint: "faulty",
      keepsSamples: false,
      primaryKeys: "faulty",
      auth: { ...defaults.auth, isFaulty: true },
    });
  });

  it("says who may come in", () => {
    const set = {
      ADMIN_TOKENS: `[{"name":"ci","scope":"viewer","sha256":"${"0f".repeat(32)}"}]`,
      ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com",
      ACCESS_AUDIENCE: "a, b",
      ACCESS_OPERATORS: "Jane@Acme.com,*@ops.acme.com",
      OPEN_PAGES: "off",
    };
    expect(readConfig({ ...bindings, ...set }).auth).toEqual({
      openPages: false,
      tokens: [{ name: "ci", scope: "viewer", sha256: new Uint8Array(32).fill(15) }],
      access: {
        issuer: "https://acme.cloudflareaccess.com",
        audiences: ["a", "b"],
        operators: ["jane@acme.com", "*@ops.acme.com"],
      },
      isFaulty: false,
    });
    // workerd gives `null` for a variable that its environment does not have.
    expect(readConfig({ ...bindings, OPEN_PAGES: null }).auth.openPages).toBe(false);
    expect(readConfig({ ...bindings, OPEN_PAGES: "on" }).auth.openPages).toBe(true);
  });

  it("takes an empty MINT for none", () => {
    expect(readConfig({ ...bindings, MINT: "" })).toEqual(readConfig(bindings));
    expect(readConfig({ ...bindings, MINT: " " })).toMatchObject({ mint: "faulty", faults: [{ setting: "MINT" }] });
  });

  it("never says what a secret is", () => {
    for (const name of ["ADMIN_TOKENS", "ORIGIN_SIGNING_KEYS", "PUBLIC_ID_KEYS"]) {
      const { faults } = readConfig({ ...bindings, [name]: "waybill_secret" });
      expect([faults.length, JSON.stringify(faults).includes("waybill_secret")]).toEqual([1, false]);
    }
  });

  it("names every setting at fault at once", () => {
    const set = { REQUEST_LOG: "yes", CLIENT_ADDRESS: "no" };
    expect(readConfig({ ...bindings, ...set }).faults.map(({ setting }) => setting)).toEqual(Object.keys(set));
  });
});

describe("a gateway of a mesh", () => {
  const key = (byte: number) => btoa(String.fromCharCode(byte).repeat(32));
  const keysOf = (...bytes: readonly number[]) =>
    JSON.stringify(bytes.map((byte) => ({ id: `k${byte}`, key: key(byte) })));
  const WHOLE = { SELF_REGIONS: "eu, us", PEER_KEYS: keysOf(1), GATEWAY_NAME: "eu-gw" };

  it("has regions, keys and a name", () => {
    const { selfRegions, peerKeys, faults } = readConfig(WHOLE);
    expect([selfRegions, peerKeys.map(({ id }) => id), faults]).toEqual([["eu", "us"], ["k1"], []]);
    expect(readConfig({ ...WHOLE, SELF_REGIONS: "none", PEER_KEYS: keysOf(1, 2) })).toMatchObject({
      selfRegions: [],
      faults: [],
    });
  });

  it.each<readonly [what: string, settings: object, faulty: readonly string[]]>([
    ["no keys", { PEER_KEYS: undefined }, ["PEER_KEYS"]],
    ["no regions", { SELF_REGIONS: undefined }, ["PEER_KEYS"]],
    ["no name", { GATEWAY_NAME: undefined }, ["GATEWAY_NAME"]],
    ["the name that all have", { GATEWAY_NAME: "waybill" }, ["GATEWAY_NAME"]],
    ["an empty list", { SELF_REGIONS: "" }, ["SELF_REGIONS"]],
    ["a region twice", { SELF_REGIONS: "eu,us,eu" }, ["SELF_REGIONS"]],
    ["a text that is no name", { SELF_REGIONS: "eu;us" }, ["SELF_REGIONS"]],
    ["three keys", { PEER_KEYS: keysOf(1, 2, 3) }, ["PEER_KEYS"]],
    ["a short key", { PEER_KEYS: JSON.stringify([{ id: "a", key: btoa("short") }]) }, ["PEER_KEYS"]],
    ["a key that origins know", { ORIGIN_SIGNING_KEYS: keysOf(7, 1) }, ["PEER_KEYS"]],
  ])("is told of %s", (_, settings, faulty) => {
    const { faults } = readConfig({ ...WHOLE, ...settings });
    expect(faults.map(({ setting }) => setting)).toEqual(faulty);
    for (const { why } of faults) expect(why).not.toContain(key(1));
  });

  it("seals nothing else with its keys", () => {
    expect(readConfig(WHOLE).secrets).toEqual([]);
  });
});
