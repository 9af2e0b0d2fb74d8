import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { REVISION_MAX } from "../../routing/index.ts";
import { packsFolderOf, publishPacks, readPacks } from "./packs.ts";
import { publishedPointer, publishToDisk } from "./publish.ts";
import { readTableText } from "./table-check.ts";

/**
 * `npm run publish -- STATE_FOLDER TABLE_FILE --revision N`: checks a table and publishes it to a self-hosted gateway.
 * Exits with 1 and writes nothing if the table has a fault or the revision is not higher.
 */

const USAGE = "usage: npm run -s publish -- STATE_FOLDER TABLE_FILE --revision N\n";

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(USAGE);
    return 0;
  }
  const request = readArguments(args);
  if (request === undefined) return fail(USAGE);
  const { stateFolder, tableFile, revision } = request;
  const kvFolder = join(resolve(stateFolder), "kv");
  const before = publishedPointer(kvFolder);
  if (!before.ok) return fail(`${kvFolder} is not the KV folder of a gateway: ${before.error}\n`);
  const { highest } = before.value;
  if (revision <= highest) {
    return fail(`Revision ${highest} is published, as the table or its canary. Use ${highest + 1} or more.\n`);
  }
  const text = await readTableText(tableFile);
  if (!text.ok) return fail(`${text.error}\nNothing was published.\n`);
  const packs = await readPacks(text.value, packsFolderOf(tableFile));
  if (!packs.ok) return fail(`${packs.error}\nNothing was published.\n`);
  publishPacks(kvFolder, packs.value);
  const { bodyKey } = publishToDisk(kvFolder, text.value, revision, new Date());
  process.stdout.write(`Revision ${revision} is published: ${join(kvFolder, bodyKey)}\n`);
  return 0;
}

/** `undefined` if the arguments are not valid. */
function readArguments(args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { revision: { type: "string" } },
      allowPositionals: true,
    });
    const [stateFolder, tableFile, ...more] = positionals;
    const revision = Number(values.revision);
    const isRevision = /^[1-9]\d*$/.test(values.revision ?? "") && revision <= REVISION_MAX;
    if (stateFolder === undefined || tableFile === undefined || more.length > 0 || !isRevision) return undefined;
    return { stateFolder, tableFile, revision };
  } catch {
    return undefined;
  }
}

function fail(message: string): number {
  process.stderr.write(message);
  return 1;
}

process.exitCode = await main();
