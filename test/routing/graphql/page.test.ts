import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { checkTable, loadTable } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

const page = readFileSync(new URL("../../../docs/guides/graphql.md", import.meta.url), "utf8");
const schema = JSON.parse(
  readFileSync(new URL("../../../src/routing/routing-table.schema.json", import.meta.url), "utf8"),
) as { readonly properties: { readonly graphql: { readonly properties: Record<string, { properties?: object }> } } };

const membersListed = (): readonly string[] => {
  const section = page.slice(page.indexOf("| member |"), page.indexOf("**A rule**"));
  return [...section.matchAll(/^\| ((?:`[A-Za-z]+`(?:, )?)+)/gm)].flatMap(([, cell = ""]) => cell.match(/\w+/g) ?? []);
};

it("shows a part of a table that has no fault", () => {
  const block = /^```json\n(.*?)^```$/ms.exec(page)?.[1] ?? "";
  const checked = checkTable({ ...DECLARED_TABLE, ...JSON.parse(`{${block}}`) });
  expect(checked).toMatchObject({ ok: true });
});

it("lists every member", () => {
  const { properties } = schema.properties.graphql;
  expect(membersListed().toSorted()).toEqual(Object.keys(properties).toSorted());
});

it("says the limits that hold", () => {
  const loaded = loadTable({ ...DECLARED_TABLE, graphql: { path: "/graphql" } }, 1);
  const { limits } = (loaded.ok && loaded.value.graphql) || { limits: undefined };
  const rows = [...page.matchAll(/^\| `(\w+Max)`[^|]* \| (\d+) \| (\d+) \|$/gm)];
  expect(Object.fromEntries(rows.map(([, name, standard]) => [name, Number(standard)]))).toEqual(limits);
});
