import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fetchDocuments, type PublicDocument } from "../../../bench/contract/public-documents.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { tableFiles } from "../memory-files.ts";
import { TABLE } from "./documents.ts";

/** Paths of each document, and its parts that are not compared, as a count outside of Waybill says. The packages are pinned. */
const EXPECTED: Readonly<Record<string, readonly [paths: string, notRead: Readonly<Record<string, number>>]>> = {
  "api.github.com.json": ["811", { webhook: 270 }],
  "api.github.com.yaml": ["811", { webhook: 270 }],
  "ghes-3.19.json": ["678", { webhook: 262 }],
  "graph.json": ["7,419", { segment: 7 }],
  "stripe.com.json": ["305", {}],
  "kubernetes.io.json": ["428", {}],
  "kubernetes.io.yaml": ["428", {}],
  "ec2.json": ["594", { "path-query": 594 }],
};

describe("the largest public documents", () => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-documents-"));
  let documents: readonly PublicDocument[] = [];
  beforeAll(async () => {
    documents = await fetchDocuments(folder);
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  const contract = async ({ name, file }: PublicDocument) => {
    const files = tableFiles(TABLE);
    files.write(name, readFileSync(file, "utf8"));
    const { stdout, stderr, code } = await waybill(["contract", name, "--json"], { files });
    const objects = objectsOf(stdout);
    return {
      code,
      paths: stderr.slice(name.length + 2, stderr.indexOf(" path")),
      notRead: Object.fromEntries(
        objects.filter(({ kind }) => kind === "not-read").map(({ reason, count }) => [reason, count]),
      ),
      findings: objects.filter(({ kind }) => kind !== "not-read"),
    };
  };

  it("are read, and the parts that are not compared are counted", async () => {
    const found = await Promise.all(
      documents.map(async (document) => {
        const { paths, notRead, code } = await contract(document);
        expect(code).toBe(2);
        return [document.name, [paths, notRead]] as const;
      }),
    );
    expect(Object.fromEntries(found)).toEqual(EXPECTED);
  });

  it("give the same findings as JSON and as YAML", async () => {
    const pairs = documents.filter(({ name }) => name.endsWith(".yaml"));
    expect(pairs).toHaveLength(2);
    for (const yaml of pairs) {
      const json = documents.find(({ name }) => name === yaml.name.replace(/yaml$/, "json")) as PublicDocument;
      expect((await contract(yaml)).findings).toEqual((await contract(json)).findings);
    }
  });
});
