import { buildSchema, type ExecutionResult, execute, GraphQLError, type GraphQLSchema, parse, validate } from "graphql";
import { readDocument } from "../../src/features/graphql/document/document.ts";
import type { IdRule } from "../../src/features/graphql/document/ids.ts";
import { type Answered, mergeAnswers, readAnswer } from "../../src/features/graphql/document/merge.ts";
import { planParts, rootFields } from "../../src/features/graphql/document/plan.ts";
import { readBody } from "../../src/features/graphql/document/request.ts";
import { partBody } from "../../src/features/graphql/document/split.ts";
import { duplicateKey } from "../../src/routing/index.ts";

/** A schema of thirty types, and servers with all data or with that of one region. */

export const REGIONS = ["eu", "us", "ap"] as const;
type Region = (typeof REGIONS)[number];

/** Entities of a kind: more are asked for than there are. */
export const PER_KIND = 12;
export const KINDS = Array.from({ length: 24 }, (_, at) => at);

/** An ID names kind and number; its region follows from both. */
export const idOf = (kind: number, number: number): string => `${kind}-${number}`;
const partsOf = (id: string): readonly [kind: number, number: number] => {
  const [kind = "", number = ""] = id.split("-");
  return [Number(kind), Number(number)];
};
export const regionOf = (id: string): Region => {
  const [kind, number] = partsOf(id);
  return REGIONS[(kind * 7 + number * 5) % 3] as Region;
};

const SDL = `
  scalar Big
  interface Node { id: ID! }
  enum Colour { RED GREEN }
  input Where { id: ID, colour: Colour, nested: Where, ids: [ID!] }
  type Item { label: String, price: Big, parts: [Part!] }
  type Part { size: Int!, broken: Int! }
  type Info { version: String!, limits: [Int!]! }
  union Any = ${KINDS.slice(0, 4)
    .map((kind) => `T${kind}`)
    .join(" | ")}
  ${KINDS.map(
    (kind) => `type T${kind} implements Node {
      id: ID!
      name: String
      big: Big
      ratio: Float
      count: Int!
      fails: String
      failsHard: String!
      self: T${kind}
      friend: T${(kind + 3) % KINDS.length}
      tags(first: Int = 2): [String!]!
      items: [Item!]
      maybe: [Item]
    }`,
  ).join("\n")}
  type Query {
    node(id: ID!): Node
    nodes(ids: [ID!]!): [Node]!
    strictNodes(ids: [ID!]!): [Node!]!
    looseNodes(ids: [ID!]!): [Node!]
    spareNodes(ids: [ID]!): [Node]
    info: Info!
    colours: [Colour!]
    find(where: Where!): Node
    any(id: ID!): Any
    ${KINDS.map((kind) => `t${kind}(id: ID!): T${kind}\n strict${kind}(id: ID!): T${kind}!`).join("\n")}
  }
`;

export const schema: GraphQLSchema = buildSchema(SDL);

interface Entity {
  readonly __typename: string;
  readonly id: string;
}

/** `knows`: which regions' data a server has. `isDown`: the data that it cannot reach. */
interface View {
  readonly knows: (id: string) => boolean;
  readonly isDown: (id: string) => boolean;
}

const DIGITS = "12345678901234567890.10";

function entity(view: View, id: string): Entity | null | Error {
  if (view.isDown(id)) return new GraphQLError("down");
  const [kind, number] = partsOf(id);
  if (!view.knows(id) || number >= PER_KIND || !KINDS.includes(kind)) return null;
  if (number === 7) return new GraphQLError(`broken ${id}`, { extensions: { code: "BROKEN", big: rawJson(DIGITS) } });
  const friendKind = (kind + 3) % KINDS.length;
  // One of the same region.
  const friend = Array.from({ length: PER_KIND }, (_, at) => idOf(friendKind, (number + at) % PER_KIND)).find(
    (other) => regionOf(other) === regionOf(id),
  );
  return {
    __typename: `T${kind}`,
    id,
    name: number % 3 === 0 ? null : `Name "${id}" \u2028é`,
    big: rawJson(number % 2 === 0 ? DIGITS : "-0"),
    ratio: number / 8,
    count: number,
    fails: () => (number % 4 === 1 ? new GraphQLError(`fails ${id}`) : "fine"),
    failsHard: () => (number % 5 === 2 ? new GraphQLError(`hard ${id}`) : "fine"),
    self: () => entity(view, id),
    friend: () => (friend === undefined ? null : entity(view, friend)),
    tags: ({ first }: { first: number }) => Array.from({ length: first ?? 0 }, (_, at) => `tag ${at}`),
    items: () => (number === 3 ? null : [item(id, 0), item(id, 1)]),
    maybe: () => [item(id, 0), null, new GraphQLError(`maybe ${id}`)],
  } as Entity;
}

