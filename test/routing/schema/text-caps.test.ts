import { describe, expect, test } from "vitest";
import { checkText } from "../../../src/cli/lib/table-file.ts";
import { declaredPacks } from "../../../src/features/packs/table/schema.ts";
import { CONDITION_VALUES_MAX, ROUTES_MAX } from "../../../src/routing/limits.ts";
import { checkTable, loadTableText } from "../../../src/routing/load.ts";
import { CONTAINERS_MAX, excessOf, parseTableText } from "../../../src/routing/schema/parse.ts";
import { sampleTable } from "../tables.ts";

/** Not JSON: whoever goes on after the cap finds another fault. */
const BROKEN = "}]!";
const list = (count: number, item = "0"): string => `[${Array(count).fill(item).join(",")}`;

describe("a text that is too much for a table is refused before its end", () => {
  const cases: [string, string, string][] = [
    ["a list as the whole", list(ROUTES_MAX + 1, "{}"), ""],
    ["a part", `{"regions":{},"routes":${list(ROUTES_MAX + 1, "{}")}`, "/routes"],
    ["a part whose key could be anything", `{"r\\u006futes" : ${list(ROUTES_MAX + 1, "{}")}`, ""],
    ["a part whose key is no name", `{"${"a".repeat(200)}":${list(ROUTES_MAX + 1, "{}")}`, ""],
    ["a list in a part", `{"routes" : [{"when":{"service":${list(CONDITION_VALUES_MAX + 1)}`, "/routes"],
    ["an object in a part", `{"routes":[{"when":{"fields":{${`"a":0,`.repeat(CONDITION_VALUES_MAX)}`, "/routes"],
    [
      "objects and lists",
      `{"default":[${`${list(CONDITION_VALUES_MAX).replaceAll("0", "[]")}],`.repeat(
        Math.ceil(CONTAINERS_MAX / CONDITION_VALUES_MAX),
      )}`,
      "",
    ],
  ];

  test.each(cases)("%s", (_, head, pointer) => {
    const text = head + BROKEN;
    const faults = [{ pointer, kind: "size", message: expect.stringMatching(/^At most \d+ .* there are more\.$/) }];
    expect(parseTableText(text)).toEqual({ ok: false, error: faults });
    expect(loadTableText(text, 1)).toEqual({ ok: false, error: faults });
    expect(declaredPacks(text)).toEqual([]);
    const column = pointer === "" ? 1 : text.indexOf(`"${pointer.slice(1)}"`) + 1;
    const placed = faults.map((fault) => ({ ...fault, line: 1, column }));
    expect(checkText(new TextEncoder().encode(text), checkTable)).toEqual({ ok: false, error: placed });
  });
});

describe("a text that is no more than a table may be is read to its end", () => {
  test.each([
    ["the longest part", `{"routes":${list(ROUTES_MAX)}],"moved":{}}`],
    ["the longest part of a table in a wish", `{"table":{"routes":${list(ROUTES_MAX)}]}}`],
    ["the longest list of a condition", `{"routes":[{"when":{"service":${list(CONDITION_VALUES_MAX)}]}}]}`],
    ["what only looks like brackets and commas", `{"a\\"[":"${"{,".repeat(CONTAINERS_MAX)}\\\\","b":0}`],
    ["many short lists", `{"routes":${list(ROUTES_MAX, "[[]]")}]}`],
  ])("%s", (_, text) => {
    expect(excessOf(text)).toBeUndefined();
    expect(parseTableText(text)).toMatchObject({ ok: true });
  });

  test("and so is a table", () => {
    const text = JSON.stringify(sampleTable());
    expect(parseTableText(text)).toEqual({ ok: true, value: sampleTable() });
  });

  test.each(["", '"', "}]", '{"a', '{"a\\', ",,,", '"\\"'])("text that is no JSON has another fault: %s", (text) => {
    expect(parseTableText(text)).toMatchObject({ ok: false, error: [{ kind: "syntax" }] });
  });
});
