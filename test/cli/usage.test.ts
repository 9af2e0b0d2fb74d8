import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EXIT } from "../../src/cli/runtime.ts";
import { diagram, everyLayout, luuidTable } from "../../src/ids/index.ts";
import { objectsOf, waybill } from "./fake-runtime.ts";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};

describe.concurrent("the command as a whole", () => {
  it("prints its version", async () => {
    expect(await waybill(["--version"])).toEqual({ stdout: `${version}\n`, stderr: "", code: 0 });
  });

  it.each([
    { args: ["--help"] },
    { args: ["explain", "--help"] },
    { args: ["mint", "--help"] },
    { args: ["table", "check", "--help"] },
    { args: ["table", "diff", "--help"] },
    { args: ["table", "replay", "--help"] },
    { args: ["table", "capacity", "--help"] },
    { args: ["table", "plan", "--help"] },
    { args: ["table", "upload-packs", "--help"] },
    { args: ["table", "publish", "--help"] },
    { args: ["table", "rollback", "--help"] },
    { args: ["table", "history", "--help"] },
    { args: ["table", "show", "--help"] },
    { args: ["table", "audit", "--help"] },
    { args: ["table", "status", "--help"] },
    { args: ["table", "canary", "--help"] },
    { args: ["table", "promote", "--help"] },
    { args: ["table", "abort", "--help"] },
    { args: ["contract", "--help"] },
    { args: ["canary", "--help"] },
    { args: ["layout", "--help"] },
    { args: ["help", "mint"] },
    { args: ["id", "check", "--help"] },
    { args: ["id", "convert", "--help"] },
    { args: ["id", "range", "--help"] },
    { args: ["id", "capacity", "--help"] },
  ])("$args prints help with examples to stdout", async ({ args }) => {
    const { stdout, stderr, code } = await waybill(args);
    expect(stdout).toMatch(/^Usage: waybill /);
    expect(stdout).toContain("Examples:\n  $ waybill ");
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  });

  it.each([
    [
      ["help", "explain"],
      ["explain", "--help"],
    ],
    [
      ["help", "table"],
      ["table", "--help"],
    ],
    [
      ["help", "table", "check"],
      ["table", "check", "--help"],
    ],
    [
      ["help", "move"],
      ["move", "--help"],
    ],
    [
      ["table", "help", "check"],
      ["table", "check", "--help"],
    ],
    [["table"], ["table", "--help"]],
  ])("%j shows what %j does", async (some, others) => {
    const [one, other] = [await waybill(some), await waybill(others)];
    expect(one.stdout + one.stderr).toBe(other.stdout);
  });

  it("lists every exit code", async () => {
    const { stdout } = await waybill(["--help"]);
    for (const code of Object.values(EXIT)) expect(stdout).toMatch(new RegExp(`^  ${code} +[a-zA-Z]`, "m"));
  });

  it.each([
    { args: ["explian", "x"], error: "unknown command 'explian'", hint: "explain" },
    { args: ["publish"], error: "unknown command 'publish'", hint: "table publish" },
    { args: ["plan", "next.json"], error: "unknown command 'plan'", hint: "table plan" },
    { args: ["check"], error: "unknown command 'check'", hint: "id check or table check or cluster check" },
    { args: ["directory", "verfy"], error: "unknown command 'verfy'", hint: "verify" },
    { args: ["table", "chek"], error: "unknown command 'chek'", hint: "check" },
    { args: ["id", "mnt"], error: "unknown command 'mnt'", hint: "mint" },
    { args: ["id", "rnge"], error: "unknown command 'rnge'", hint: "range" },
    {
      args: ["id", "capacity", "ulid", "--rate", "1", "--yeas", "2"],
      error: "unknown option '--yeas'",
      hint: "--years",
    },
    { args: ["explain", "--jsn", "x"], error: "unknown option '--jsn'", hint: "--json" },
    { args: ["mint", "--contry", "KZ"], error: "unknown option '--contry'", hint: "--country" },
    { args: ["table", "check", "--jason", "f"], error: "unknown option '--jason'", hint: "--json" },
  ])("$args is an error that suggests $hint", async ({ args, error, hint }) => {
    const { stdout, stderr, code } = await waybill(args);
    expect({ stdout, code }).toEqual({ stdout: "", code: EXIT.usage });
    expect(stderr).toContain(`error: ${error}\n(Did you mean ${hint}?)`);
  });

  const PUSH_ID = "-JhLeOlGIEjaIOFHR0xd";

  it.each([
    { args: ["explain", PUSH_ID, "--no-table"], stdout: `${PUSH_ID}\n` },
    { args: ["id", "explain", "--layout", "push-id", PUSH_ID], stdout: `${PUSH_ID}\n` },
    { args: ["explain", "--json", "01ARZ3NDEKTSV4RRFFQ69G5FAV", PUSH_ID, "--no-table"], stdout: `"text":"${PUSH_ID}"` },
    { args: ["explain", "--", PUSH_ID], stdout: `${PUSH_ID}\n` },
    { args: ["id", "convert", PUSH_ID, "--to", "push-id", "--from", "push-id"], stdout: `${PUSH_ID}\n` },
    { args: ["id", "check", PUSH_ID, "--layout", "push-id", "--now", "2015-02-04T22:15:32Z"], stdout: "fresh" },
  ])("$args takes an ID that begins with a dash", async ({ args, stdout }) => {
    const run = await waybill(args);
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining(stdout) });
  });

  it.each([
    { args: ["explain", "-x"], error: "unknown option '-x'" },
    { args: ["explain", "--JhLeOlGIEjaIOFHR0xd"], error: "unknown option '--JhLeOlGIEjaIOFHR0xd'" },
    { args: ["explain", "-no-such-option", "--no-table"], error: '"-no-such-option" is not an ID', code: 1 },
    { args: ["id", "convert", "-no-such-option", "--to", "uuid"], error: '"-no-such-option" is not an ID', code: 1 },
    { args: ["directory", "get", "d", "-x"], error: "unknown option '-x'" },
  ])("$args is an error that names --", async ({ args, error, code: fault = EXIT.usage }) => {
    const { stderr, code } = await waybill(args);
    expect(code).toBe(fault);
    expect(stderr).toContain(error);
    expect(stderr).toMatch(/ --[,. ]|^Behind -- |Behind --/m);
  });

  it("a command without IDs takes no word with a dash, and an option's value may have one", async () => {
    expect((await waybill(["table", "check", PUSH_ID])).stderr).toContain(`unknown option '${PUSH_ID}'`);
    expect((await waybill(["explain", "x", "--layout", PUSH_ID])).stderr).toContain(`no layout "${PUSH_ID}"`);
    expect((await waybill(["mint", "xid", "--field", PUSH_ID])).stderr).toContain("Write it as name=value.");
  });

  it.each([
    { args: [], error: "Usage: waybill" },
    { args: ["table"], error: "Usage: waybill table" },
    { args: ["table", "check"], error: "name its file; there is no routing-table.json in this folder" },
    { args: ["table", "publish"], error: "missing required argument 'file'" },
    { args: ["table", "check", "a", "b"], error: "too many arguments" },
    { args: ["mint", "ulid", "stray"], error: "too many arguments" },
    { args: ["mint", "--count"], error: "argument missing" },
    { args: ["mint", "--count", "0"], error: "from 1 to 100000" },
    { args: ["mint", "--count", "-1"], error: "whole number" },
    { args: ["mint", "--service", "0x10"], error: "whole number" },
    { args: ["mint", "--service", "9007199254740993"], error: "whole number" },
    { args: ["mint", "--slice", "m49"], error: "name=value" },
    { args: ["mint", "--slice", "m49=1", "--slice", "m49=2"], error: "Slice m49 is duplicated" },
    { args: ["mint", "xid", "--field", "machine"], error: "name=value" },
    { args: ["mint", "xid", "--field", "machine=0x10"], error: "whole number" },
    { args: ["mint", "xid", "--field", "machine=1", "--field", "machine=2"], error: "Field machine is duplicated" },
    { args: ["id", "range", "uuid-v7", "--from", "2026-06-01T00:00:00Z"], error: "required option '--to <time>'" },
    { args: ["id", "range", "uuid-v7", "--from", "2026-06-01"], error: "a time with its offset" },
    { args: ["id", "convert", "x"], error: "required option '--to <spelling>'" },
    { args: ["id", "capacity", "uuid-v7"], error: "required option '--rate <number>'" },
    { args: ["id", "capacity", "uuid-v7", "--rate", "0"], error: "a number above 0" },
    { args: ["id", "capacity", "uuid-v7", "--rate", "1e400"], error: "a number above 0" },
    { args: ["id", "capacity", "uuid-v7", "--rate", "1", "--minters", "0"], error: "at least 1" },
    { args: ["mint", "--at", "2026-06-01"], error: "a time with its offset" },
    { args: ["mint", "--at", "2026-02-30T00:00:00Z"], error: "no such day or hour" },
    { args: ["mint", "--class", ""], error: "at least one character" },
    { args: ["table", "publish", "--wait", "0", "f"], error: "a whole number of seconds, at least 1" },
    { args: ["table", "publish", "--wait", "f.json"], error: "Put the arguments before --wait" },
    { args: ["table", "history", "--limit", "abc"], error: "at least 1" },
    { args: ["layout", "uuidv7"], error: 'There is no layout "uuidv7"; did you mean uuid-v7 or ' },
    { args: ["layout", "quux"], error: "`waybill layout --names` lists all." },
  ])("$args is wrong use", async ({ args, error }) => {
    const { stdout, stderr, code } = await waybill(args);
    expect({ stdout, code }).toEqual({ stdout: "", code: EXIT.usage });
    expect(stderr).toContain(error);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  it.each([
    { args: ["explain", "--table", "absent.json", "x"], error: "absent.json cannot be read: no such file" },
    { args: ["explain", "--table", "/", "x"], error: "/ cannot be read: illegal operation on a directory" },
    { args: ["table", "check", "absent.json"], error: "absent.json cannot be read: no such file" },
    { args: ["move", "status"], error: "routing-table.json cannot be read: no such file" },
    { args: ["id", "convert", "?", "--to", "uuid"], error: '"?" is not an ID' },
  ])("$args is a fault, not wrong use", async ({ args, error }) => {
    const { stdout, stderr, code } = await waybill(args);
    expect({ stdout, code }).toEqual({ stdout: "", code: EXIT.failed });
    expect(stderr).toContain(error);
  });
});