const item = (id: string, at: number) => ({
  label: `${id} ${at}`,
  price: rawJson("1e400"),
  parts: () => [{ size: at, broken: () => (at === 1 ? new GraphQLError(`part ${id}`) : 1) }],
});

const rawJson = (text: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);

interface WhereInput {
  readonly id?: string;
  readonly nested?: WhereInput;
  readonly ids?: readonly string[];
}

const idIn = ({ id, nested, ids }: WhereInput): string | undefined => id ?? ids?.[0] ?? (nested && idIn(nested));

function rootOf(view: View) {
  const one = ({ id }: { id: string }) => entity(view, id);
  const many = ({ ids }: { ids: readonly (string | null)[] }) => ids.map((id) => id && entity(view, id));
  const ofKind = (kind: number) => (args: { id: string }) => (partsOf(args.id)[0] === kind ? one(args) : null);
  return {
    node: one,
    any: ({ id }: { id: string }) => (partsOf(id)[0] < 4 ? one({ id }) : null),
    nodes: many,
    strictNodes: many,
    looseNodes: many,
    spareNodes: many,
    info: { version: "1", limits: [1, 2] },
    colours: ["RED"],
    find: ({ where }: { where: WhereInput }) => {
      const id = idIn(where);
      return id === undefined ? null : one({ id });
    },
    ...Object.fromEntries(
      KINDS.flatMap((kind) => [
        [`t${kind}`, ofKind(kind)],
        [`strict${kind}`, ofKind(kind)],
      ]),
    ),
  };
}

/** Runs a request as a server does; the answer's text. */
export async function serve(body: string, view: View): Promise<string> {
  const { query, variables, operationName } = JSON.parse(body);
  const document = parse(query);
  const invalid = validate(schema, document);
  if (invalid.length > 0) return JSON.stringify({ errors: invalid });
  const result = (await execute({
    schema,
    document,
    rootValue: rootOf(view),
    variableValues: variables,
    operationName,
  })) as ExecutionResult;
  return JSON.stringify(result);
}

export const RULES: readonly IdRule[] = [
  { argument: "id", fields: undefined, type: undefined, entity: "any", isPlural: false },
  {
    argument: "ids",
    fields: new Set(["nodes", "strictNodes", "looseNodes", "spareNodes"]),
    type: undefined,
    entity: "any",
    isPlural: true,
  },
  { argument: "ids", fields: undefined, type: undefined, entity: "any", isPlural: false },
];

const NON_NULL = new Set([
  "info",
  "nodes",
  "strictNodes",
  "strictNodes.*",
  "looseNodes.*",
  ...KINDS.map((kind) => `strict${kind}`),
]);

export const LIMITS = { tokensMax: 5000, depthMax: 30, aliasesMax: 100 };

/** The gateway's answer to it. `parts`: how many regions were asked. */
export async function ask(
  body: string,
  down?: Region,
): Promise<{ readonly text: string; readonly parts: number; readonly fault?: string }> {
  const request = readBody(body, duplicateKey);
  if (!request.ok) return { text: "", parts: 0, fault: request.error.message };
  const { query = "", operationName, variables } = request.value;
  const operation = readDocument(query, operationName, variables, LIMITS);
  if (!operation.ok) return { text: "", parts: 0, fault: operation.error.message };
  const fields = rootFields(operation.value, RULES, 1000);
  if (!fields.ok) return { text: "", parts: 0, fault: fields.error.message };
  const plan = planParts(fields.value, {
    ofId: ({ text }) => ({ region: regionOf(text) }),
    home: () => ({ region: "eu" }),
    introspection: () => ({ region: "eu" }),
    alwaysHome: new Set(),
  });
  const region = plan.whole ?? (plan.parts.length === 0 && plan.failed.size === 0 ? "eu" : undefined);
  const viewOf = (of: string): View => ({ knows: (id) => regionOf(id) === of, isDown: () => false });
  const isAsked = region !== undefined && (region !== down || plan.parts.length === 0);
  if (isAsked) return { text: await serve(body, viewOf(region as string)), parts: 1 };
  const answers = await Promise.all(
    plan.parts.map(async (part, at): Promise<Answered> => {
      const failure = { code: "down", message: "down", status: 502 };
      if (part.region === down) return { part, answer: { ok: false, error: failure } };
      const text = await serve(
        partBody(request.value, operation.value, fields.value, part, at === 0),
        viewOf(part.region),
      );
      const answer = readAnswer(text);
      if (!answer.ok) throw new Error(`${answer.error}: ${text}`);
      return { part, answer };
    }),
  );
  const { body: text } = mergeAnswers(plan, answers, { queryType: "Query", nonNull: NON_NULL, charactersMax: 1e9 });
  return { text, parts: plan.parts.length };
}

/** The answer of one server with all data. */
export const oracle = (body: string, down?: Region): Promise<string> =>
  serve(body, { knows: () => true, isDown: (id) => regionOf(id) === down });
