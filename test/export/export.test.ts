import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ENGINES, exportTable } from "../../src/export/export.ts";
import { haproxyWord } from "../../src/export/haproxy.ts";
import { luaComment, luaString } from "../../src/export/lua-text.ts";
import { nginxString } from "../../src/export/nginx.ts";
import { planExport } from "../../src/export/plan.ts";
import { readShape, shapeOf } from "../../src/export/text-shape.ts";
import { replaceFolder } from "../../src/host/replace-folder.ts";
import { everyLayout } from "../../src/ids/index.ts";
import { checkTable } from "../../src/routing/index.ts";
import { waybill } from "../cli/fake-runtime.ts";
import { tableFiles } from "../cli/memory-files.ts";
import { EXPORT_OPTIONS } from "./engines.ts";
import richTable from "./rich-table.json" with { type: "json" };

const folder = mkdtempSync(join(tmpdir(), "waybill-export-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rich = checkTable(richTable);
if (!rich.ok) throw new Error(JSON.stringify(rich.error));

describe("text shapes", () => {
  it("are known for each canonical form that is one number", () => {
    const without = everyLayout.filter(({ table }) => shapeOf(table.text) === undefined).map(({ name }) => name);
    expect(without).toEqual(["distributed-id", "sid", "xid", "cuid"]);
  });

  it("read no text that the form does not", () => {
    for (const { table } of everyLayout) {
      const shape = shapeOf(table.text);
      if (shape === undefined) continue;
      for (const text of ["", "-", " ", "0", "zz", "0".repeat(shape.length + 1), "İ".repeat(shape.length)]) {
        expect(readShape(shape, text)).toEqual(table.text.read(text, 0, text.length));
      }
    }
  });
});

describe("values of the table", () => {
  it.each(['a"b', "a\\b", "a;b}", "#", "a\nb", "é", "]]"])("stay one string in Lua: %j", (text) => {
    const written = luaString(text);
    expect(written).toMatch(/^"[ -~]*"$/);
    const read = written.slice(1, -1).replaceAll(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number(code)));
    expect(Buffer.from(read, "latin1").toString("utf8")).toBe(text);
    expect(read).not.toContain("\\000");
  });

  it("do not end a comment", () => {
    expect(luaComment("a\nos.exit()")).toBe("-- a?os.exit()");
  });

  it("are quoted for nginx, or refused where it would expand them", () => {
    expect(nginxString('a"b\\c;}')).toBe('"a\\"b\\\\c;}"');
    expect(() => nginxString("$host")).toThrow("nginx cannot hold");
    expect(() => nginxString("a\nb")).toThrow("nginx cannot hold");
  });

  it("are quoted for HAProxy", () => {
    expect(haproxyWord("it's $HOME #1")).toBe("'it'\\''s $HOME #1'");
    expect(() => haproxyWord("a\nb")).toThrow("HAProxy cannot hold");
  });
});

it("lists all that Waybill decides, with its reason", () => {
  const { forwarded } = planExport(rich.value);
  expect(forwarded).toEqual(
    expect.arrayContaining([
      { what: "route 2", why: "a canary" },
      { what: "route 3", why: "a split" },
      { what: "secret at /secrets/:id", why: "public IDs" },
      { what: "login at /login", why: "requests without an ID" },
      { what: "3 IDs of moved, moves and gone", why: "overrides of single IDs" },
      { what: "short keys of person", why: "short keys" },
    ]),
  );
});

it.each(ENGINES)("an export to %s names each part that goes to Waybill in its own comments", (engine) => {
  const { files, forwarded } = exportTable(engine, rich.value, EXPORT_OPTIONS);
  const text = files.map((file) => file.text).join("\n");
  for (const { what } of forwarded) expect(text).toContain(what);
});

describe("the command", () => {
  const run = (...args: string[]) => waybill(["export", ...args], { files: tableFiles(richTable) });

  it("writes nothing without a gateway for what the engine cannot decide", async () => {
    const { code, stderr } = await run("nginx", "--out", join(folder, "none"));
    expect(code).toBe(1);
    expect(stderr).toContain("secret at /secrets/:id: public IDs");
    expect(stderr).toContain("--without-waybill");
    expect(readdirSync(folder)).not.toContain("none");
  });

  it.each(ENGINES)("writes %s", async (engine) => {
    const out = join(folder, engine);
    const { code, stdout, stderr } = await run(
      engine,
      "--out",
      out,
      "--waybill",
      "http://127.0.0.1:8787",
      "--no-check",
    );
    expect(stderr).toContain("--no-check");
    expect(code).toBe(0);
    expect(stdout).toContain("Decided by http://127.0.0.1:8787:");
    expect(readdirSync(out)).not.toEqual([]);
  });

  it.each([
    ["caddy"],
    ["nginx", "--out", "relative"],
    ["nginx", "--out", '/a"b'],
    ["nginx", "--out", "/a", "--waybill", "http://h/path"],
  ])("refuses %j %j %j", async (...args) => {
    expect((await run(...args)).code).toBe(1);
  });
});

describe("a folder that is replaced", () => {
  const out = join(folder, "replaced");
  const read = (path: string) => readFileSync(path, "utf8");
  const write = (text: string, status: number) =>
    replaceFolder(out, [{ name: "a", text }], {
      program: "sh",
      args: ["-c", `echo no >&2; exit ${status}`],
      files: [{ name: "check", text }],
      leaves: [],
    });

  it("is the new one only if the check accepts it, and the one before is kept", () => {
    expect(write("1", 0)).toBe("checked");
    expect(write("2", 0)).toBe("checked");
    expect([read(join(out, "a")), read(join(`${out}.previous`, "a")), readdirSync(out)]).toEqual(["2", "1", ["a"]]);
    expect(() => write("3", 1)).toThrow("no");
    expect([read(join(out, "a")), read(join(`${out}.previous`, "a"))]).toEqual(["2", "1"]);
  });

  it("says so where the program is not installed", () => {
    const check = { program: "waybill-no-such-program", args: [], files: [], leaves: [] };
    expect(replaceFolder(out, [{ name: "a", text: "4" }], check)).toBe("not-installed");
  });
});
