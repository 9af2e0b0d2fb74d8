import { formatShortKey, luuid } from "../ids/index.ts";
import type { Checks } from "./checks.ts";
import { type DemoTable, pathWithId, shardKeysOf } from "./demo-table.ts";
import { REGION_HEADER } from "./exchange.ts";
import { expectedRegion } from "./expected-region.ts";

/** What the checks talk to, and what they hold it to. */
export interface SmokeTarget {
  readonly url: string;
  readonly table: DemoTable;
  readonly checks: Checks;
}

/** What a caller asks `POST /mint` for, with the region that the table names for it. */
interface ChangeRequest {
  readonly about: string;
  readonly body: Readonly<Record<string, string | number>>;
  readonly path: string;
  readonly region: string | undefined;
}

/** Two of each: the second tells a minter that repeats itself. */
const IDS_PER_REQUEST = 2;

/** Mints for every key of the table, and takes each ID through both of its URLs. */
export async function checkMintedIds(target: SmokeTarget): Promise<void> {
  const seen = new Set<string>();
  for (const request of requestsOf(target.table)) {
    for (const id of await mintAll(target, request)) {
      target.checks.equal(`${request.about}: ${id} is new`, seen.has(id), false);
      seen.add(id);
      await checkId(target, request, id);
    }
  }
}

function requestsOf(table: DemoTable): ChangeRequest[] {
  return Object.entries(table.entities).flatMap(([entity, { path, ids }]) =>
    ids.flatMap(({ layout }): ChangeRequest[] => {
      const request = (about: string, keys: Readonly<Record<string, string | number>>): ChangeRequest => ({
        about: `${entity} ${about}`,
        body: { entity, ...keys, count: IDS_PER_REQUEST },
        path,
        region: expectedRegion(table, { entity, layout, ...keys }, Date.now()),
      });
      if (layout === "iuid")
        return Object.keys(table.countries).map((country) => request(`of ${country}`, { country }));
      if (layout === "luuid") return [request("of its group", {})];
      return shardKeysOf(table).map(({ shardKey, about }) => request(`of ${about}`, { shardKey }));
    }),
  );
}

async function mintAll({ url, checks }: SmokeTarget, request: ChangeRequest): Promise<readonly string[]> {
  const response = await fetch(`${url}/mint`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request.body),
  });
  const minted = await readMintAnswer(response);
  const got = { status: response.status, region: minted.region, count: minted.ids?.length };
  checks.equal(`mint ${request.about}`, got, { status: 201, region: request.region, count: IDS_PER_REQUEST });
  return minted.ids ?? [];
}

async function checkId({ url, checks }: SmokeTarget, request: ChangeRequest, id: string): Promise<void> {
  const path = pathWithId(request.path, id);
  const words = luuid.parse(id);
  const primaryKey = words.ok && luuid.field("primaryKey")?.read(words.value);
  const shortPath = typeof primaryKey === "number" ? pathWithId(request.path, formatShortKey(primaryKey)) : path;
  const calls: readonly (readonly [method: string, path: string, status: number])[] = [
    ["GET", path, 404],
    ["PUT", `/any/${id}`, 201],
    ["GET", `/any/${id}`, 200],
    ["GET", path, 200],
    ["GET", shortPath, 200],
    ["PATCH", path, 200],
    ["DELETE", `/any/${id}`, 200],
  ];
  for (const [method, at, status] of calls) {
    const hasBody = method === "PUT" || method === "PATCH";
    const response = await fetch(url + at, { method, ...(hasBody ? { body: JSON.stringify({ id }) } : {}) });
    await response.arrayBuffer();
    const got = {
      status: response.status,
      region: response.headers.get("waybill-region"),
      origin: response.headers.get(REGION_HEADER),
    };
    checks.equal(`${method} ${at} (${request.about})`, got, { status, region: request.region, origin: request.region });
  }
}

/** What must be refused, and the gateway's own pages. */
export async function checkEdges({ url, checks }: SmokeTarget): Promise<void> {
  const ride = "019a0000-0000-8005-8080-000000000001";
  const calls: readonly (readonly [path: string, status: number])[] = [
    ["/-/health", 200],
    ["/-/ready", 200],
    [`/-/ids/${ride}`, 200],
    ["/any/not-an-id", 400],
    ["/orders/not-an-id", 400],
    [`/orders/${ride}`, 422],
    ["/nowhere/1", 404],
  ];
  for (const [path, status] of calls) {
    const response = await fetch(url + path);
    const got = { status: response.status, origin: response.headers.get(REGION_HEADER) };
    await response.arrayBuffer();
    checks.equal(`GET ${path}`, got, { status, origin: null });
  }
}

interface MintAnswer {
  readonly ids?: readonly string[];
  readonly region?: string;
}

/** An answer that is no JSON is one without IDs. */
async function readMintAnswer(response: Response): Promise<MintAnswer> {
  try {
    return JSON.parse(await response.text());
  } catch {
    return {};
  }
}
