import { kvPacks, type PacksOptions } from "../../src/features/packs/edge/packs.ts";
import { slotsOf } from "../../src/features/packs/table/slots.ts";
import { loadTable } from "../../src/routing/index.ts";
import type { CompiledTable } from "../../src/routing/table.ts";
import { needed } from "../lib/random.ts";

/**
 * `/table` checks and compiles the posted table and returns its number of routes. `/packs` loads its packs from KV, headers
 * and all pages, as the gateway does, and returns the bytes that the pages are counted as.
 */

/** Stays in memory, as in a serving isolate. */
let table: CompiledTable | undefined;

export default {
  async fetch(request: Request, { TABLE_KV }: { readonly TABLE_KV: PacksOptions["kv"] }): Promise<Response> {
    const text = await request.text();
    if (new URL(request.url).pathname === "/table") {
      table = needed(loadTable(JSON.parse(text), 1));
      return new Response(String(table.routeCount));
    }
    return table === undefined ? new Response("no table", { status: 404 }) : loadPacks(table, TABLE_KV);
  },
};

async function loadPacks(of: CompiledTable, kv: PacksOptions["kv"]): Promise<Response> {
  const failures: string[] = [];
  const packs = kvPacks({
    kv,
    cache: undefined,
    namespace: "bench",
    clock: { nowMs: () => Date.now() },
    entropy: { word: () => 0 },
    retryMsMax: 30_000,
    report: ({ why }) => failures.push(why),
    waitUntil: () => undefined,
  });
  await packs.open(of);
  let bytes = 0;
  for (const { name, content } of slotsOf(of).values()) {
    for (const { number } of content?.header.pages ?? []) await packs.load(of, { pack: name, page: number });
    bytes += content?.bytes ?? 0;
  }
  return failures.length > 0 ? new Response(failures.join("\n"), { status: 500 }) : new Response(String(bytes));
}
