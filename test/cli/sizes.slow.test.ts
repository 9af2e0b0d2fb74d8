import { describe, expect, it } from "vitest";
import { readDocument } from "../../src/cli/commands/contract/document.ts";
import { pathsOf } from "../../src/cli/commands/contract/paths.ts";
import { editJson } from "../../src/cli/lib/json-edit.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";
import { processorMs } from "../setup/processor-ms.ts";
import { waybill } from "./fake-runtime.ts";
import { tableFiles } from "./memory-files.ts";

const TABLE = {
  ...DECLARED_TABLE,
  regions: { ...DECLARED_TABLE.regions, us: { origins: [{ url: "http://us.test" }] } },
  withoutId: {
    list: { path: ["/orders", "/rides"], methods: ["GET", "POST"], sources: [{ header: "x-home" }] },
    files: { path: "/files/**", sources: [{ region: "eu" }] },
  },
};

describe("large documents", () => {
  const read = (text: string) => {
    const document = readDocument(new TextEncoder().encode(text));
    if (!document.ok) return document.error;
    const paths = pathsOf(document.value, []);
    return paths.ok ? paths.value.paths : paths.error;
  };

  it.each(["[", "{ a: ", "- ", '{"a":['])("%j ten thousand times is too deep, or no YAML", (part) => {
    expect(typeof read(`openapi: 3.0.0\nx: ${part.repeat(10_000)}`)).toBe("string");
    expect(typeof read(part.repeat(10_000))).toBe("string");
  });

  it("3,000 paths under 100 base paths are held against 4,000 paths of a table in seconds", async () => {
    const kinds = Array.from({ length: 125 }, (_, kind) => {
      const path = Array.from({ length: 32 }, (_, at) => `/s1/things${kind}/x${at}`);
      return [`kind${kind}`, { path, sources: [{ region: "eu" }] }] as const;
    });
    const files = tableFiles({ ...TABLE, withoutId: Object.fromEntries(kinds) });
    const servers = Array.from({ length: 100 }, (_, at) => ({ url: `https://api.test/s${at}` }));
    const paths = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, at) => [`/things${at % 125}/x${Math.floor(at / 125)}`, { get: {} }]),
    );
    files.write("openapi.json", JSON.stringify({ openapi: "3.1.0", servers, paths }));
    const startedMs = processorMs();
    const { stderr, code } = await waybill(["contract", "openapi.json", "--entity-prefix", "/s1"], { files });
    expect({ stderr, code }).toEqual({ stderr: "openapi.json: 3,000 paths, 1,000 findings\n", code: 2 });
    expect(processorMs() - startedMs).toBeLessThan(20_000);
  });

  it("10,000 paths are compared with a table in seconds, in both notations", async () => {
    const files = tableFiles(TABLE);
    const paths = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`/things/t${at}/{id}`, { get: {} }]));
    files.write("big.json", JSON.stringify({ openapi: "3.1.0", paths }));
    const yaml = Object.keys(paths).map((path) => `  ${path}:\n    get: {}\n`);
    files.write("big.yaml", `openapi: 3.1.0\npaths:\n${yaml.join("")}`);
    for (const file of ["big.json", "big.yaml"]) {
      const startedMs = processorMs();
      const { stderr, code } = await waybill(["contract", file, "--entity-prefix", "/parcels"], { files });
      expect({ stderr, code }).toEqual({ stderr: `${file}: 10,000 paths, 10,001 findings\n`, code: 2 });
      expect(processorMs() - startedMs).toBeLessThan(20_000);
    }
  });

  it.each(["[", "{ a: ", "- ", '{"a":['])("%j a hundred thousand times is too deep, or no YAML", (part) => {
    expect(typeof read(`openapi: 3.0.0\nx: ${part.repeat(100_000)}`)).toBe("string");
    expect(typeof read(part.repeat(100_000))).toBe("string");
  });

  it("objects of many keys take no longer than their length", () => {
    const keys = Array.from({ length: 50_000 }, (_, at) => `k${at}: 1`);
    const startedMs = processorMs();
    expect(read(`openapi: 3.0.0\nx: { ${keys.join(", ")} }`)).toEqual([]);
    expect(processorMs() - startedMs).toBeLessThan(10_000);
  });
});

describe("as many single entities as a table may have", () => {
  it("are not exceeded: no table is written that could not be served", async () => {
    const moved = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, at) => [`6347eb00-bbaa-01cc-0201-${`${at}`.padStart(12, "0")}`, "eu"]),
    );
    const files = tableFiles({ ...DECLARED_TABLE, moved });
    const before = files.text("routing-table.json");
    const args = ["move", "start", "01990f04-d900-8005-8040-000000000001", "--to", "us"];
    const { stderr, code } = await waybill(args, { files });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /At most 100000 entries are allowed in moved, moves, gone together; there are 100001\.[\s\S]*error: nothing was written\n$/,
    );
    expect(files.text("routing-table.json")).toBe(before);
  });

  it("are edited in seconds", () => {
    const ids = Array.from({ length: 100_000 }, (_, at) => `6347eb00-bbaa-01cc-0201-${`${at}`.padStart(12, "0")}`);
    const table = JSON.stringify({ moved: Object.fromEntries(ids.map((id) => [id, "eu"])) }, undefined, 2);
    const started = processorMs();
    const edited = editJson(
      table,
      new Map([["moved", new Map(ids.map((id, at) => [id, at % 2 === 0 ? undefined : "us"]))]]),
    ).text;
    expect(processorMs() - started).toBeLessThan(10_000);
    expect(Object.values(JSON.parse(edited).moved)).toEqual(new Array(50_000).fill("us"));
  });
});
