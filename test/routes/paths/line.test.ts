import { describe, expect, it } from "vitest";
import type { Endpoint, EntitySteps, ServeFeature } from "../../../src/gateway/feature.ts";
import { Line, ServeFeatures } from "../../../src/gateway/feature.ts";
import { CORE_STEPS } from "../../../src/gateway/forward.ts";
import type { ServedTable } from "../../../src/ports/gateway.ts";
import { loadTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

/** Endpoints of features are found by one look, as if each had been asked in the order of the list. */

const loaded = loadTable(DECLARED_TABLE, 1);
if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
const { value: table } = loaded;
const [order] = table.entities.values();
if (order === undefined) throw new Error("the table has an entity");

const served: ServedTable = {
  table,
  source: "kv",
  digest: undefined,
  confirmedAtMs: 0,
  label: "",
  canary: undefined,
};

const lineOf = (features: readonly ServeFeature[], method = "GET") => new Line(features, CORE_STEPS, served, method);

/** Features by name: their literal paths, a pattern of paths that `find` may know, and those that it knows. */
type Named = readonly (readonly [name: string, literal: readonly string[], paths?: RegExp, known?: RegExp])[];

/** The name of the feature whose endpoint a path leads to, and how many features were asked for it. */
function nameAt(named: Named, path: string): { readonly name: string | undefined; readonly asked: number } {
  const names = new Map<Endpoint, string>();
  let asked = 0;
  const features = named.map(([name, literal, paths, known]): ServeFeature => {
    const endpoint: Endpoint = () => new Response(name);
    names.set(endpoint, name);
    const find = (one: string) => {
      asked++;
      return known === undefined || known.test(one) ? endpoint : undefined;
    };
    const pattern = paths === undefined ? {} : { pattern: { paths, find } };
    return { name, endpoints: () => ({ literal: new Map(literal.map((one) => [one, endpoint])), ...pattern }) };
  });
  const { endpoints, patterns } = lineOf(features);
  asked = 0;
  let endpoint = endpoints.get(path);
  for (const { paths, find } of patterns) endpoint ??= paths?.test(path) === false ? undefined : find(path);
  return { name: endpoint && names.get(endpoint), asked };
}

const cases: readonly (readonly [why: string, named: Named, path: string, name: string | undefined, asked: number])[] =
  [
    ["has no feature's path", [["a", ["/x"]]], "/y", undefined, 0],
    [
      "has a literal path",
      [
        ["a", ["/x"]],
        ["b", ["/y"]],
      ],
      "/y",
      "b",
      0,
    ],
    [
      "has a literal path of two",
      [
        ["a", ["/x"]],
        ["b", ["/x"]],
      ],
      "/x",
      "a",
      0,
    ],
    ["has a path of a pattern", [["a", ["/x"], /^\/p\//]], "/p/1", "a", 1],
    [
      "has a literal path that an earlier pattern takes",
      [
        ["a", [], /^\/p\//],
        ["b", ["/p/1"]],
      ],
      "/p/1",
      "a",
      0,
    ],
    [
      "has a literal path that a later pattern would take",
      [
        ["a", ["/p/1"]],
        ["b", [], /^\/p\//],
      ],
      "/p/1",
      "a",
      0,
    ],
    [
      "has a path of two patterns",
      [
        ["a", [], /^\/p\//],
        ["b", [], /^\/p\//],
      ],
      "/p/1",
      "a",
      1,
    ],
    [
      "is not known by the first of two patterns",
      [
        ["a", [], /^\//, /^\/q/],
        ["b", [], /^\/p\//],
      ],
      "/p/1",
      "b",
      2,
    ],
    [
      "is known by none",
      [
        ["a", [], /^\//, /^\/q/],
        ["b", ["/x"]],
      ],
      "/p/1",
      undefined,
      1,
    ],
    [
      "is a literal that an earlier pattern does not know",
      [
        ["a", [], /^\//, /^\/q/],
        ["b", ["/x"]],
      ],
      "/x",
      "b",
      0,
    ],
  ];

describe("the endpoint of a path", () => {
  it.each(cases)("%s", (_, named, path, name, asked) => {
    expect(nameAt(named, path)).toEqual({ name, asked });
  });

  it("is chosen once for each pair of tables and method", () => {
    const asked: string[] = [];
    const feature: ServeFeature = {
      name: "a",
      endpoints: (_, method) => {
        asked.push(method);
        return undefined;
      },
    };
    const features = new ServeFeatures([feature], CORE_STEPS);
    const canary = { ...served, label: "", digest: "", audience: { entities: [] }, matches: () => false };
    const pair: ServedTable = { ...served, canary: { ...canary, ownsEntity: () => false } };
    const lineAt = ({ canary, table: key }: ServedTable, method: string) =>
      features.lines.get(canary?.ownsEntity ?? key)?.get(method);
    const [line, other, ofPair] = [
      features.choose(served, "GET"),
      features.choose(served, "POST"),
      features.choose(pair, "GET"),
    ];
    expect(new Set([line, other, ofPair]).size).toBe(3);
    // Its label has another age each second.
    expect(lineAt({ ...served, label: "rev=1; source=kv; age=1" }, "GET")).toBe(line);
    expect(lineAt({ ...pair, label: "rev=1; source=kv; age=1" }, "GET")).toBe(ofPair);
    expect(lineAt(served, "POST")).toBe(other);
    expect(lineAt({ ...pair, canary: { ...canary, ownsEntity: () => true } }, "GET")).toBeUndefined();
    expect(asked).toEqual(["GET", "POST", "GET"]);
  });

  it("needs the features that its own stands on", () => {
    expect(() => new ServeFeatures([{ name: "a", needs: ["b"] }], CORE_STEPS)).toThrow("needs b");
  });
});

describe("the steps of an entity", () => {
  const rules = (...kinds: readonly ("directory" | "moved")[]) => new Set(kinds);
  const stepsOf = (all: readonly (EntitySteps | undefined)[]) => {
    const features = all.map((steps, at): ServeFeature => ({ name: String(at), steps: () => steps }));
    return lineOf(features).chooseSteps(table, order);
  };

  it("are none without a feature that has some", () => {
    expect(stepsOf([undefined, undefined])).toBe("none");
  });

  it.each<readonly [readonly EntitySteps[], readonly string[] | undefined]>([
    [[{ rules: rules("directory") }], ["directory"]],
    [
      [{ rules: rules("directory") }, { rules: rules("moved") }],
      ["directory", "moved"],
    ],
    [[{ rules: rules("directory") }, {}], undefined],
    [[{}], undefined],
  ])("change what one of them changes: %j", (all, expected) => {
    const steps = stepsOf(all);
    expect(steps !== "none" && steps.rules && [...steps.rules].toSorted()).toEqual(expected);
  });

  it("are chosen by method, and kept", () => {
    const asked: string[] = [];
    const feature: ServeFeature = {
      name: "a",
      steps: (_, { name }, method) => {
        asked.push(`${method} ${name}`);
        return method === "POST" ? {} : undefined;
      },
    };
    const [get, post] = [lineOf([feature]), lineOf([feature], "POST")];
    expect(get.chooseSteps(table, order)).toBe("none");
    expect(get.steps.get(order)).toBe("none");
    expect(post.chooseSteps(table, order)).not.toBe("none");
    expect(asked).toEqual([`GET ${order.name}`, `POST ${order.name}`]);
  });
});
