import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TABLE_CHECKS } from "../../src/features/checking.ts";
import { TABLE_FEATURES } from "../../src/features/compiling.ts";
import { MEMBERS } from "../../src/features/members.ts";
import type { Layout } from "../../src/ids/index.ts";
import { checkTable, hintNamed, plainDecision, resolveAny, resolvePath } from "../../src/routing/index.ts";
import { buildWith, loadTable } from "../../src/routing/load.ts";
import { pathWithId } from "../../src/routing/lookup/paths.ts";
import type { FEATURE_LEVELS } from "../../src/routing/schema/compose.ts";
import type { CompiledTable } from "../../src/routing/table.ts";
import { load, NOW_MS, sampleTable } from "./tables.ts";

/** Builds without a feature: a table that uses it is refused, and all others decide as before. */

const FEATURES = TABLE_CHECKS.map(({ name }) => name);

type Level = (typeof FEATURE_LEVELS)[number];

const LEVELS = Object.keys(MEMBERS) as Level[];

const uses = LEVELS.flatMap((level) =>
  Object.entries(MEMBERS[level]).map(([member, { feature }]) => ({ level, member, feature })),
);

/** A table with the member, whatever its value, and the pointer to it. */
const tableUsing = (level: Level, member: string): readonly [table: object, pointer: string] => {
  const table = sampleTable();
  const { order } = table.entities;
  const [route, ...routes] = table.routes;
  const value = {};
  if (level === "table") return [{ ...table, [member]: value }, `/${member}`];
  if (level === "route")
    return [{ ...table, routes: [{ ...route, [member]: value }, ...routes] }, `/routes/0/${member}`];
  if (level === "region") {
    const regions = { ...table.regions, eu: { ...table.regions["eu"], [member]: value } };
    return [{ ...table, regions }, `/regions/eu/${member}`];
  }
  if (level === "entity") {
    const entities = { ...table.entities, order: { ...order, [member]: value } };
    return [{ ...table, entities }, `/entities/order/${member}`];
  }
  const withoutId = { login: { path: "/login", sources: [{ region: "eu" }], [member]: value } };
  return [{ ...table, withoutId }, `/withoutId/login/${member}`];
};

test("both lists have the same features", () => {
  expect(TABLE_FEATURES.map(({ name }) => name).toSorted()).toEqual(FEATURES.toSorted());
});

test("the members of features are those of their schemas", () => {
  const all = TABLE_CHECKS.flatMap(({ name, schema }) =>
    LEVELS.flatMap((level) => Object.keys(schema[level] ?? {}).map((member) => ({ level, member, feature: name }))),
  );
  const byText = (list: readonly object[]) => list.map((each) => JSON.stringify(each)).toSorted();
  expect(byText(uses)).toEqual(byText(all));
});

test.each(uses)("$member of a $level is a fault that names $feature", ({ level, member, feature }) => {
  const [table, pointer] = tableUsing(level, member);
  const checked = checkTable(
    table,
    undefined,
    buildWith((name) => name !== feature),
  );
  expect(checked.ok ? [] : checked.error).toContainEqual({
    pointer,
    kind: "schema",
    message: `"${member}" is of the feature ${feature}, which this build leaves out; remove it, or build with ${feature}.`,
  });
});

test.each([
  ["mint", ["create", "graphql"]],
  ["idempotency", ["create", "graphql"]],
  ["create", ["create", "graphql"]],
  ["cors", ["cors"]],
])("without %s, what needs it is left out too", (left, all) => {
  const { checks, features } = buildWith((name) => name !== left);
  const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);
  expect(FEATURES.filter((name) => !names(checks).includes(name)).toSorted()).toEqual(all);
  expect(FEATURES.filter((name) => !names(features).includes(name)).toSorted()).toEqual(all);
});

test("a misspelled member is of no feature", () => {
  const [table] = tableUsing("table", "corz");
  const checked = checkTable(
    table,
    undefined,
    buildWith((name) => name !== "cors"),
  );
  expect(checked.ok ? [] : checked.error.map(({ message }) => message)).toEqual([expect.not.stringContaining("build")]);
});

