import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { REVISION_MAX } from "../routing/index.ts";
import { publishedPointer, publishToDisk } from "./publish.ts";
import { packsFolderOf, publishPacks, readPacks } from "./publish-packs.ts";
import { readTableText } from "./table-check.ts";

/**
 * `npm run publish -- STATE_FOLDER TABLE_FILE --revision N`: checks a table and puts it into force at a self-hosted
 * gateway. Exit code 1, and nothing written, when the table has a fault or the revision does not rise.
 */

const USAGE = "usage: npm run -s publish -- STATE_FOLDER TABLE_FILE --revision N\n";

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(USAGE);
    return 0;
  }
  const wish = wishOf(args);
  if (wish === undefined) return refuse(USAGE);
  const { stateFolder, tableFile, revision } = wish;
  const kvFolder = join(resolve(stateFolder), "kv");
  const before = publishedPointer(kvFolder);
  if (!before.ok) return refuse(`${kvFolder} is not the KV folder of a gateway: ${before.error}\n`);
  const { highest } = before.value;
  if (revision <= highest) {
    return refuse(
      `Revision ${highest} is in force or a canary: gateways take only a higher one, ${highest + 1} or more.\n`,
    );
  }
  const text = await readTableText(tableFile);
  if (!text.ok) return refuse(`${text.error}\nNothing was published.\n`);
  const tableText = text.value;
  const packs = await readPacks(tableText, packsFolderOf(tableFile));
  if (!packs.ok) return refuse(`${packs.error}\nNothing was published.\n`);
  publishPacks(kvFolder, packs.value);
  const { bodyKey } = publishToDisk(kvFolder, tableText, revision, new Date());
  process.stdout.write(`Revision ${revision} is published: ${join(kvFolder, bodyKey)}\n`);
  return 0;
}

interface Wish {
  readonly stateFolder: string;
  readonly tableFile: string;
  readonly revision: number;
}

function wishOf(args: string[]): Wish | undefined {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { revision: { type: "string" } },
      allowPositionals: true,
    });
    const [stateFolder, tableFile, ...more] = positionals;
    const revision = Number(values.revision);
    const isWhole = /^[1-9]\d*$/.test(values.revision ?? "") && revision <= REVISION_MAX;
    if (stateFolder === undefined || tableFile === undefined || more.length > 0 || !isWhole) return undefined;
    return { stateFolder, tableFile, revision };
  } catch {
    return undefined;
  }
}

function refuse(why: string): number {
  process.stderr.write(why);
  return 1;
}

process.exitCode = await main();
