import type { Env } from "../../src/edge/env.ts";
import { type CopiesOptions, kvCopies } from "../../src/features/directory/edge/copies.ts";
import { durableDirectory } from "../../src/features/directory/edge/keys.ts";
import gateway from "../../src/worker.ts";
import { seededWords } from "../lib/random.ts";
import { DIRECTORY, keyAt, regionAt } from "./keys.ts";

/** The gateway, which also looks keys up in one layer alone: `/look?layer=warm&keys=1000&times=100000&seed=1`. */

export * from "../../src/worker.ts";

/** Bytes of pages in memory: as the gateway has them, or one page, so that nearly every look-up is of a cold one. */
const LAYERS: Readonly<Record<string, number>> = { warm: 16 * 2 ** 20, cold: 2 ** 16 };

const layers = new Map<string, ReturnType<typeof kvCopies>>();

function copiesOf(layer: string, kv: CopiesOptions["kv"], truth: CopiesOptions["truth"]) {
  const known = layers.get(layer);
  if (known !== undefined) return known;
  const made = kvCopies({
    kv,
    truth,
    cache: undefined,
    namespace: "bench",
    clock: { nowMs: () => Date.now() },
    entropy: { word: () => 0 },
    retryMsMax: 30_000,
    chunkBytesMax: LAYERS[layer] ?? 0,
    waitMs: 10_000,
    report: ({ why }) => {
      throw new Error(why);
    },
    waitUntil: () => undefined,
  });
  layers.set(layer, made);
  return made;
}

/** Looks random keys up, checks each answer, and returns how many were right. */
async function look(query: URLSearchParams, env: Env): Promise<number> {
  const [keys, times, seed] = ["keys", "times", "seed"].map((name) => Number(query.get(name))) as [
    number,
    number,
    number,
  ];
  const layer = query.get("layer") ?? "";
  const { word } = seededWords(seed);
  const truth = durableDirectory(env.DIRECTORY);
  const copies = copiesOf(layer, env.TABLE_KV, truth);
  let right = 0;
  for (let time = 0; time < times; time++) {
    const at = word() % keys;
    if (layer === "object") {
      const got = await truth.get({ directory: DIRECTORY, key: keyAt(at) });
      if (got.ok && got.value?.region === regionAt(at)) right++;
    } else {
      const found = await copies.find(DIRECTORY, keyAt(at));
      if (found?.state === "found" && found.region === regionAt(at)) right++;
    }
  }
  return right;
}

export default {
  ...gateway,
  async fetch(...[request, env, context]: Parameters<typeof gateway.fetch>): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    return pathname === "/look"
      ? Response.json(await look(searchParams, env as Env))
      : gateway.fetch(request, env, context);
  },
};
