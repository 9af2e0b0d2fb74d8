import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { REVISION_MAX } from "../../routing/index.ts";
import { runningOn } from "../workerd/workerd.ts";
import {
  fail,
  packsFolderOf,
  publishedPointer,
  publishPacks,
  publishToDisk,
  readPacks,
  readTableText,
} from "./publish.ts";

/**
 * `npm run publish -- STATE_FOLDER TABLE_FILE`: checks a table and publishes it to a self-hosted gateway that is stopped.
 * Exits with 1 and writes nothing if the gateway runs, the table has a fault or the revision is not higher.
 */

const USAGE = `usage: npm run -s publish -- STATE_FOLDER TABLE_FILE [--revision N] [--force]
  --revision N  a number above those published (default: the next one)
  --force       publish although the gateway runs; its history may lack revisions that follow each other quickly
`;

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(USAGE);
    return 0;
  }
  const request = readArguments(args);
  if (request === undefined) return fail(USAGE);
  const { stateFolder, tableFile } = request;
  const kvFolder = join(resolve(stateFolder), "kv");
  const before = publishedPointer(kvFolder);
  if (!before.ok) return fail(`${kvFolder} is not the KV folder of a gateway: ${before.error}\n`);
  const { highest } = before.value;
  const revision = request.revision ?? highest + 1;
  if (revision <= highest) {
    return fail(`Revision ${highest} is published, as the table or its canary. Use ${highest + 1} or more.\n`);
  }
  const pid = runningOn(resolve(stateFolder));
  if (pid !== undefined && !request.force) {
    const instead = "Publish over HTTP (waybill table publish), which keeps author and note, or use --force.";
    return fail(`The gateway of ${stateFolder} runs (process ${pid}). ${instead}\nNothing was published.\n`);
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

function readArguments(args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { revision: { type: "string" }, force: { type: "boolean" } },
      allowPositionals: true,
    });
    const [stateFolder, tableFile, ...more] = positionals;
    const revision = values.revision === undefined ? undefined : Number(values.revision);
    const isRevision = /^[1-9]\d*$/.test(values.revision ?? "1") && (revision ?? 0) <= REVISION_MAX;
    if (stateFolder === undefined || tableFile === undefined || more.length > 0 || !isRevision) return undefined;
    return { stateFolder, tableFile, revision, force: values.force };
  } catch {
    return undefined;
  }
}

process.exitCode = await main();
