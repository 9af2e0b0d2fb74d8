import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/edge/config.ts";
import type { Env } from "../../src/edge/env.ts";

const { TABLE_KV, SEQUENCES, TRAFFIC, TABLE_TRUTH } = env as Env;
const bindings: Env = { TABLE_KV, SEQUENCES, TRAFFIC, TABLE_TRUTH };

describe("the Worker's settings", () => {
  it("has a default for each", () => {
    expect(readConfig(bindings)).toEqual({
      requestLog: "off",
      clientAddress: "cf-connecting-ip",
      forwardedFields: "replace",
      tableRefreshMs: 30_000,
      reportMs: 10_000,
      checkMs: 15_000,
      deadlines: { firstByteMs: 30_000, idleMs: 60_000, totalMs: 0 },
      publicKeys: { sealed: [], compatible: [] },
      signingKeys: [],
      rateLimits: { client: undefined, entity: undefined, lookup: undefined },
      auth: { openPages: false, tokens: [], access: undefined },
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
    };
    expect(readConfig({ ...bindings, ...set })).toEqual({
      requestLog: "json",
      clientAddress: "socket",
      forwardedFields: "append",
      tableRefreshMs: 5_000,
      reportMs: 0,
      checkMs: 1_000,
      deadlines: { firstByteMs: 0, idleMs: 7_000, totalMs: 86_400_000 },
      publicKeys: { sealed: [], compatible: [] },
      signingKeys: [],
      rateLimits: { client: undefined, entity: undefined, lookup: undefined },
      auth: { openPages: false, tokens: [], access: undefined },
    });
  });

  it.each([
    { REQUEST_LOG: "yes" },
    { CLIENT_ADDRESS: "x-forwarded-for" },
    { TABLE_REFRESH_SECONDS: "0" },
    { TABLE_REFRESH_SECONDS: "-1" },
    { TABLE_REFRESH_SECONDS: "1.5" },
    { TABLE_REFRESH_SECONDS: "1e3" },
    { TABLE_REFRESH_SECONDS: " 5" },
    { FIRST_BYTE_DEADLINE_MS: "" },
    { FIRST_BYTE_DEADLINE_MS: "86400001" },
    { IDLE_DEADLINE_MS: "-1" },
    { TOTAL_DEADLINE_MS: "1s" },
    { FORWARDED_FIELDS: "on" },
    { REPORT_SECONDS: "3601" },
    { CHECK_SECONDS: "0" },
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
    { ACCESS_OPERATORS: "*", ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com", ACCESS_AUDIENCE: "a" },
    { ACCESS_OPERATORS: "*@*", ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com", ACCESS_AUDIENCE: "a" },
    { ACCESS_OPERATORS: "*@com", ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com", ACCESS_AUDIENCE: "a" },
    { ACCESS_OPERATORS: "jane", ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com", ACCESS_AUDIENCE: "a" },
  ])("%j is refused by name, never replaced by a default", (set) => {
    const [name] = Object.keys(set);
    expect(() => readConfig({ ...bindings, ...set })).toThrow(name);
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
    });
    // What workerd gives for a variable that its environment does not have.
    expect(readConfig({ ...bindings, OPEN_PAGES: null }).auth.openPages).toBe(false);
    expect(readConfig({ ...bindings, OPEN_PAGES: "on" }).auth.openPages).toBe(true);
  });

  it("never says what a secret is", () => {
    expect(() => readConfig({ ...bindings, ADMIN_TOKENS: "waybill_secret" })).toThrow(/^(?!.*waybill_secret)/);
  });

  it("names every setting at fault at once", () => {
    const set = { REQUEST_LOG: "yes", CLIENT_ADDRESS: "no" };
    expect(() => readConfig({ ...bindings, ...set })).toThrow(/REQUEST_LOG.*CLIENT_ADDRESS/);
  });
});
