import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { accessNote, namesIn } from "../../../src/host/deploy/checks.ts";

const TOML = readFileSync(new URL("../../../wrangler.toml", import.meta.url), "utf8");

it("a deployment that nobody may look into is told of", () => {
  expect(accessNote(TOML, [], [])).toMatch(/^warning: neither ADMIN_TOKENS nor ACCESS_TEAM_DOMAIN is set: .*401/);
  expect(accessNote(TOML, [], undefined)).toMatch(/^warning: the secrets could not be listed/);
});

it.each([
  ["a secret", TOML, [], ["PUBLIC_ID_KEYS", "ADMIN_TOKENS"]],
  ["Access in wrangler.toml", `${TOML}\n[vars]\nACCESS_TEAM_DOMAIN = "acme.cloudflareaccess.com"\n`, [], []],
  ["Access on the command line", TOML, ["--var", "ACCESS_TEAM_DOMAIN:acme.cloudflareaccess.com"], undefined],
])("a deployment with %s is not", (_, toml, args, secrets) => {
  expect(accessNote(toml, args, secrets)).toBeUndefined();
});

it("a comment is no setting, and open pages are told of whatever else is set", () => {
  expect(accessNote(`${TOML}\n# ADMIN_TOKENS = "x"`, [], [])).toMatch(/^warning: neither/);
  expect(accessNote(TOML, ["--var", "OPEN_PAGES:on"], ["ADMIN_TOKENS"])).toMatch(/^warning: OPEN_PAGES/);
});

it("secrets are read from what wrangler lists", () => {
  expect(namesIn('[{"name":"ADMIN_TOKENS","type":"secret_text"}]')).toEqual(["ADMIN_TOKENS"]);
  expect(namesIn("[]")).toEqual([]);
  expect([namesIn("{}"), namesIn("not logged in")]).toEqual([undefined, undefined]);
});
