import { expect, test } from "vitest";
import { everyLayout } from "../../src/ids/index.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import { waybill } from "./fake-runtime.ts";
import { MemoryFiles } from "./memory-files.ts";

const files = MemoryFiles.of({
  "routing-table.json": `// as edited\n${JSON.stringify({ ...DECLARED_TABLE, directory: { slug: { key: { text: "lower" } } } })}`,
  "other.json": JSON.stringify({ regions: { mars: {} } }),
  "broken.json": "{",
  "odd.json": JSON.stringify({
    regions: Object.fromEntries(
      [
        "a$(x)",
        "b`x`",
        "c;x",
        "d'e",
        'f"g',
        "h i",
        "j*",
        "m\\n",
        "$HOME",
        "~",
        "<(x)",
        "n\to",
        "p|x",
        "q&",
        "r#",
        "s!x",
        "{a,b}",
        "good-1",
      ].map((name) => [name, {}]),
    ),
  }),
});

const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
  const { stdout, stderr, code } = await waybill(["complete", "--", ...words], { files });
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t")[0] ?? "");
};

const REGIONS = Object.keys(DECLARED_TABLE.regions);
const ENTITIES = Object.keys(DECLARED_TABLE.entities);
const LAYOUTS = everyLayout.map(({ name }) => name);

test("a name that means something to a shell is left out", async () => {
  expect(await complete("canary", "0", "--table", "odd.json", "--region", "")).toEqual(["words", "good-1"]);
});

test.each<[words: readonly string[], found: readonly string[]]>([
  [["ex"], ["words", "explain", "export"]],
  [
    ["table", "che"],
    ["words", "check"],
  ],
  [["table", "check", ""], ["files"]],
  [["table", "check", "a", ""], ["words"]],
  [["table", "diff", "a", "b"], ["files"]],
  [
    ["help", "tab"],
    ["words", "table"],
  ],
  [
    ["token", "new", "--s"],
    ["words", "--scope"],
  ],
  [
    ["token", "new", "--scope", "v"],
    ["words", "viewer"],
  ],
  [
    ["token", "new", "--scope=v"],
    ["words", "--scope=viewer"],
  ],
  [
    ["id", "range", "iuid", "--for", "mari"],
    ["words", "mariadb"],
  ],
  [
    ["export", "n"],
    ["words", "nginx"],
  ],
  [
    ["locate", "ids.txt", "--format", "n"],
    ["words", "ndjson"],
  ],
  [
    ["luuid", "verify", "--old", "g"],
    ["words", "gone"],
  ],
  [["luuid", "verify", "eu=a", "us"], ["files"]],
  [
    ["completion", "z"],
    ["words", "zsh"],
  ],
  [["build", "--out", ""], ["folders"]],
  [["build", "--out=b"], ["folders"]],
  [["serve", ""], ["folders"]],
  [
    ["layout", ""],
    ["words", ...LAYOUTS],
  ],
  [
    ["mint", "ulid", "--layout", "uli"],
    ["words", "ulid"],
  ],
  [
    ["id", "convert", "--to", "uli"],
    ["words", "ulid"],
  ],
  [
    ["mint", "--entity", ""],
    ["words", ...ENTITIES],
  ],
  [
    ["mint", "--country", "K"],
    ["words", "KZ"],
  ],
  [
    ["move", "start", "--to", ""],
    ["words", ...REGIONS],
  ],
  [
    ["canary", "0", "--region", ""],
    ["words", ...REGIONS],
  ],
  [
    ["canary", "0", "--region", "", "--table", "other.json", "--region", ""],
    ["words", "mars"],
  ],
  [
    ["canary", "--table=other.json", "0", "--region", ""],
    ["words", "mars"],
  ],
  [["move", "start", "--table", "broken.json", "--to", ""], ["words"]],
  [["move", "start", "--table", "absent.json", "--to", ""], ["words"]],
  [
    ["canary", "/routes/1"],
    ["words", "/routes/1"],
  ],
  [
    ["directory", "get", ""],
    ["words", "slug"],
  ],
  [["directory", "get", "slug", ""], ["words"]],
  [["directory", "import", "slug", ""], ["files"]],
  [["table", "publish", "--wait", "60", ""], ["files"]],
  [["explain", "--", "--js"], ["words"]],
  [["contract", "--table", "--js"], ["files"]],
  [["explain", "--url", "--js"], ["words"]],
  [["nonsense", ""], ["words"]],
])("%j may go on with %j", async (words, found) => {
  expect(await complete(...words)).toEqual(found);
});

test("offers each option of a command, and none of the hidden command", async () => {
  expect(await complete("move", "fence", "-")).toEqual(["words", "--table", "--dry-run", "--json", "--help"]);
  const commands = await complete("");
  expect(commands).toContain("completion");
  expect(commands).not.toContain("complete");
  expect((await waybill(["--help"])).stdout).not.toContain("complete ");
});

test("a shell that has no script is wrong use", async () => {
  expect(await waybill(["completion", "tcsh"])).toMatchObject({ code: 64, stdout: "" });
  expect(await waybill(["completion"])).toMatchObject({ code: 64, stdout: "" });
});
