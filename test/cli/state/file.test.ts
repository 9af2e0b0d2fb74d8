import { describe, expect, it } from "vitest";
import { waybill } from "../fake-runtime.ts";
import { MemoryFiles } from "../memory-files.ts";
import { endedBy, exportText, HEADER, SEQUENCE } from "./export-file.ts";

const verify = (text: string) =>
  waybill(["state", "verify", "waybill.state"], { files: MemoryFiles.of({ "waybill.state": text }) });

const WHOLE = exportText([SEQUENCE], HEADER, ["a pack"]);
const lines = WHOLE.trimEnd().split("\n");
const without = (at: number): string => lines.toSpliced(at, 1).join("\n");
const changed = (at: number, from: string, to: string): string =>
  `${lines.with(at, (lines[at] as string).replace(from, to)).join("\n")}\n`;
/** The lines before the end, with another one in their place and an end that fits. */
const ended = (own: readonly string[], counts: object = { objects: 1, rows: 1, values: 1 }): string =>
  endedBy(own, counts);

describe("an export is whole", () => {
  it("or the command says of whom it is", async () => {
    expect(await verify(WHOLE)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("whole; 1 object, 1 row, 1 value of KV; by version 1.0.0"),
    });
  });

  it.each([
    ["an empty file", "", "is empty"],
    ["another file", "{}\n", "is no export"],
    ["a table", '{"regions":{}}\n', "is no export"],
    ["a later format", exportText([], { ...HEADER, format: 2 }), "this version reads 1. Update it"],
    ["a header without a member", exportText([], { ...HEADER, parts: undefined }), "is not that of an export"],
    ["a cut file", lines.slice(0, 3).join("\n"), "is cut"],
    ["a file without its end", `${lines.slice(0, -1).join("\n")}\n`, "is cut"],
    ["a file that is cut in a line", WHOLE.slice(0, -30), "no line of an export"],
    ["a changed row", changed(3, "65", "66"), "rows of the object have another digest"],
    ["a changed name of a column", changed(2, "next", "mext"), "rows of the object have another digest"],
    ["a changed number of rows", changed(4, '"rows":1', '"rows":2'), "its end says 2"],
    ["a changed value", changed(5, "YSBwYWNr", "YSBwYWNs"), "has another digest"],
    ["a changed header", changed(0, "1.0.0", "1.0.1"), "lines before have another digest"],
    ["a row too few", without(3), "its end says 1"],
    ["an object too few", `${lines.toSpliced(1, 4).join("\n")}\n`, "another digest"],
    ["more behind the end", `${WHOLE}{}\n`, "more behind the end"],
    ["other counts", ended(lines.slice(0, -1), { objects: 2, rows: 1, values: 1 }), "counts are not those"],
    ["an object twice", ended([...lines.slice(0, 5), ...lines.slice(1, 5)]), "is there twice"],
    [
      "an object of another part",
      ended([lines[0] as string, `{"object":"${"a".repeat(64)}","part":"others"}`]),
      "no part others",
    ],
    [
      "a path as an object",
      ended([lines[0] as string, '{"object":"../../x","part":"tables"}']),
      "no line of an export",
    ],
    [
      "a path as a value",
      ended([lines[0] as string, `{"value":"../x","sha256":"${"a".repeat(64)}","base64":""}`]),
      "no line of an export",
    ],
    ["a row before its table", ended([...lines.slice(0, 2), "[1]"]), "before its table"],
    ["a row with more values", ended([...lines.slice(0, 3), "[0,1,0,1]"]), "4 values for 3 columns"],
    ["a table twice", ended([...lines.slice(0, 4), lines[2] as string]), "is there twice"],
    ["a line that is no JSON", ended([...lines.slice(0, 3), "["]), "no line of an object"],
    ["an empty line", ended([...lines.slice(0, 3), ""]), "no line of an object"],
  ])("refuses %s", async (_, text, why) => {
    const outcome = await verify(text);
    expect(outcome).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(why) });
    expect(outcome.stderr).toContain("Nothing of it was used.");
  });

  it("refuses each single changed character", async () => {
    for (let at = 0; at < WHOLE.length; at += 7) {
      const other = WHOLE[at] === "5" ? "6" : "5";
      const text = WHOLE.slice(0, at) + other + WHOLE.slice(at + 1);
      const outcome = await verify(text);
      expect(outcome.code, `${at}: ${outcome.stdout}`).toBe(1);
    }
  });

  it("wants to know which gateway, and one of them", async () => {
    const files = MemoryFiles.of({ "waybill.state": WHOLE });
    const import_ = (...more: readonly string[]) => waybill(["state", "import", "waybill.state", ...more], { files });
    expect(await import_()).toMatchObject({ code: 64, stderr: expect.stringContaining("--state") });
    const both = await import_("--state", "a", "--gateway", "http://127.0.0.1:1");
    expect(both).toMatchObject({ code: 64, stderr: expect.stringContaining("one of them") });
    expect(await import_("--sequence-gap", "-1", "--state", "a")).toMatchObject({ code: 64 });
    const stdin = await waybill(["state", "import", "-", "--state", "a"], { files });
    expect(stdin).toMatchObject({ code: 64, stderr: expect.stringContaining("read twice") });
  });
});
