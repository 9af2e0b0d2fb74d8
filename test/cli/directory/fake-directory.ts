import type { Runtime } from "../../../src/cli/runtime.ts";
import { exportRows, importRows, parseCursor } from "../../../src/features/directory/serve/bulk.ts";
import { ok } from "../../../src/ids/result.ts";
import { memoryTruth } from "../../routing/directory/memory-truth.ts";
import type { RuntimeOptions } from "../fake-runtime.ts";

const ENTRY = {
  directory: "slug",
  key: "ada",
  region: "eu",
  state: "reserved",
  version: 7,
  owner: "42",
  changedAt: "2026-06-01T00:00:00.000Z",
  leaseUntil: "2026-06-01T00:05:00.000Z",
};

/** A gateway's pages of the directory `slug`, as `src/features/directory/pages/bulk.ts` answers, in memory. */
export const fakeDirectory = () => {
  const world = memoryTruth();
  const copies = new Map<string, Uint8Array<ArrayBuffer>>();
  const state = {
    current: undefined as string | undefined,
    /** As the gateway tells it. */
    form: "lower" as string | undefined,
    counts: {
      directory: "slug",
      at: "2026-06-01T00:00:00.000Z",
      shards: 256,
      answered: 256,
      total: { confirmed: 1_234, reserved: 5, expired: 2, missing: 1 },
    } as object,
    asked: [] as string[],
    /** Bodies of requests about one key. */
    bodies: [] as string[],
    /** Answers that break, by the number of the request from 1 on. */
    breaks: new Map<number, Response | Error>(),
  };
  const fetch: Runtime["fetch"] = async (input, init) => {
    const request = new Request(input, init);
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/-/directory") {
      const { form } = state;
      return Response.json({ directories: form === undefined ? [] : [{ name: "slug", key: { text: form } }] });
    }
    state.asked.push(`${request.method} ${pathname}`);
    const broken = state.breaks.get(state.asked.length);
    if (broken instanceof Error) throw broken;
    if (broken !== undefined) return broken;
    const path = pathname.replace("/-/directory/slug", "").replace(/^\/-(?=\/)/, "");
    const copy = /^\/copies\/(.+)$/.exec(path)?.[1];
    if (copy !== undefined && request.method === "PUT") {
      copies.set(copy, new Uint8Array(await request.arrayBuffer()));
      if (!copy.includes("/")) state.current = copy;
      return new Response(null, { status: 204 });
    }
    if (copy !== undefined) return new Response(copies.get(copy) ?? null, { status: copies.has(copy) ? 200 : 404 });
    if (path === "/copy" && request.method === "DELETE") {
      state.current = undefined;
      return new Response(null, { status: 204 });
    }
    if (path === "/counts") return Response.json(state.counts);
    if (path === "/copy") return Response.json({ directory: "slug", copy: statusOf() });
    if (path === "/import") {
      const body = (async function* () {
        yield new Uint8Array(await request.arrayBuffer());
      })();
      return ndjson(
        importRows(body, {
          truth: world.truth,
          directory: "slug",
          keyOf: (text) => ok(text.toLowerCase()),
          regions: new Set(["eu", "ap"]),
          replace: searchParams.get("replace") === "true",
          dryRun: searchParams.get("dry-run") === "true",
        }),
      );
    }
    if (path === "/export") {
      const cursor = parseCursor(searchParams.get("cursor") ?? "0:");
      if (cursor === undefined) throw new Error("no cursor of an export");
      return ndjson(exportRows(world.truth, "slug", cursor));
    }
    if (searchParams.get("only") === "orphans") {
      return Response.json(searchParams.has("after") ? { keys: [ENTRY] } : { keys: [ENTRY], next: "0:ada" });
    }
    if (request.method === "DELETE") return new Response(null, { status: 204 });
    state.bodies.push(await request.text());
    if (/"action":"release"/.test(state.bodies.at(-1) ?? "")) return new Response(null, { status: 204 });
    return Response.json({ ...ENTRY, key: decodeURIComponent(path.slice(1)) });
  };
  const statusOf = () => {
    const header = state.current && copies.get(state.current);
    if (!header) return null;
    const { keys, builtAt, regions, pageBits } = JSON.parse(new TextDecoder().decode(header));
    return { sha256: state.current, keys, builtAt, regions, pages: 2 ** pageBits, bytes: header.length + keys * 8 };
  };
  const access: Required<Pick<RuntimeOptions, "env" | "fetch">> = {
    env: { WAYBILL_GATEWAY: "http://gateway.localhost", WAYBILL_TOKEN: "operator-token" },
    fetch,
  };
  return { ...world, copies, directory: state, access };
};

const ndjson = async (lines: AsyncIterable<object>): Promise<Response> => {
  let text = "";
  for await (const line of lines) text += `${JSON.stringify(line)}\n`;
  return new Response(text, { headers: { "content-type": "application/x-ndjson" } });
};
