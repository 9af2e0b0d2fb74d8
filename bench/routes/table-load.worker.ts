import { loadTableBytes } from "../../src/edge/table/compile-text.ts";
import type { CompiledTable } from "../../src/routing/index.ts";
import { needed } from "../lib/random.ts";

/** Checks and compiles the posted table as one from KV, while it keeps the previous one. */

let table: CompiledTable | undefined;

export default {
  async fetch(request: Request): Promise<Response> {
    const bytes = await request.arrayBuffer();
    table = needed(loadTableBytes(bytes, (table?.revision ?? 0) + 1));
    return new Response(String(table.routeCount));
  },
};
