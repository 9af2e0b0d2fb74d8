import { readFileSync } from "node:fs";
import { TABLE_FILE } from "../../src/demo/table.ts";
import type { Engine } from "../../src/export/index.ts";
import { compare, startBeside } from "../../test/export/compare.ts";
import { installedEngines, isInstalled } from "../../test/export/engines.ts";
import richTable from "../../test/export/rich-table.json" with { type: "json" };
import type { Bench, BenchOptions, Section } from "../lib/report.ts";
import { throughputOf } from "./throughput.ts";

const COUNT_DEFAULT = 20_000;

const SEED = 20_261_122;

/** Exported nginx and HAProxy beside the gateway: the same answers, and what they cost beside a hand-written map. */
export const exportsBench: Bench = {
  name: "exports",
  run: async (options) => {
    const engines = installedEngines();
    const sections: Section[] = [await answers(engines, options)];
    if (!isInstalled("wrk") || !engines.includes("nginx")) {
      options.progress("exports: throughput needs nginx and wrk; it is left out");
      return sections;
    }
    for (const engine of engines) sections.push(await throughputOf(engine, options));
    return sections;
  },
};

async function answers(
  engines: readonly Engine[],
  { count = COUNT_DEFAULT, progress }: BenchOptions,
): Promise<Section> {
  const tables = { demo: JSON.parse(readFileSync(TABLE_FILE, "utf8")) as unknown, rich: richTable };
  const rows: (string | number)[][] = [];
  let differing = 0;
  for (const engine of engines) {
    for (const [name, table] of Object.entries(tables)) {
      progress(`exports: ${engine} beside the gateway, ${name} table`);
      const beside = await startBeside(engine, table);
      try {
        const part = Math.ceil(count / Object.keys(tables).length);
        const { forwarded, alone, refused, differences } = await compare(engine, beside, part, SEED);
        for (const { target, gateway, engine: other } of differences.slice(0, 10)) {
          progress(`  ${target}: the gateway ${gateway}, ${engine} ${other}`);
        }
        differing += differences.length;
        const list = Object.entries(refused).map(([why, times]) => `${why}: ${times}`);
        rows.push([engine, name, part, forwarded, alone, list.join("; "), differences.length]);
      } finally {
        await beside.stop();
      }
    }
  }
  return {
    title: "Exports: answers",
    note:
      `Good, odd and hostile targets of seed ${SEED}, each sent to the gateway, to the engine with the gateway behind it, and to ` +
      "the engine alone, where a 503 says that Waybill must decide. Refused: 400 by the engine before any rule.",
    columns: [
      "engine",
      "table",
      "targets",
      "to origins",
      "same without the gateway",
      "refused by the engine",
      "differences",
    ],
    rows,
    ...(differing === 0 ? {} : { failure: `${differing} answers differ from the gateway's` }),
  };
}
