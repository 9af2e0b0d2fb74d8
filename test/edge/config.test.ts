import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/edge/config.ts";
import type { Env } from "../../src/edge/env.ts";

const { TABLE_KV, SEQUENCES, TRAFFIC } = env as Env;
const bindings = { TABLE_KV, SEQUENCES, TRAFFIC };

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
  ])("%j is refused by name, never replaced by a default", (set) => {
    const [name] = Object.keys(set);
    expect(() => readConfig({ ...bindings, ...set })).toThrow(name);
  });

  it("names every setting at fault at once", () => {
    const set = { REQUEST_LOG: "yes", CLIENT_ADDRESS: "no" };
    expect(() => readConfig({ ...bindings, ...set })).toThrow(/REQUEST_LOG.*CLIENT_ADDRESS/);
  });
});
