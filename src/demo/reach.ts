/** The demo's origins beside documents: lists of a collection in pages, and GraphQL over the same documents. */

/** Members of a document, whatever a client has put there. */
type Members = Readonly<Record<string, unknown>>;

interface Page {
  readonly items: readonly Members[];
  /** For the next page; absent in the last one. */
  readonly cursor?: string;
}

/** Collections whose IDs begin with their time, or are names. */
const COLLECTIONS: ReadonlySet<string> = new Set(["/orders", "/rides", "/shops"]);

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;

/** A request as an origin has it. */
interface Exchange {
  readonly region: string;
  readonly documents: Documents;
  readonly request: {
    readonly method?: string | undefined;
    readonly headers: { readonly accept?: string | undefined };
  };
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Lists and GraphQL; `undefined` for all else. */
export async function answerReach(exchange: Exchange, readBody: () => Promise<unknown>) {
  const { region, documents, path, query, request } = exchange;
  const { method = "GET" } = request;
  if (path === "/graphql") return answerGraphql(exchange, method, readBody);
  if (!COLLECTIONS.has(path) || method !== "GET") return undefined;
  const limit = Number(query.get("limit") ?? LIMIT_DEFAULT);
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) return problem(400, `limit is 1 to ${LIMIT_MAX}`);
  const page = pageOf(documents, path, { limit, before: query.get("cursor"), status: query.get("status") });
  return answer(200, JSON_TYPE, { ...page, items: page.items.map((item) => ({ ...item, region })) });
}

const JSON_TYPE = "application/json";
const GRAPHQL_TYPE = "application/graphql-response+json";

function answer(status: number, type: string, body: object) {
  const text = `${JSON.stringify(body)}\n`;
  const length = new TextEncoder().encode(text).length;
  return { status, text, fields: { "content-type": `${type}; charset=utf-8`, "content-length": length } };
}

const problem = (status: number, why: string) => answer(status, JSON_TYPE, { why });

async function answerGraphql(
  { documents, region, request, query }: Exchange,
  method: string,
  readBody: () => Promise<unknown>,
) {
  if (method !== "GET" && method !== "POST") return problem(405, "GraphQL takes GET and POST");
  const call = method === "POST" ? await readBody() : { query: query.get("query") };
  const result = await executeGraphql(documents, region, call);
  if (result === undefined) return problem(400, "no query");
  const isNew = request.headers.accept?.includes(GRAPHQL_TYPE) === true;
  return answer(isNew && result.data === undefined ? 400 : 200, isNew ? GRAPHQL_TYPE : JSON_TYPE, result);
}

/** The newest first: an iUID sorts by its time. `before`: the cursor, which is the last ID of the page before. */
function pageOf(
  documents: ReadonlyMap<string, unknown>,
  collection: string,
  { limit, before, status }: { readonly limit: number; readonly before: string | null; readonly status: string | null },
): Page {
  const all = [...documents]
    .filter(([path]) => path.startsWith(`${collection}/`) && path.split("/").length === 3)
    .map(([path, document]): Members & { id: string } => ({ ...Object(document), id: path.split("/")[2] ?? "" }))
    .filter((item) => (before === null || item.id < before) && (status === null || item["status"] === status))
    .toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const items = all.slice(0, limit);
  const last = items.at(-1)?.id;
  return all.length > limit && last !== undefined ? { items, cursor: last } : { items };
}

const SCHEMA = `
  interface Node { id: ID! }
  type Order implements Node { id: ID! region: String! about: String status: String total: Float }
  type Ride implements Node { id: ID! region: String! about: String status: String }
  type Query {
    node(id: ID!): Node
    nodes(ids: [ID!]!): [Node]!
    order(id: ID!): Order
    orders(first: Int = 5): [Order!]!
    region: String!
  }
  type Mutation { setStatus(id: ID!, status: String!): Order }
`;

/** A region's documents by path. */
type Documents = Map<string, unknown>;

/** One region's half of the truth: IDs of other regions are null. */
function rootOf(documents: Documents, region: string) {
  const find = (text: string, kinds = ["orders", "rides"]) => {
    const id = text.toLowerCase();
    const kind = kinds.find((each) => documents.has(`/${each}/${id}`));
    const __typename = kind === "orders" ? "Order" : "Ride";
    return kind === undefined ? null : { ...Object(documents.get(`/${kind}/${id}`)), id, region, __typename };
  };
  return {
    region,
    node: ({ id }: { id: string }) => find(id),
    nodes: ({ ids }: { ids: readonly string[] }) => ids.map((id) => find(id)),
    order: ({ id }: { id: string }) => find(id, ["orders"]),
    orders: ({ first }: { first: number }) =>
      pageOf(documents, "/orders", { limit: first, before: null, status: null }).items.map((item) => ({
        ...item,
        region,
      })),
    setStatus: ({ id, status }: { id: string; status: string }) => {
      const order = find(id, ["orders"]);
      if (order === null) return null;
      const path = `/orders/${order.id}`;
      documents.set(path, { ...Object(documents.get(path)), status });
      return { ...order, status };
    },
  };
}

let schema: import("graphql").GraphQLSchema | undefined;

/** `call`: the JSON of a request by GraphQL over HTTP. `undefined`: it is none. */
async function executeGraphql(documents: Documents, region: string, call: unknown) {
  const { graphql, buildSchema } = await import("graphql");
  schema ??= buildSchema(SCHEMA);
  const { query, variables, operationName }: Members = Object(call);
  if (typeof query !== "string") return undefined;
  return graphql({
    schema,
    source: query,
    rootValue: rootOf(documents, region),
    ...(typeof variables === "object" && variables !== null ? { variableValues: variables as Members } : {}),
    ...(typeof operationName === "string" && operationName !== "" ? { operationName } : {}),
  });
}

/** By region: names that say nothing of it. */
export const SHOPS = [
  ["eu", "corner-bakery"],
  ["us", "blue-bottle"],
  ["ap", "green-tea"],
] as const;

/** Claims the names of the shops at a gateway whose pages are open, each time it starts: the owner may. */
export async function claimShops(url: string): Promise<void> {
  for (const [region, name] of SHOPS) {
    const page = `${url}/-/directory/slug/${name}`;
    const call = { owner: name, operation: "npm-start" };
    for (const [method, body] of [
      ["PUT", { ...call, region }],
      ["POST", { ...call, action: "confirm" }],
    ] as const) {
      const answer = await fetch(page, { method, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`the name ${name} cannot be claimed: ${await answer.text()}`);
      await answer.arrayBuffer();
    }
  }
}
