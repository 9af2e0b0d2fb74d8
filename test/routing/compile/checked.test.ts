import { expect, test } from "vitest";
import { checkTable } from "../../../src/routing/index.ts";
import { projectText } from "../../cli/console-examples.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

/** A build compiles a table that it has checked as its text is (edge/table/fetch.ts), not as the schema copies it. */
test.each([
  ["routing-table.json", JSON.parse(projectText("routing-table.json"))],
  ["the table of the tests", DECLARED_TABLE],
])("a check changes nothing of %s, but gives entities of keys an empty list of IDs", (_, written) => {
  const checked = checkTable(written);
  const entities = Object.entries<object>(written.entities).map(([name, entity]) => [name, { ids: [], ...entity }]);
  expect(checked).toEqual({ ok: true, value: { ...written, entities: Object.fromEntries(entities) } });
});
