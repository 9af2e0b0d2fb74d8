import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { TABLE_FILE } from "../../src/demo/table.ts";
import type { Bench, Section } from "../lib/report.ts";
import { inTurn, spread } from "../lib/sample.ts";
import { fetchDocuments, type PublicDocument } from "./public-documents.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

/** A whole process per run is slow, and steady. */
const ROUNDS_MAX = 5;

/** `waybill contract` as a whole process, on the largest public documents, with the demo's table and one that has their paths. */
export const contractBench: Bench = {
  name: "contract",
  run: async ({ rounds, progress }) => {
    const folder = mkdtempSync(join(tmpdir(), "waybill-bench-contract-"));
    try {
      progress("contract: the documents are downloaded");
      const documents = await fetchDocuments(folder);
      const figures = await inTurn(
        documents.flatMap((document) => [
          { name: `${document.name}, the demo's table`, document, table: TABLE_FILE },
          { name: `${document.name}, a table of its paths`, document, table: tableOf(document, folder) },
        ]),
        Math.min(rounds, ROUNDS_MAX),
        ({ document, table }) => timeMs(document, table),
        (round) => progress(`contract: round ${round}`),
      );
      return [sectionOf(documents, figures)];
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

/** Runs the real command in a process of its own. The error is its own, such as a document that cannot be read. */
const timeMs = async ({ file }: PublicDocument, table: string): Promise<number> => {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [MAIN, "contract", file, "--table", table, "--json"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  if (code !== 0 && code !== 2) throw new Error(`waybill contract ended with ${code}: ${said}`);
  return performance.now() - startedMs;
};

/** As many entries as a table may have. */
const PATHS_MAX = 500;

/** A table that routes the paths of a document without IDs, so that each is compared with many that are like it. */
const tableOf = (document: PublicDocument, folder: string): string => {
  const { paths } = JSON.parse(readFileSync(document.json, "utf8")) as { readonly paths: object };
  const patterns = Object.keys(paths).map((path) => path.replace(/[?#].*$/, "").replace(/[^/]*\{[^/]*/g, "*"));
  const owned = [...new Set(patterns)].filter((path) => /^(?:\/(?:[\w.-]+|\*))+$/.test(path)).slice(0, PATHS_MAX);
  const table = {
    regions: { eu: { origins: [{ url: "https://eu.example.com" }] } },
    entities: { bench: { path: "/bench/:id", ids: [{ layout: "uuid" }] } },
    routes: [{ when: {}, region: "eu" }],
    withoutId: Object.fromEntries(owned.map((path, at) => [`path${at}`, { path, sources: [{ region: "eu" }] }])),
  };
  const file = join(folder, `table-of-${document.name}.json`);
  writeFileSync(file, JSON.stringify(table));
  return file;
};

const sectionOf = (documents: readonly PublicDocument[], figures: ReadonlyMap<string, readonly number[]>): Section => ({
  title: "Contract: whole processes",
  note: "`waybill contract` from start to end, with Node's own start, on public documents.",
  columns: ["document", "MB", "ms"],
  rows: [...figures].map(([name, times]) => {
    const document = documents.find((each) => name.startsWith(`${each.name},`));
    return [name, Math.round((document?.bytes ?? 0) / 1e5) / 10, spread(times)];
  }),
});
