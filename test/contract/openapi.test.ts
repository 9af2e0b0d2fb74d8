import { readFileSync } from "node:fs";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import spectral, { type RulesetDefinition } from "@stoplight/spectral-core";
import rulesets from "@stoplight/spectral-rulesets";
import { describe, expect, it } from "vitest";

/** The OpenAPI document by the rules of two linters. `worker/pages.test.ts` keeps the file true. */

const TEXT = readFileSync(new URL("snapshots/openapi.json", import.meta.url), "utf8");

/** Errors of Spectral's rules for OpenAPI: `spectral:oas`, all of them. */
const spectralErrors = async (text: string): Promise<readonly string[]> => {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [[rulesets.oas as RulesetDefinition, "all"]] });
  const found = await linter.run(JSON.parse(text));
  return found.filter(({ severity }) => severity === 0).map(({ code, path }) => `${code} ${path.join("/")}`);
};

/** Errors of Redocly's recommended rules. */
const redoclyErrors = async (text: string): Promise<readonly string[]> => {
  const config = await createConfig({ extends: ["recommended"] });
  const found = await lintFromString({ source: text, absoluteRef: "/openapi.json", config });
  return found.filter(({ severity }) => severity === "error").map(({ ruleId, message }) => `${ruleId} ${message}`);
};

describe("the OpenAPI document", () => {
  it("has one dialect of JSON Schema", () => expect(TEXT).not.toContain("$schema"));

  it("passes Spectral's rules", async () => expect(await spectralErrors(TEXT)).toEqual([]));

  it("passes Redocly's rules", async () => expect(await redoclyErrors(TEXT)).toEqual([]));
});

describe("a fault is found: the linters do run", () => {
  const planted = (path: string, value: unknown): string => {
    const document = JSON.parse(TEXT);
    const names = path.split(" ");
    const last = names.pop() as string;
    Object.assign(
      names.reduce((object, name) => object[name], document),
      { [last]: value },
    );
    return JSON.stringify(document);
  };

  it("another dialect", async () => {
    const text = planted("components schemas MintBody $schema", "http://json-schema.org/draft-07/schema#");
    expect(await spectralErrors(text)).toEqual([expect.stringContaining("oas3-valid-media-example paths//mint")]);
  });

  it("an operation's name twice, and a reference to nothing", async () => {
    expect(await spectralErrors(planted("paths /-/health get operationId", "ready"))).not.toEqual([]);
    expect(await redoclyErrors(planted("paths /-/health get operationId", "ready"))).not.toEqual([]);
    const lost = { $ref: "#/components/schemas/Nowhere" };
    expect(await redoclyErrors(planted("components schemas Problem", lost))).not.toEqual([]);
  });
});