describe.concurrent("waybill layout", () => {
  it("draws every built-in layout, with its rows and its source", async () => {
    const { stdout, stderr, code } = await waybill(["layout"]);
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    for (const { name, table, texts } of everyLayout) {
      const forms = texts.map((form) => form.name).join(", ");
      const head = `${name}  ${table.title}\nsource: ${table.source}\ntexts: ${forms}`;
      const [own = "", ...rest] = stdout.slice(stdout.indexOf(head)).split("\n\n");
      expect(own.slice(head.length)).toMatch(/^(?:; in databases also: [a-z, ]+)?$/);
      expect(rest.join("\n\n").startsWith(`${diagram(table)}\n`)).toBe(true);
    }
    expect(stdout).toContain("\ntexts: uuid; in databases also: hex\n");
    expect(stdout).toMatch(/^formatVersion +4 +fixed +always 0, binary 0000$/m);
    expect(stdout).toMatch(/^mintedAt +32 +time +in s since 1970-01-01T00:00:00.000Z$/m);
  });

  it("names them, one a line", async () => {
    const { stdout } = await waybill(["layout", "--names"]);
    expect(stdout.trimEnd().split("\n")).toEqual(everyLayout.map(({ name }) => name));
  });

  it("gives all as tables, one a line", async () => {
    const { stdout } = await waybill(["layout", "--json"]);
    expect(objectsOf(stdout).map(({ name, texts }) => [name, texts])).toEqual(
      everyLayout.map(({ name, texts }) => [name, texts.map((form) => form.name)]),
    );
  });

  it("gives one layout as its table", async () => {
    const { stdout } = await waybill(["layout", "luuid", "--json"]);
    expect(objectsOf(stdout)).toEqual([{ ...luuidTable, text: undefined, texts: ["uuid"] }]);
  });
});
