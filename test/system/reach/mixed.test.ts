import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimShops, SHOPS } from "../../../src/demo/reach.ts";
import { type DemoStack, startDemoStack } from "../stack.ts";

/** Requests that reach over regions, mixed, on the demo's own table with its origins and bare workerd. */

const PAGE = "http://localhost:3000";
/** The demo's table moves it to us. */
const MOVED = "0192f0c1-7a30-8005-8040-8f3b2a1c9d77";

let stack: DemoStack;
let kz: string;
let br: string;
let de: string;

/** The members of all kinds of answers here. */
interface Answer {
  readonly items: readonly { readonly id: string; readonly region: string }[];
  readonly next?: string | null;
  readonly summary: { readonly partial: readonly string[] };
  readonly results: readonly { readonly region?: string; readonly status: number }[];
  readonly data?: Readonly<Record<string, unknown>>;
  readonly errors?: readonly { readonly path: unknown }[];
  /** Members of a request that an origin repeats. */
  readonly region: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
}

const call = (path: string, init: RequestInit = {}) => fetch(stack.url + path, init);
const jsonOf = async (path: string, init: RequestInit = {}) => (await call(path, init)).json() as Promise<Answer>;
const send = (method: string, body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});
const documentsIn = (region: string) => {
  const origin = stack.origins.find((one) => one.region === region);
  if (origin === undefined) throw new Error(`no region ${region}`);
  return origin.documents;
};

async function create(country: string): Promise<string> {
  const created = await call("/orders", send("POST", { status: "mixed" }, { "x-country": country }));
  return created.headers.get("waybill-entity-id") ?? "";
}

beforeAll(async () => {
  stack = await startDemoStack();
  await claimShops(stack.url);
  for (const [region, shop] of SHOPS) documentsIn(region).set(`/shops/${shop}`, { id: shop });
  [kz, br, de] = [await create("KZ"), await create("BR"), await create("DE")];
  // It was moved: the region that it left still has it.
  documentsIn("us").set(`/orders/${MOVED}`, { status: "mixed", from: "us" });
  documentsIn("eu").set(`/orders/${MOVED}`, { status: "mixed", from: "eu" });
});
afterAll(() => stack?.stop());

describe("a list", () => {
  it("has each order once, the newest first, a moved one from where it is", async () => {
    const { items, summary } = await jsonOf("/orders?status=mixed");
    expect(items.map(({ id, region }) => [id, region])).toEqual([
      [de, "eu"],
      [br, "us"],
      [kz, "ap"],
      [MOVED, "us"],
    ]);
    expect(summary.partial).toEqual([]);
  });

  it("goes on with its cursor, which is for this query alone", async () => {
    const ids: string[] = [];
    let next: string | null | undefined;
    for (let pages = 0; pages < 9; pages++) {
      const cursor = next == null ? "" : `&cursor=${encodeURIComponent(next)}`;
      const page = await jsonOf(`/orders?status=mixed&limit=1${cursor}`);
      ids.push(...page.items.map(({ id }) => id));
      next = page.next;
      if (next == null) break;
    }
    expect(ids).toEqual([de, br, kz, MOVED]);
    const { next: first } = await jsonOf("/orders?status=mixed&limit=1");
    expect((await call(`/orders?limit=1&cursor=${encodeURIComponent(first ?? "")}`)).status).toBe(400);
  });
});

describe("IDs in several places", () => {
  it("lead to one region", async () => {
    const refund = await jsonOf(`/refunds?order=${kz}`, send("POST", { orderId: kz }));
    expect([refund.region, refund.headers["waybill-entity-id"]]).toEqual(["ap", kz]);
    expect((await jsonOf("/refunds", send("POST", { orderId: MOVED }))).region).toBe("us");
  });

  it("or to none, and a page of the web reads why", async () => {
    const answer = await call(`/refunds?order=${br}`, send("POST", { orderId: kz }, { origin: PAGE }));
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([422, PAGE]);
    expect(await answer.json()).toMatchObject({ type: "/-/problems/ids-disagree" });
    const none = await jsonOf("/refunds", send("POST", {}));
    expect(none.status).toBeGreaterThanOrEqual(400);
  });
});

