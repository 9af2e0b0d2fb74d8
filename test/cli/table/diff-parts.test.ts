import { describe, expect, it } from "vitest";
import { countDiff, formatDiff, formatDiffCounts } from "../../../src/cli/lib/diff.ts";
import { partsInWords } from "../../../src/console/publish/words/part-words.ts";
import { textOf } from "../../../src/console/routing/condition-words.ts";
import { TABLE_DIFFS } from "../../../src/features/comparing.ts";
import { partsOf } from "../../../src/formats/console/diff.ts";
import { checkTable, diffTables, type TableDiff } from "../../../src/routing/index.ts";
import { draftOf } from "../../../src/routing/layouts/declared.ts";
import { sampleTable } from "../../routing/tables.ts";

/** Every part of a difference is shown in every presentation, whichever feature has it. */

const still = diffTables(sampleTable(), sampleTable());

const draft = draftOf(sampleTable());

/** By key: parts with entries by name, and parts as a whole. */
const ofFeatures = TABLE_DIFFS.flatMap(({ name, diff }) =>
  Object.entries(diff(draft, draft)).map(([key, part]) => ({ feature: name, key, part: part as unknown })),
);

const changed = (part: unknown): object =>
  part === undefined ? { before: undefined, after: "shown" } : { added: { shown: "shown" }, removed: {}, changed: {} };

const NO_ROUTES = { before: new Map(), after: new Map() };

const presented = (diff: TableDiff) => ({
  cli: formatDiff(diff, (_, text) => text),
  counts: formatDiffCounts(countDiff(diff)),
  console: partsInWords(diff, NO_ROUTES)
    .map(({ how, words }) => `${textOf(words)} ${how}`)
    .join("\n"),
});

/** The core's own; the rest of a difference is told in words of its own. */
const TOLD_APART = ["isEmpty", "routes", "shares", "overrides", "keys"];

describe("a part that differs", () => {
  it.each([
    ...ofFeatures,
    { feature: "a planted one", key: "ping", part: undefined },
    { feature: "a planted one", key: "pings", part: { added: {}, removed: {}, changed: {} } },
  ])("$key of $feature is shown everywhere by its name", ({ key, part }) => {
    const { cli, counts, console } = presented({ ...still, [key]: changed(part) });
    for (const text of [cli, counts, console]) expect(text).toMatch(new RegExp(`^${key}\\b.*`, "m"));
    expect(cli).toContain('"shown"');
  });

  it.each(Object.keys(still).filter((key) => !TOLD_APART.includes(key)))("%s has a name", (key) => {
    const part = (still as unknown as Readonly<Record<string, unknown>>)[key];
    const shown = partsOf({ ...still, [key]: changed(part) } as TableDiff).filter(
      ({ entries, whole }) => whole !== undefined || Object.keys(entries?.added ?? {}).length > 0,
    );
    expect(shown).toHaveLength(1);
  });

  it("is all that is shown", () => {
    expect(presented(still)).toMatchObject({ console: "" });
    expect(partsOf(still).every(({ whole }) => whole === undefined)).toBe(true);
  });
});

it("a table that differs in GraphQL, CORS and a directory says so in the order of the parts", () => {
  const after = checkTable({
    ...sampleTable(),
    directory: { old: { key: { text: "lower" } } },
    cors: { origins: ["https://app.test"] },
    graphql: { path: "/graphql" },
  });
  if (!after.ok) throw new Error(JSON.stringify(after.error));
  const { cli, console } = presented(diffTables(sampleTable(), after.value));
  expect(cli.match(/^[a-z].*/gm)?.slice(0, 3)).toEqual(["directory", "cors", "graphql"]);
  expect(console.split("\n")).toEqual(["directory: old added", "cors added", "graphql added"]);
});
