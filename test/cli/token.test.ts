import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { waybill } from "./fake-runtime.ts";

const digestOf = (token: string): string => createHash("sha256").update(token).digest("hex");

describe.concurrent("waybill token new", () => {
  it("prints the token to stdout and its entry, without the token, to stderr", async () => {
    const { stdout, stderr, code } = await waybill(["token", "new", "--name", "ci", "--scope", "operator"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^waybill_[A-Za-z0-9_-]{43}\n$/);
    expect(JSON.parse(stderr)).toEqual({ name: "ci", scope: "operator", sha256: digestOf(stdout.trim()) });
  });

  it("prints one object with --json", async () => {
    const { stdout, stderr } = await waybill(["token", "new", "--name", "a.b_c-1", "--scope", "viewer", "--json"]);
    const { token, entry } = JSON.parse(stdout);
    expect([entry, stderr]).toEqual([{ name: "a.b_c-1", scope: "viewer", sha256: digestOf(token) }, ""]);
  });

  it("makes another one each time", async () => {
    const args = ["token", "new", "--name", "ci", "--scope", "viewer"];
    const outcomes = await Promise.all([waybill(args), waybill(args)]);
    expect(new Set(outcomes.map(({ stdout }) => stdout)).size).toBe(2);
  });

  it.each([
    [["--scope", "viewer"], /--name/],
    [["--name", "ci"], /--scope/],
    [["--name", "ci", "--scope", "admin"], /viewer, operator/],
    [["--name", "", "--scope", "viewer"], /A name has letters/],
    [["--name", "jane@acme.com", "--scope", "viewer"], /A name has letters/],
    [["--name", "x".repeat(65), "--scope", "viewer"], /A name has letters/],
  ])("refuses %j", async (args, said) => {
    const { stdout, stderr, code } = await waybill(["token", "new", ...args]);
    expect([code, stdout]).toEqual([64, ""]);
    expect(stderr).toMatch(said);
  });
});
