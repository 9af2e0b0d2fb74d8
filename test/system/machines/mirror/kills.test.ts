import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { makePack, Published } from "./published.ts";
import { startStateNode } from "./state-node.ts";
import { begin, scratch } from "./support.ts";
import { wholeTable } from "./whole.ts";

const PROCESS = fileURLToPath(new URL("kills.process.ts", import.meta.url));
const { tls, newFolder, mirrorOf } = scratch();

/** Every fourth operation of a publication: the histories try each, on a disk in memory. */
const STEP = 4;

it("a mirror that is killed at any file operation leaves a whole table, and the next one goes on", async (context) => {
  const published = new Published();
  const packs = [];
  for (const region of ["first", "second"]) packs.push(await makePack({ ranges: 600, rangesPerPage: 100, region }));
  published.publish({ pack: packs[0] });
  const node = await begin(context, startStateNode(published, tls));
  const folder = newFolder();
  const first = await mirrorOf([node], folder);
  await first.first;
  await first.stop();
  const read = (key: string) => (existsSync(join(folder, key)) ? readFileSync(join(folder, key)) : undefined);
  let kills = 0;
  let last = 1;
  for (let after = 0; ; after += STEP) {
    published.publish({ pack: packs[(after / STEP + 1) % 2], region: after % 8 === 0 ? "first" : "second" });
    const target = String(published.pointer?.revision);
    const child = spawn(process.execPath, [PROCESS, folder, join(tls, "edge"), node.address, String(after), target]);
    const [printed, [code, signal]] = await Promise.all([text(child.stdout), once(child, "close")]);
    const [revision = 0] = (await wholeTable(read)) ?? [];
    expect(revision).toBeGreaterThanOrEqual(last);
    last = revision;
    if (signal === "SIGKILL") kills++;
    else {
      expect({ code, printed }).toEqual({ code: 0, printed: `${target}\n` });
      break;
    }
  }
  expect(kills).toBeGreaterThan(2);
  expect(last).toBe(published.pointer?.revision);
  expect(readdirSync(join(folder, ".mirror")).filter((name) => name.startsWith("unfinished"))).toEqual([]);
});
