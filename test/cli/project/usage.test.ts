import { describe, expect, it } from "vitest";
import { waybill } from "../fake-runtime.ts";

describe("commands of a project refuse wrong use with 64, before they do anything", () => {
  it.each([
    [["start", "--port", "65536"], /A port from 0 to 65535/],
    [["start", "--port", "http"], /A port from 0 to 65535/],
    [["start", "--port", "-1"], /A port from 0 to 65535|argument missing|unknown option/],
    [["start", "--port", "0", "--listen", "127.0.0.1:0"], /exclude each other/],
    [["start", "--listen", "8787"], /write host and port/],
    [["start", "a.json", "b.json"], /too many arguments/],
    [["start", "--watch"], /unknown option/],
  ])("%j", async (args, words) => {
    const { code, stdout, stderr } = await waybill(args);
    expect([code, stdout, stderr]).toEqual([64, "", expect.stringMatching(words)]);
  });

  it("say what to do in a folder without a table", async () => {
    expect(await waybill(["start"])).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "error: no table: there is no routing-table.json in this folder; `waybill init` writes a project with one\n",
    });
  });

  it.each([
    [["start", "9000"], { npm_config_port: "true" }, /npm took --port for itself; .*: npm start -- --port 9000\n/],
    [["start"], { npm_config_port: "9000" }, /npm took --port for itself/],
    [["start", "a.json", "0.0.0.0:80"], { npm_config_listen: "true" }, /npm took --listen for itself/],
    [["table", "check", "a", "b"], { npm_config_strict: "true" }, /npm took --strict for itself/],
  ])("%j, where npm took an option: %j", async (args, env, words) => {
    const { code, stdout, stderr } = await waybill(args, { env });
    expect([code, stdout, stderr]).toEqual([64, "", expect.stringMatching(words)]);
  });
});