const examples = new URL("../../docs/examples/configurations/", import.meta.url);
const jsonIn = (url: URL): unknown => JSON.parse(readFileSync(url, "utf8"));

const TABLES: readonly (readonly [name: string, table: object])[] = [
  ["the sample", sampleTable()],
  ["the project's own", jsonIn(new URL("../../routing-table.json", import.meta.url)) as object],
  ["a rich one", jsonIn(new URL("../export/rich-table.json", import.meta.url)) as object],
  ...readdirSync(examples)
    .filter((name) => name.endsWith(".json") && !name.includes(".requests."))
    .map((name) => [name, jsonIn(new URL(name, examples)) as object] as const),
];

const membersAt = (table: object, level: Level): readonly object[] => {
  const { regions = {}, entities = {}, withoutId = {}, routes = [] } = table as Record<string, object>;
  return {
    table: [table],
    region: Object.values(regions),
    entity: Object.values(entities),
    withoutId: Object.values(withoutId),
    route: Object.values(routes),
  }[level];
};

const usesFeature = (table: object, feature: string): boolean =>
  uses.some(
    (use) => use.feature === feature && membersAt(table, use.level).some((each) => Object.hasOwn(each, use.member)),
  );

const textOf = (layout: Layout): fc.Arbitrary<string> =>
  fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { minLength: 16, maxLength: 16 }).map((numbers) => {
    const words = [...layout.fixed.value];
    for (const [at, field] of layout.fields.entries()) {
      if (field.role === "fixed") continue;
      field.write(words, (numbers[at % numbers.length] as bigint) % (1n << BigInt(field.bits)));
    }
    return layout.format(words);
  });

/** Every answer about a text, by `/any` and on each path. */
const answersOf = (table: CompiledTable, text: string): readonly unknown[] => {
  const plain = (found: ReturnType<typeof resolveAny>) => (found.ok ? plainDecision(found.value) : found.error.reason);
  const hint = hintNamed(table, [...table.layouts.keys()][0]);
  const onPaths = [...table.entities.values()].flatMap(({ paths }) =>
    paths.map((pattern) => {
      const path = pathWithId(pattern.replaceAll("/**", "").replaceAll("*", "x"), text);
      const match = table.paths.match(path);
      return match === undefined ? undefined : plain(resolvePath(table, match, path, NOW_MS));
    }),
  );
  const byHint = hint.ok && hint.value !== undefined ? plain(resolveAny(table, text, NOW_MS, hint.value)) : undefined;
  return [plain(resolveAny(table, text, NOW_MS)), byHint, ...onPaths];
};

const loadWithout = (table: object, left: readonly string[]): CompiledTable => {
  const loaded = loadTable(
    table,
    1,
    false,
    buildWith((name) => !left.includes(name)),
  );
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error, undefined, 2));
  return loaded.value;
};

describe.each(TABLES)("%s", (_, table) => {
  const unused = FEATURES.filter((feature) => !usesFeature(table, feature));

  test.each([...unused.map((feature) => [feature]), unused])("decides the same without %s", (...left) => {
    const whole = load(table);
    const less = loadWithout(table, left);
    const layouts = [...whole.layouts.values()].map(({ layout }) => layout);
    const texts = fc.oneof(fc.string({ maxLength: 40 }), ...layouts.map(textOf));
    fc.assert(
      fc.property(texts, (text) => {
        expect(answersOf(less, text)).toEqual(answersOf(whole, text));
      }),
    );
  });

  test("is refused without any feature that it uses", () => {
    for (const feature of FEATURES.filter((name) => !unused.includes(name))) {
      expect(() => loadWithout(table, [feature]), feature).toThrow(`is of the feature ${feature},`);
    }
  });
});

test("entities and stand-ins have the same members in one order, whatever they use", () => {
  const shapes = TABLES.flatMap(([, table]) => {
    const { entities, withoutId, graphql } = load(table);
    const all = [...entities.values(), ...withoutId.entries.map(({ entity }) => entity), graphql?.entity];
    return all.flatMap((entity) => (entity === undefined ? [] : Object.keys(entity).join()));
  });
  expect(new Set(shapes).size).toBe(1);
  expect(new Set(TABLES.map(([, table]) => Object.keys(load(table)).join())).size).toBe(1);
});
