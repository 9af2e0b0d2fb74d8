import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const PAGE = new URL("../../../docs/guides/public-ids.md", import.meta.url);
const LIBRARY = new URL("../../../src/ids/public/index.ts", import.meta.url);

test("the example of the page prints what its comments say", () => {
  const example = /```js\n(.*?)```/s.exec(readFileSync(PAGE, "utf8"))?.[1] ?? "";
  const expected = [...example.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => comment);
  expect(expected).toHaveLength(5);
  const input = example.replace("@waybill/ids/public", LIBRARY.href);
  const output = execFileSync(process.execPath, ["--input-type=module", "-"], { input, encoding: "utf8" });
  expect(output.trimEnd().split("\n")).toEqual(expected);
});
