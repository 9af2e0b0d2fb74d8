import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { ROOT } from "../packed.ts";
import { countersOf, type Gateway, run, serve } from "./gateway.ts";
import { MOVED, remember } from "./remembered.ts";
import type { Version } from "./versions.ts";
import { startWorld, tableOf, writeJson } from "./world.ts";

/** The sources of this checkout. */
export const HERE: Version = { program: join(ROOT, "src/cli/main.ts"), sources: ROOT };

const SHOPS = Array.from({ length: 300 }, (_, at) => `{"key":"shop-${at}","region":"${at % 2 ? "eu" : "us"}"}\n`);

/**
 * Machines in a folder, of one build. The first, `one`, gets a state with some of everything: revisions, a canary, a pack, a
 * directory with its copy, keys, sequences and counters. `beforeStop`: with it still running.
 */
export async function machinesOf(root: string, beforeStop: (one: Gateway) => Promise<void> = async () => undefined) {
  const running = new Set<Gateway>();
  const waybill = (...words: readonly string[]) => run(HERE, root, words);
  const start = async (state: string): Promise<Gateway> => {
    const gateway = await serve(HERE, "build", { folder: root, stateFolder: join(root, state), settings: {} });
    running.add(gateway);
    return gateway;
  };
  const stop = async (gateway: Gateway): Promise<void> => {
    await gateway.stop();
    running.delete(gateway);
  };
  const world = await startWorld();
  const memory = remember(world.created);
  await writeInputs(root, world.url, waybill);
  const one = await start("one");
  await one.command("table", "publish", "second.json", "--yes", "--wait", "--note", "the second");
  await one.command("directory", "import", "slug", "shops.ndjson");
  await one.command("directory", "copy", "slug");
  await memory.addAll(one, "a");
  await memory.choosePaths(one);
  await one.command("table", "canary", "canary.json", "--share", "25", "--yes", "--wait");
  await memory.note(one);
  const counters = await memory.countersGoOn(one);
  await beforeStop(one);
  await stop(one);
  return {
    waybill,
    start,
    stop,
    memory,
    expectCounters: async (gateway: Parameters<typeof countersOf>[0]): Promise<void> => {
      const now = await countersOf(gateway);
      for (const [series, value] of counters) expect(now.get(series), series).toBeGreaterThanOrEqual(value);
    },
    kill: (): void => {
      for (const gateway of running) gateway.kill();
      world.stop();
    },
  };
}

export type Machines = Awaited<ReturnType<typeof machinesOf>>;

/** Tables, a pack, keys of a directory, and the build. */
async function writeInputs(root: string, url: string, waybill: Machines["waybill"]): Promise<void> {
  writeFileSync(join(root, "ranges.csv"), "0,999,eu\n1000,1999,us\n2000,4294967295,ap\n");
  writeFileSync(join(root, "shops.ndjson"), SHOPS.join(""));
  writeJson(root, "first.json", tableOf(url, "ap"));
  const pack = ["table", "pack", "ranges.csv", "--layout", "hotguid", "--table", "first.json", "--name", "shards"];
  expect(await waybill(...pack)).toMatchObject({ code: 0 });
  const { packs } = JSON.parse(readFileSync(join(root, "first.json"), "utf8"));
  writeJson(root, "second.json", tableOf(url, "ap", { packs, moved: { [MOVED]: "us" } }));
  writeJson(root, "canary.json", tableOf(url, "eu", { packs, moved: { [MOVED]: "us" } }));
  expect(await waybill("build", "first.json", "--out", "build")).toMatchObject({ code: 0 });
}
