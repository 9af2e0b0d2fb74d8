import { createHash } from "node:crypto";
import { encodePack } from "../../src/features/packs/table/format.ts";
import { fakeDirectory } from "../cli/directory/fake-directory.ts";
import { fakeControlPlane, type Override } from "../cli/fake-control-plane.ts";
import { waybill } from "../cli/fake-runtime.ts";
import { MemoryFiles } from "../cli/memory-files.ts";
import { exportText, SEQUENCE } from "../cli/state/export-file.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";

/** Runs of every command with `--json`: together they print every member. */

const ORDER = "01990f04-d900-8005-8040-000000000001";
const ORDER_MOVED = "01990f04-d900-8005-8040-000000000002";
const ORDER_GONE = "01990f04-d900-8005-8040-000000000003";
const ORDER_NOWHERE = "01990f04-d900-80c8-8040-000000000001";
const PARCEL = "6347eb00-bbaa-01cc-0201-0203d0000000";
const COMB = "0003c1d2-7a30-4005-8040-8f3b2a1c9d77";
const LUUIDS = ["00000000-0001-6d0b-a000-000000000001", "00000000-0002-6d0b-a000-000000000001"] as const;
const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

const [kz, ...others] = DECLARED_TABLE.routes;
const TABLE = {
  ...DECLARED_TABLE,
  entities: { ...DECLARED_TABLE.entities, ticket: { path: "/tickets/:id", ids: [{ layout: "ulid" }], public: true } },
  routes: [
    ...DECLARED_TABLE.routes,
    { when: { entity: "ticket" }, split: { by: "hash", parts: 4, regions: ["eu", "us", "us", "us"] } },
  ],
  moved: { [ORDER_MOVED]: { region: "us", epoch: 3 } },
  gone: { [ORDER_GONE]: { epoch: 4 } },
  withoutId: { list: { path: "/orders", sources: [{ header: "x-home" }, { clientCountry: { KZ: "ap" } }] } },
};
const NEXT = {
  ...TABLE,
  regions: { ...TABLE.regions, mars: { origins: [{ url: "http://mars.test" }] } },
  routes: [
    { ...kz, region: "us", canary: { region: "eu", percent: 5 } },
    { when: { layout: "iuid", country: "AQ" }, region: "mars" },
    ...others,
    { when: { entity: "ticket" }, split: { by: "hash", parts: 4, regions: ["eu", "eu", "us", "us"] } },
  ],
  moved: {},
  moves: { [ORDER]: { from: "us", to: "eu", state: "started", epoch: 1 } },
  withoutId: { list: { path: "/orders", sources: [{ header: "x-house" }] } },
};

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Orders", version: "1" },
  paths: {
    "/orders/{orderId}": { get: {}, parameters: [{ name: "orderId", in: "path", required: true, schema: {} }] },
    "/bills/{id}": { get: { parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }] } },
    "/orders": { get: {} },
  },
};

const EXAMPLES = [
  { path: `/orders/${ORDER}`, region: "us", route: "/routes/0" },
  { path: `/orders/${ORDER_GONE}`, problem: "entity-gone" },
  { path: "/any/00000000-0001-6d0b-a000-000000000001", redirect: "/" },
];

const LOG = [
  JSON.stringify({ event: "request", method: "GET", path: `/orders/${ORDER}`, status: 200 }),
  `/any/${ORDER}`,
  "/orders",
  "/nothing",
  "no request",
].join("\n");

const sha256 = (bytes: Uint8Array) => Promise.resolve(createHash("sha256").update(bytes).digest());
const jsonOf = (value: unknown): string => JSON.stringify(value, null, 2);

/** A pack of two pages, and a table that names it. */
const packedTable = async () => {
  const ranges = [0, 1000].map((from) => ({ from, to: from + 9, region: "us" }));
  const encoded = await encodePack(ranges, { fieldBits: 32, sha256, rangesPerPage: 1 });
  if (!encoded.ok) throw new Error(encoded.error.reason);
  const { header, pages, bytes, regions, ...pack } = encoded.value;
  const shards = { sha256: pack.sha256, bytes, ranges: 2, bits: 32, regions };
  const routes = [{ when: { layout: "hotguid" }, pack: "shards" }, ...NEXT.routes];
  return {
    sha256: pack.sha256,
    file: Buffer.concat([header, ...pages]),
    table: { ...NEXT, packs: { shards }, routes },
  };
};

/** As `routes/console/history.ts` shows it. */
const EVENT_LOG = {
  source: "all",
  next: null,
  webhook: null,
  events: [
    {
      id: 1,
      time: "2026-11-22T12:00:00.000Z",
      kind: "canary",
      type: "canary.aborted",
      words: "ann aborted canary 42: too slow",
      evidence: { author: "ann", requests: 1 },
      region: "ap",
      revision: 42,
      isOver: true,
    },
  ],
};

