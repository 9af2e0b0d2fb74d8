import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { putPacks, splitArgs } from "../../../src/host/deploy/kv.ts";

const pack = (name: string) => ({
  name,
  sha256: name,
  parts: [{ key: `pack.${name}`, bytes: new Uint8Array([1, 2, 255]) }],
});

describe("packs of a table that is deployed", () => {
  it("are put one after the other, with their octets as text, and leave no file", async () => {
    const files: string[] = [];
    const seen: unknown[] = [];
    const code = await putPacks([pack("a"), pack("b")], ["--binding", "TABLE_KV", "--remote"], async (args) => {
      const [kv, bulk, put, file = "", ...where] = args;
      files.push(file);
      seen.push([kv, bulk, put, where, JSON.parse(readFileSync(file, "utf8"))]);
      return 0;
    });
    expect(code).toBe(0);
    expect(seen).toEqual(
      ["a", "b"].map((name) => [
        "kv",
        "bulk",
        "put",
        ["--binding", "TABLE_KV", "--remote"],
        [{ key: `pack.${name}`, value: "AQL/", base64: true }],
      ]),
    );
    expect(files.filter(existsSync)).toEqual([]);
  });

  it("that KV does not take end the deployment", async () => {
    let asked = 0;
    const code = await putPacks([pack("a"), pack("b")], [], async () => {
      asked++;
      return 7;
    });
    expect([code, asked]).toEqual([7, 1]);
  });
});

describe("the arguments of a deployment", () => {
  it.each([
    [[], ["--binding", "TABLE_KV", "--remote"], []],
    [["--minify"], ["--binding", "TABLE_KV", "--remote"], ["--minify"]],
    [
      ["--namespace-id", "abc", "--env", "eu"],
      ["--namespace-id", "abc", "--remote", "--env", "eu"],
      ["--env", "eu"],
    ],
    [
      ["--namespace-id=abc", "--config=x.toml"],
      ["--namespace-id", "abc", "--remote", "--config=x.toml"],
      ["--config=x.toml"],
    ],
    [
      ["--name", "gw", "-c", "x.toml"],
      ["--binding", "TABLE_KV", "--remote", "-c", "x.toml"],
      ["--name", "gw", "-c", "x.toml"],
    ],
  ])("%j say where KV is", (args, where, rest) => {
    expect(splitArgs(args)).toEqual({ where, rest });
  });
});
