import { IDS, setUp } from "../harness.ts";
import { MESH_TABLE, type MeshOptions, NAMES, setUpMesh } from "./mesh.ts";

/** Requests as clients and origins see them, by each entrance of a mesh, and by a gateway that is in none. */

export type Asked = readonly [path: string, init?: RequestInit | ((before: string) => RequestInit)];

/** Fields that name the gateways on the way, and a boundary of time. */
const VARYING = new Set(["cdn-loop", "via", "date", "server-timing", "waybill-key-until", "content-length"]);

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

const KNOWN: ReadonlySet<string> = new Set(Object.values(IDS));

/** New IDs have numbers in their places. */
const numbered = () => {
  const ids = new Map<string, string>();
  return (text: string): string =>
    text
      // Cursors are sealed anew each time; and a client without an address gets any origin of a region.
      .replaceAll(/"(next|gap)":"[^"]+"/g, '"$1":"sealed"')
      .replaceAll(/\bap-[12]\b/g, "ap")
      .replaceAll(UUID, (id) => {
        if (KNOWN.has(id)) return id;
        const known = ids.get(id) ?? `<id ${ids.size}>`;
        ids.set(id, known);
        return known;
      });
};

interface Entrance {
  readonly request: (path: string, init?: RequestInit) => Promise<Response>;
  readonly seen: readonly { url: string; method: string; headers: Headers; body: string }[];
}

const fieldsOf = (headers: Headers) => [...headers].filter(([name]) => !VARYING.has(name));

async function observe({ request, seen }: Entrance, all: readonly Asked[]) {
  const show = numbered();
  const found: unknown[] = [];
  let before = "";
  for (const [path, init] of all) {
    const from = seen.length;
    const sent = path.replace("{before}", before);
    const response = await request(sent, typeof init === "function" ? init(before) : init);
    const text = await response.text();
    if (text.includes("/table-unavailable")) throw new Error("the table has a fault");
    before = response.headers.get("waybill-entity-id") ?? before;
    // Those of one answer are sent at once.
    const sentOn = seen.slice(from).toSorted((one, other) => one.url.localeCompare(other.url));
    found.push({
      path,
      status: response.status,
      headers: show(JSON.stringify(fieldsOf(response.headers))),
      text: show(text),
      origins: sentOn.map(({ method, url, body, headers }) =>
        show(JSON.stringify([method, url, body, fieldsOf(headers)])),
      ),
    });
  }
  return found;
}

/** By a gateway alone first, then by each entrance. */
export async function observeAll(options: MeshOptions, all: readonly Asked[]) {
  const { own: _, between: __, gateway = {}, ...rest } = options;
  const alone = setUp({ declared: MESH_TABLE, ...rest, gateway });
  const found = [await observe(alone, all)];
  for (const name of NAMES) {
    const { gateways, seen } = setUpMesh(options);
    found.push(await observe({ request: gateways[name].request, seen }, all));
  }
  return found;
}