describe("GraphQL", () => {
  const ask = (query: string, variables: object = {}) => jsonOf("/graphql", send("POST", { query, variables }));

  it("has nodes of all regions in order, the moved one from where it is", async () => {
    const query =
      'query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Order { region } } a: order(id: "$KZ") { status } }';
    const ids = [MOVED, kz, br, kz, de];
    const { data, errors } = await ask(query.replace("$KZ", kz), { ids });
    const region = { [MOVED]: "us", [kz]: "ap", [br]: "us", [de]: "eu" };
    expect(data).toEqual({ nodes: ids.map((id) => ({ id, region: region[id] })), a: { status: "mixed" } });
    expect(errors).toBeUndefined();
  });

  it("changes one region's order, and refuses to change two", async () => {
    const change = (id: string, alias = "") => `${alias} setStatus(id: "${id}", status: "mixed") { region }`;
    expect(await ask(`mutation { ${change(br)} }`)).toEqual({ data: { setStatus: { region: "us" } } });
    const two = await ask(`mutation { ${change(br, "a:")} ${change(kz, "b:")} }`);
    expect([two.data, two.errors?.length]).toEqual([undefined, 1]);
  });

  it("takes no name of a directory for an ID", async () => {
    const { data, errors } = await ask('{ node(id: "green-tea") { id } }');
    expect([data?.["node"] ?? null, errors?.length]).toEqual([null, 1]);
  });
});

describe("many at once", () => {
  it("come in order, each from its region or with its problem", async () => {
    const { results } = await jsonOf("/any", send("POST", [br, "green-tea", MOVED, kz]));
    expect(results.map(({ region, status }) => [region, status])).toEqual([
      ["us", 200],
      [undefined, 400],
      ["us", 200],
      ["ap", 200],
    ]);
  });
});

describe("names", () => {
  it("go where the directory says, whatever their case, and are claimed once", async () => {
    for (const [region, shop] of SHOPS) {
      expect((await call(`/shops/${shop.toUpperCase()}`)).headers.get("waybill-region")).toBe(region);
    }
    const claim = { owner: "other", operation: "1", region: "eu" };
    expect((await call("/-/directory/slug/green-tea", send("PUT", claim))).status).toBe(412);
    const byPage = await call("/-/directory/slug/green-tea", send("PUT", claim, { origin: PAGE }));
    expect([byPage.status, byPage.headers.has("access-control-allow-origin")]).toEqual([403, false]);
    expect((await call("/shops/no-such-shop")).status).toBe(404);
  });
});

describe("a page of the web", () => {
  it.each(["/orders", "/any", "/mint", "/nothing"])("may preflight %s", async (path) => {
    const headers = { origin: PAGE, "access-control-request-method": "POST" };
    const answer = await call(path, { method: "OPTIONS", headers });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([204, PAGE]);
  });

  it.each(["/orders?limit=1", `/any/${"z".repeat(30)}`, "/shops/no-such-shop"])("reads %s", async (path) => {
    const answer = await call(path, { headers: { origin: PAGE } });
    expect(answer.headers.get("access-control-allow-origin")).toBe(PAGE);
    expect(answer.headers.get("vary")).toMatch(/origin/i);
    await answer.arrayBuffer();
  });
});

describe("with a region down", () => {
  beforeAll(() => stack.origins.find(({ region }) => region === "us")?.stop());

  it("the list says that it is partial, GraphQL has its error in place, and others of many are there", async () => {
    const list = await call("/orders?status=mixed");
    expect(list.headers.get("waybill-partial")).toBe("us");
    const { items } = (await list.json()) as Answer;
    expect(items.map(({ id }) => id)).toEqual([de, kz]);
    const query = `{ a: node(id: "${kz}") { id } b: node(id: "${br}") { id } }`;
    const { data, errors } = await jsonOf("/graphql", send("POST", { query }));
    expect(data).toEqual({ a: { id: kz }, b: null });
    expect(errors?.map(({ path }) => path)).toEqual([["b"]]);
    const { results } = await jsonOf("/any", send("POST", [br, kz]));
    expect(results.map(({ status }) => status)).toEqual([502, 200]);
  });
});
