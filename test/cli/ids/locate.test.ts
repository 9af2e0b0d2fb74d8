import { describe, expect, it } from "vitest";
import { sampleTable } from "../../routing/tables.ts";
import { waybill } from "../fake-runtime.ts";
import { MemoryFiles } from "../memory-files.ts";

const AP = "0192f0c1-7a30-8006-8040-8f3b2a1c9d77";
const EU = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
const files = (ids: string) => MemoryFiles.of({ "routing-table.json": JSON.stringify(sampleTable()), "ids.txt": ids });

describe("waybill locate", () => {
  it("prints the region of each ID, and a summary", async () => {
    const found = await waybill(["locate", "ids.txt"], { files: files(`${AP}\r\n\n${EU}\n${AP}`) });
    expect(found.stdout).toBe(
      `id\tregion\tentity\tlayout\tproblem\tcanary\n${AP}\tap\torder\tiuid\t\t\n${EU}\teu\torder\tiuid\t\t\n${AP}\tap\torder\tiuid\t\t\n`,
    );
    expect(found.stderr).toBe("3 IDs: ap 2, eu 1\n");
    expect(found.code).toBe(0);
  });

  it("has a problem where there is no region, in every format", async () => {
    const stdin = `${AP}\n"x",\u0007y\na/b\n${"9".repeat(200)}\n`;
    const csv = await waybill(["locate", "-", "--format", "csv", "--only-problems"], { files: files(""), stdin });
    expect(csv.stdout.split("\n")[1]).toBe('"""x"",\u0007y",,,,malformed-id,');
    expect(csv.stderr).toBe("4 IDs: ap 1; malformed-id 3\n");
    expect(csv.code).toBe(1);
    const lines = await waybill(["locate", "-", "--format", "ndjson"], { files: files(""), stdin });
    expect(
      lines.stdout
        .split("\n")
        .slice(0, 1)
        .map((line) => JSON.parse(line)),
    ).toEqual([{ id: AP, region: "ap", entity: "order", layout: "iuid" }]);
    const tsv = await waybill(["locate", "-"], { files: files(""), stdin });
    expect(tsv.stdout).toContain('"x",\\u{7}y\t\t\t\tmalformed-id\t\n');
  });

  it("asks a gateway by the thousand, and waits for its limit", async () => {
    const sizes: number[] = [];
    const fetch = async (target: string | URL | Request, init?: RequestInit) => {
      const ids = JSON.parse(String(init?.body)) as string[];
      if (sizes.length === 1 && sizes[0] === 1000) {
        sizes.push(0);
        const problem = { type: "/-/problems/rate-limited", detail: "Too many." };
        return Response.json(problem, {
          status: 429,
          headers: { "content-type": "application/problem+json", "retry-after": "5" },
        });
      }
      sizes.push(ids.length);
      expect(String(target)).toBe("https://gw.example.com/any?locate=true");
      return Response.json({
        results: ids.map((id) => ({ id, region: "eu", entity: "order", layout: "iuid" })),
        summary: {},
      });
    };
    const ids = `${`${EU}\n`.repeat(1500)}${"z".repeat(300)}\n`;
    const found = await waybill(["locate", "ids.txt", "--gateway", "https://gw.example.com"], {
      files: files(ids),
      fetch,
    });
    expect(sizes).toEqual([1000, 0, 500]);
    expect(found.stderr).toBe("1,501 IDs: eu 1,500; malformed-id 1\n");
    expect(found.code).toBe(1);
  });

  it("names the canary that decided, as the gateway does", async () => {
    const results = [
      { id: EU, region: "us", entity: "order", layout: "iuid", canary: 42 },
      { id: AP, region: "ap", entity: "order", layout: "iuid" },
    ];
    const locate = (...args: readonly string[]) =>
      waybill(["locate", "-", "--gateway", "https://gw.example.com", ...args], {
        files: files(""),
        stdin: `${EU}\n${AP}\n`,
        fetch: async () => Response.json({ results, summary: {} }),
      });
    expect((await locate()).stdout.split("\n").slice(1, 3)).toEqual([
      `${EU}\tus\torder\tiuid\t\t42`,
      `${AP}\tap\torder\tiuid\t\t`,
    ]);
    expect(JSON.parse((await locate("--format", "ndjson")).stdout.split("\n")[0] ?? "")).toEqual(results[0]);
  });

  it.each([
    [["locate", "none.txt"], /cannot be read/, 1],
    [["locate", "ids.txt", "--table", "routing-table.json", "--gateway", "https://x.test"], /not both/],
    [["locate", "ids.txt", "--format", "xml"], /tsv, csv or ndjson/],
    [["locate", "ids.txt"], /has no ID/, 1],
  ])("%j fails", async (args, message, fault = 64) => {
    const found = await waybill(args, { files: files("\n") });
    expect([found.code, found.stderr]).toEqual([fault, expect.stringMatching(message)]);
  });
});
