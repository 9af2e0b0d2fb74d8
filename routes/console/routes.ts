import { Hono } from "hono";
import { linesIn } from "../../src/formats/console/positions.ts";
import type { RouteRevisions } from "../../src/formats/console-api.ts";
import type { TableRevision } from "../../src/formats/table-api.ts";
import { PAGE_ENTRIES_MAX } from "../../src/formats/table-requests.ts";
import type { Gateway } from "../../src/ports/gateway.ts";
import { parseJson } from "../../src/routing/index.ts";
import { pointerTo } from "../../src/routing/schema/faults.ts";
import { requireScope } from "../lib/auth.ts";
import { jsonResponse, type PageEnv, respond } from "../lib/http.ts";

/** Bytes of texts that are looked through for the revisions that wrote the routes. */
const TEXT_BYTES_MAX = 16_000_000;

/** Texts that are asked for at once. */
const TEXTS_AT_ONCE = 8;

/** The revision that wrote a route. `isExact`: false where it may be an older one. */
type Wrote = Readonly<{ by: TableRevision; isExact: boolean }>;

/** Writers by the JSON of each route: its place says nothing, for others may come before it. */
interface Walk {
  readonly revision: TableRevision;
  readonly wrote: ReadonlyMap<string, Wrote>;
}

/** `GET /-/console/routes`: since when each route of the table in force is as it is, as far as the last 100 revisions say. */
export const routeRevisions = (gateway: Gateway) => {
  let known: Walk | undefined;
  return new Hono<PageEnv>().get("/-/console/routes", requireScope(gateway, "viewer"), async (c) => {
    const content = await gateway.controlPlane.text();
    if (!content.ok) return respond(c, content);
    const { revision, bytes } = content.value;
    const text = new TextDecoder().decode(bytes);
    const routes = routesIn(text);
    if (known === undefined || !isSame(known.revision, revision)) {
      const before = await gateway.controlPlane.revisions({ before: revision.revision, limit: PAGE_ENTRIES_MAX });
      if (!before.ok) return respond(c, before);
      known = { revision, wrote: await writersOf(gateway, { revision, routes, before: before.value, known }) };
    }
    const { wrote } = known;
    const lineOf = linesIn(text);
    const view: RouteRevisions = {
      revision: revision.revision,
      routes: routes.map((route, index) => {
        const pointer = pointerTo(["routes", index]);
        const { by, isExact } = wrote.get(route) ?? { by: revision, isExact: false };
        const { author, time = null, note } = by;
        return {
          pointer,
          line: lineOf(pointer) ?? null,
          since: { revision: by.revision, author, time, note, isExact },
        };
      }),
    };
    return jsonResponse(view);
  });
};

const isSame = (one: TableRevision, other: TableRevision): boolean =>
  one.revision === other.revision && one.digest === other.digest;

/** The JSON of each. A published table has been checked. */
function routesIn(text: string): readonly string[] {
  const { routes }: { routes?: unknown } = Object(parseJson(text));
  return Array.isArray(routes) ? routes.map((route) => JSON.stringify(route)) : [];
}

interface Start {
  readonly revision: TableRevision;
  readonly routes: readonly string[];
  /** A page of the revisions before, newest first. */
  readonly before: readonly TableRevision[];
  /** An earlier walk: this one ends where that began. */
  readonly known: Walk | undefined;
}

/** Walks back until each route is missing. */
async function writersOf(gateway: Gateway, { revision, routes, before, known }: Start): Promise<Walk["wrote"]> {
  const wrote = new Map<string, Wrote>();
  /** Those that are in all revisions so far, and the oldest of these. */
  const left = new Map(routes.map((route) => [route, revision]));
  const end = (isExact: boolean, has: (route: string) => boolean = () => false): void => {
    for (const [route, by] of left) {
      if (has(route)) continue;
      wrote.set(route, { by, isExact });
      left.delete(route);
    }
  };
  // A canary was in force for some IDs alone.
  const stable = before.filter(({ kind }) => kind !== "canary");
  let bytes = 0;
  for (let at = 0; at < stable.length && left.size > 0; at += TEXTS_AT_ONCE) {
    const batch = stable.slice(at, at + TEXTS_AT_ONCE);
    bytes += batch.reduce((sum, each) => sum + each.bytes, 0);
    const texts = bytes > TEXT_BYTES_MAX ? [] : await Promise.all(batch.map((each) => textOf(gateway, each)));
    for (const [index, each] of batch.entries()) {
      if (known !== undefined && isSame(each, known.revision)) {
        const { wrote: earlier } = known;
        end(true, (route) => earlier.has(route));
        for (const route of left.keys()) wrote.set(route, earlier.get(route) as Wrote);
        return wrote;
      }
      const text = texts[index];
      const own = new Set(text === undefined ? [] : routesIn(text));
      // Without its text nothing is known of those before it.
      end(text !== undefined, (route) => own.has(route));
      for (const route of left.keys()) left.set(route, each);
    }
  }
  end(before.length < PAGE_ENTRIES_MAX);
  return wrote;
}

async function textOf({ controlPlane }: Gateway, { revision }: TableRevision): Promise<string | undefined> {
  const content = await controlPlane.text(revision);
  return content.ok ? new TextDecoder().decode(content.value.bytes) : undefined;
}