/** As `src/features/idempotency/pages.ts` shows it. */
const KEY_ENTRIES = {
  key: "k",
  entries: [
    {
      scope: "",
      state: "done",
      entity: "order",
      id: ORDER,
      region: "ap",
      revision: 1,
      attempts: 1,
      startedAt: "2026-11-22T12:00:00.000Z",
      until: "2026-11-23T12:00:00.000Z",
      fingerprint: "0".repeat(64),
      answer: { status: 201, bytes: 312 },
    },
  ],
};

/** Keeps one pack, as the gateway's pages do. */
const keepPack = (sha256: string): Override => {
  const missing = new Set([0, 1]);
  let header = false;
  return ({ method, url }) => {
    if (url.startsWith("/-/idempotency/")) return { body: KEY_ENTRIES };
    if (url.startsWith("/-/events/log")) return { body: EVENT_LOG };
    const [, page] = new RegExp(`^/-/table/packs/${sha256}(?:/(\\d+))?$`).exec(url) ?? ["", undefined];
    if (!url.startsWith("/-/table/packs/")) return undefined;
    if (method === "PUT") header = true;
    if (method === "PUT" && page !== undefined) missing.delete(Number(page));
    const parts = { pages: 2, missing: [...missing], complete: missing.size === 0 };
    return { body: { sha256, header, ...(header ? parts : { pages: null, missing: null, complete: false }) } };
  };
};

/** Machines of a cluster of which none runs: nothing listens at the port. */
const EDGE = { role: "edge", listen: "127.0.0.1:0", stateNodes: ["127.0.0.1:1"], stateTls: "absent" };
const STATE_NODE = {
  role: "state",
  stateListen: "127.0.0.1:1",
  stateTls: "absent",
  bucket: "s3://acme",
  clusterAddr: "127.0.0.1:2",
  clusterKeyFile: "absent",
};

const DIRECTORY_ROWS = `{"key":"ada","region":"eu","owner":"7"}\n{"key":"bob","region":"eu"}\n`;

/** Runs of `waybill directory`, with their input. */
const DIRECTORY_RUNS = [
  ["get slug ada", ""],
  ["reserve slug ada --owner 42 --region eu --lease 1m", ""],
  ["confirm slug ada --owner 42 --operation op-1", ""],
  ["reserve slug eve --owner 42 --region eu --operation op-2", ""],
  ["release slug eve --owner 42 --operation op-2", ""],
  ["move slug ada --to us", ""],
  ["delete slug ada", ""],
  ["orphans slug", ""],
  ["import slug -", `${DIRECTORY_ROWS}{}\n`],
  ["stat slug", ""],
  ["copy slug", ""],
  ["stat slug", ""],
  ["import slug -", DIRECTORY_ROWS.replaceAll("eu", "ap")],
  ["import slug - --replace", DIRECTORY_ROWS.replaceAll("eu", "ap")],
  ["verify slug", ""],
] as const;

