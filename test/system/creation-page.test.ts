import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadTable } from "../../src/routing/index.ts";
import { readDemoTable } from "./demo/demo.ts";
import { type DemoStack, startDemoStack } from "./stack.ts";

const PAGE = readFileSync(new URL("../../docs/guides/creation.md", import.meta.url), "utf8");
const blocksOf = (language: string): readonly string[] =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, block = ""]) => block);

let stack: DemoStack;
beforeAll(async () => {
  stack = await startDemoStack();
});
afterAll(() => stack?.stop());

describe("docs/guides/creation.md", () => {
  /** The origins are in this process, so it must not wait for the shell. */
  const run = async (block = ""): Promise<string> => {
    const script = block.replaceAll("http://127.0.0.1:8787", stack.url);
    return (await promisify(execFile)("bash", ["-euc", script])).stdout;
  };

  it("creates once with a key", async () => {
    const shown = await run(blocksOf("sh")[0]);
    expect(shown.match(/^HTTP\/1\.1 201/gm)).toHaveLength(2);
    expect(shown.match(/^idempotent-replayed: true/gm)).toHaveLength(1);
    const ids = [...shown.matchAll(/^waybill-entity-id: (\S+)/gm)].map(([, id]) => id);
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
    expect(shown).toContain('"state": "done"');
  });

  it("takes a client's ID that is of now", async () => {
    const shown = await run(blocksOf("sh")[1]);
    expect([...shown.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status)).toEqual(["201", "200", "422"]);
    expect(shown).toContain("/-/problems/stale-client-id");
  });

  it("shows what the demo's table has", () => {
    const [block] = blocksOf("json");
    expect(JSON.parse(`{${block}}`)).toEqual({ create: readDemoTable().entities["order"]?.create });
  });

  it("shows members and sources that a table may have", () => {
    const demo = readDemoTable();
    const order = demo.entities["order"] as object;
    const sources = [...PAGE.matchAll(/^\| `(\{ "[^`]+ \})` \| [^|]+ \|$/gm)].map(([, text = ""]) => JSON.parse(text));
    expect(sources.length).toBe(6);
    const [header, claim, member, country] = sources;
    const item = {
      path: "/items/:id",
      ids: [{ layout: "iuid", service: 9 }],
      create: {
        collection: "/orders/:id/items",
        key: { country: [header, claim, member, country, { parent: "country" }] },
        bulk: { array: "/items", max: 50 },
        idempotency: {
          required: true,
          scope: { jwtClaim: "sub" },
          keepAnswer: { fields: ["x-total"], bytesMax: 65536 },
          byClientId: true,
        },
        clientId: {
          createFlag: "x-create",
          beforeSeconds: 1,
          afterSeconds: 1,
          clock: { header: "x-time", skewSeconds: 7200 },
        },
      },
    };
    const loaded = loadTable({ ...demo, entities: { ...demo.entities, order, item } }, 1);
    expect(loaded.ok ? [] : loaded.error).toEqual([]);
  });
});
