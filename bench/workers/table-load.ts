import { loadTableBytes } from "../../src/edge/table/table-bytes.ts";
import type { CompiledTable } from "../../src/routing/index.ts";
import { needed } from "../random-ids.ts";

/** Checks and compiles the table that is sent, as one from KV, beside the one that it holds, and holds the new one then. */

let held: CompiledTable | undefined;

export default {
  async fetch(request: Request): Promise<Response> {
    const bytes = await request.arrayBuffer();
    held = needed(loadTableBytes(bytes, (held?.revision ?? 0) + 1));
    return new Response(String(held.routeCount));
  },
};