/** The runs, in their order; `command` is its words. */
export async function* commandRuns() {
  const { sha256, file, table } = await packedTable();
  const plane = fakeControlPlane(TABLE);
  plane.override = keepPack(sha256);
  const keys = JSON.stringify({ sealed: [{ id: "a", key: Buffer.alloc(32, 7).toString("base64") }] });
  const { fetch } = plane.access;
  const env = { ...plane.access.env, PUBLIC_ID_KEYS: keys };
  const files = MemoryFiles.of({
    "routing-table.json": jsonOf(TABLE),
    "next.json": jsonOf(NEXT),
    "packed.json": jsonOf(table),
    [`packs/${sha256}.pack`]: file,
    "faulty.json": jsonOf({ ...TABLE, default: "mars" }),
    "moving.json": jsonOf(NEXT),
    "waybill.state": exportText([SEQUENCE]),
    "examples.json": jsonOf({ examples: EXAMPLES }),
    "api.json": jsonOf(DOCUMENT),
    "edge.json": jsonOf(EDGE),
    "state.json": jsonOf(STATE_NODE),
    "requests.ndjson": LOG,
    "ids.txt": `${ORDER}\n${ORDER_NOWHERE}\n`,
    "shards.csv": "0,9,eu\n5000,5999,us\n",
    "faulty.csv": "0,9,eu\n5,us\n",
    "eu.ndjson": LUUIDS.map((id) => `${jsonOf({ id, mintedAt: "2026-01-01T00:00:00Z" }).replaceAll("\n", "")}\n`).join(
      "",
    ),
    "us.ndjson": `${LUUIDS[0]?.replace(/.$/, "9")}\n{"id":"${LUUIDS[1]?.replace(/.$/, "9")}","mintedAt":"2026-01-02T00:00:00Z"}\n`,
    "settings.env": "REQUEST_LOG=JSON\nREQUEST_LOGS=off\n",
  });
  const shown = await waybill(["public", "show", "--entity", "ticket", ULID], { files, env });
  const runs: readonly (readonly [command: string, ...args: string[]])[] = [
    ["explain", ORDER, ORDER_MOVED, ORDER_GONE, ORDER_NOWHERE, PARCEL, shown.stdout.trim(), "x"],
    ["explain", "--no-table", ORDER, ULID, "x"],
    ["explain", "--table", "next.json", ORDER],
    ["id explain", ORDER],
    ["mint", "--entity", "order", "--country", "KZ"],
    ["mint", "ulid"],
    ["id mint", "ulid"],
    ["id check", "--now", "2026-06-01T00:00:00Z", "--client-now", "2026-06-01T00:00:01Z", ULID, "x"],
    ["id check", "--now", "2016-07-30T23:54:11Z", ULID],
    ["id check", "--layout", "short-prefix-comb", "--now", "2026-06-01T00:00:00Z", COMB],
    ["id convert", "--to", "hotguid-sql", PARCEL, "x"],
    ["id range", "uuid-v7", "--from", "2026-06-01T00:00:00Z", "--to", "2026-07-01T00:00:00Z"],
    ["id range", "iuid", "--from", "2026-06-01T00:00:00Z", "--to", "2026-07-01T00:00:00Z", "--for", "mariadb"],
    ["id column", "iuid", "--for", "mariadb"],
    ["id column", "iuid", "--for", "mariadb", "--type", "UUID"],
    ["id capacity", "snowflake", "--rate", "50000", "--minters", "16"],
    ["id capacity", "uuid-v7", "--rate", "1e6"],
    ["id capacity", "luuid", "--rate", "1e6"],
    ["id capacity", "hotguid", "--rate", "1e6"],
    ["state verify", "waybill.state"],
    ["table check", "routing-table.json"],
    ["table check", "faulty.json"],
    ["init", "my-gateway"],
    ["table test", "examples.json"],
    ["table test", "faulty.json"],
    ["table diff", "routing-table.json", "next.json", "--log", "requests.ndjson"],
    ["table diff", "routing-table.json", "packed.json"],
    ["table diff", "routing-table.json", "faulty.json"],
    ["table pack", "shards.csv", "--layout", "hotguid"],
    ["table pack", "faulty.csv", "--layout", "hotguid"],
    ["table replay", "requests.ndjson", "--old", "routing-table.json", "--new", "next.json"],
    ["table capacity", "routing-table.json"],
    ["table plan", "packed.json"],
    ["table plan", "faulty.json"],
    ["table canary", "next.json", "--share", "5", "--yes", "--over-moves"],
    ["table status", "--probe", "3"],
    ["table status", "--wait", "1"],
    ["table promote", "--yes", "--expect", "2", "--over-moves"],
    ["table upload-packs", "packed.json"],
    ["table publish", "packed.json", "--yes", "--wait", "--over-moves", "--note", "why"],
    ["table publish", "packed.json"],
    ["table rollback", "1", "--yes", "--over-moves"],
    ["table canary", "next.json", "--entity", "order", "--yes", "--over-moves"],
    ["table history"],
    ["table audit"],
    ["table abort", "--yes", "--expect", "6"],
    ["contract", "api.json", "--entity-prefix", "/orders"],
    ["contract", "api.json", "--table", "next.json"],
    ["config check", "settings.env"],
    ["cluster check", "--config", "edge.json"],
    ["cluster status", "--config", "state.json", "--config", "edge.json"],
    ["public show", "--entity", "ticket", ULID],
    ["public open", "--entity", "ticket", shown.stdout.trim(), "x"],
    ["move start", ORDER, "--to", "us"],
    ["move fence", ORDER],
    ["move status"],
    ["move status", ORDER, ORDER_MOVED, ORDER_GONE],
    ["move switch", ORDER],
    ["move finish", ORDER],
    ["move gone", ORDER],
    ["move abort", ORDER, "--table", "moving.json"],
    ["canary", "0", "--region", "us", "--percent", "1"],
    ["events"],
    ["idempotency show", "k"],
    ["luuid verify", "eu=eu.ndjson", "us=us.ndjson", "--table", "routing-table.json"],
    ["luuid verify", "eu=eu.ndjson", "us=us.ndjson"],
    ["token new", "--name", "ci", "--scope", "operator"],
    ["layout"],
    ["locate", "ids.txt"],
  ];
  for (const [command, ...args] of runs) {
    yield { command, ...(await waybill([...command.split(" "), ...args, "--json"], { files, env, fetch })) };
  }
  // It sends no token.
  const ready = async () => Response.json({ status: "ready", invalidSettings: ["REQUEST_LOG"] });
  const lacking = MemoryFiles.of({ "wrangler.toml": 'name = "a"\n' });
  yield { command: "upgrade", ...(await waybill(["upgrade", "--json"], { files: lacking })) };
  yield { command: "health", ...(await waybill(["health", "--json"], { fetch: ready })) };
  const { access } = fakeDirectory();
  for (const [command, stdin] of DIRECTORY_RUNS) {
    const words = `directory ${command.split(" ")[0]}`;
    yield { command: words, ...(await waybill(["directory", ...command.split(" "), "--json"], { ...access, stdin })) };
  }
}
