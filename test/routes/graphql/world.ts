import { buildSchema, execute, parse, validate } from "graphql";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { IDS, setUp } from "../harness.ts";

/** Origins with a schema, each with the orders of its region. */

const schema = buildSchema(`
  interface Node { id: ID! }
  type Order implements Node { id: ID!, region: String, total: Float, fails: String }
  type Parcel implements Node { id: ID!, region: String }
  input Where { orderId: ID, note: String }
  type Viewer { name: String }
  type Query {
    order(id: ID!): Order
    parcel(id: ID!): Parcel
    find(where: Where!): Order
    node(id: ID!): Node
    nodes(ids: [ID!]!): [Node]!
    orders(ids: [ID]): [Order]
    viewer: Viewer
  }
  type Mutation { cancel(id: ID!): Order, rename(id: ID!, name: String): Order }
`);

const REGION_OF: Readonly<Record<string, string>> = {
  [IDS.orderKz]: "ap",
  [IDS.orderBr]: "us",
  [IDS.orderDe]: "eu",
  [IDS.parcelEu]: "eu",
  [IDS.parcelUs]: "us",
};

export const GRAPHQL = {
  path: "/graphql",
  introspection: "eu",
  sources: [{ header: "x-home" }],
  ids: [
    { argument: "id", field: ["order", "cancel", "rename"], entity: "order" },
    { argument: "id", field: "parcel", entity: "parcel" },
    { argument: "orderId", entity: "order" },
  ],
} as const;

export const tableWith = (graphql: object = {}, more: object = {}) => ({
  ...DECLARED_TABLE,
  graphql: { ...GRAPHQL, ...graphql },
  ...more,
});

/** Runs the operation of a request as the server of a host does. */
export async function graphqlOrigin(request: Request): Promise<Response> {
  const region = new URL(request.url).host.slice(0, 2);
  const url = new URL(request.url);
  const body =
    request.method === "GET"
      ? { query: url.searchParams.get("query"), variables: JSON.parse(url.searchParams.get("variables") ?? "null") }
      : await request.json<{ query: string; variables?: Record<string, unknown> | null; operationName?: string }>();
  const type = { "content-type": "application/graphql-response+json" };
  const document = parse(body.query ?? "");
  const errors = validate(schema, document);
  if (errors.length > 0) return new Response(JSON.stringify({ errors }), { status: 400, headers: type });
  const entity = ({ id }: { id: string }) => {
    if (REGION_OF[id] !== region) return null;
    const __typename = id === IDS.parcelEu || id === IDS.parcelUs ? "Parcel" : "Order";
    return { __typename, id, region, total: 12.5, fails: () => new Error("no total") };
  };
  const result = await execute({
    schema,
    document,
    variableValues: body.variables ?? {},
    operationName: "operationName" in body ? body.operationName : undefined,
    rootValue: {
      order: entity,
      parcel: entity,
      find: ({ where }: { where: { orderId: string } }) => entity({ id: where.orderId }),
      node: entity,
      nodes: ({ ids }: { ids: readonly string[] }) => ids.map((id) => entity({ id })),
      orders: ({ ids }: { ids?: readonly (string | null)[] }) => ids?.map((id) => id && entity({ id })),
      viewer: { name: `viewer of ${region}` },
      cancel: entity,
      rename: entity,
    },
  });
  const headers = new Headers({ ...type, "access-control-allow-origin": "https://app.test" });
  headers.append("set-cookie", `at=${region}; Path=/`);
  // The console's: no client gets it from an origin.
  headers.append("set-cookie", "__Host-waybill-session=x; Path=/");
  return new Response(JSON.stringify(result), { headers });
}

type Options = NonNullable<Parameters<typeof setUp>[0]>;

export function setUpGraphql(options: Options & { readonly graphql?: object; readonly table?: object } = {}) {
  const { graphql, table, ...rest } = options;
  const world = setUp({ declared: tableWith(graphql, table), origin: graphqlOrigin, ...rest });
  const post = (query: string, variables?: object, headers: HeadersInit = {}, more: object = {}) =>
    world.request("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ query, ...(variables && { variables }), ...more }),
    });
  return { ...world, post };
}

export interface Result {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions?: Readonly<Record<string, unknown>>;
  }[];
}

/** Hosts that were asked, without duplicates. */
export const hostsOf = (seen: readonly { readonly url: string }[]): readonly string[] =>
  [...new Set(seen.map(({ url }) => new URL(url).host.slice(0, 2)))].toSorted();
