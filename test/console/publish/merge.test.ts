import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editedTo } from "../../../src/console/publish/text/json-edit.ts";
import { mergeTexts } from "../../../src/console/publish/text/merge.ts";
import { type Hunk, hunksOf } from "../../../src/console/publish/text/sequences.ts";
import { runs } from "../../setup/property-runs.ts";

const TEXT = `{
  "regions": { "eu": {}, "us": {} },
  "routes": [
    { "when": { "country": "KZ" }, "region": "eu" },
    { "when": { "country": "BR" }, "region": "us" },
    { "when": { "country": "DE" }, "region": "eu" },
    { "when": { "country": "PL" }, "region": "eu" }
  ]
}
`;

const changed = (from: string, to: string, text = TEXT): string => {
  expect(text).toContain(from);
  return text.replace(from, to);
};
const BRAZIL = '{ "when": { "country": "BR" }, "region": "us" }';
const POLAND = '{ "when": { "country": "PL" }, "region": "eu" }';

const applied = (before: readonly string[], after: readonly string[], hunks: readonly Hunk[]): readonly string[] => {
  const made = [...before];
  for (const { at, end, afterAt, afterEnd } of hunks.toReversed())
    made.splice(at, end - at, ...after.slice(afterAt, afterEnd));
  return made;
};

describe("the difference of two lists", () => {
  it("makes the one of the other, and its hunks do not touch", () => {
    const list = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 });
    fc.assert(
      fc.property(list, list, (before, after) => {
        const hunks = hunksOf(before, after);
        expect(applied(before, after, hunks)).toEqual(after);
        for (const [at, hunk] of hunks.slice(1).entries()) expect(hunk.at).toBeGreaterThan(hunks[at]?.end ?? 0);
      }),
      { numRuns: runs(500) },
    );
  });

  it("is the shortest one", () => {
    expect(
      hunksOf([..."abcabba"], [..."cbabac"]).reduce(
        (sum, { at, end, afterAt, afterEnd }) => sum + end - at + afterEnd - afterAt,
        0,
      ),
    ).toBe(5);
  });

  it("ends for long lists without anything in common", () => {
    const list = (name: string) => Array.from({ length: 20_000 }, (_, at) => `${name}${at}`);
    expect(hunksOf(list("a"), list("b"))).toEqual([{ at: 0, end: 20_000, afterAt: 0, afterEnd: 20_000 }]);
  });
});

describe("an edited text", () => {
  it("says what was asked, whatever was changed", () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        fc.constantFrom(1, "x", true, null),
        fc.array(tie("any"), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom("a", "b", "c", "d"), tie("any"), { maxKeys: 4, noNullPrototype: true }),
      ),
    })).any;
    fc.assert(
      fc.property(value, value, fc.constantFrom(0, 2), (before, after, indent) => {
        const edited = editedTo(JSON.stringify(before, null, indent), before, after);
        expect(JSON.parse(edited)).toEqual(after);
      }),
      { numRuns: runs(1_000) },
    );
  });

  it("keeps the lines that say the same", () => {
    const table = JSON.parse(TEXT);
    table.routes.splice(1, 0, { when: { country: "MX" }, region: "us" });
    table.routes[2].region = "eu";
    expect(
      editedTo(TEXT, JSON.parse(TEXT), table)
        .split("\n")
        .filter((line) => !TEXT.includes(line)),
    ).toEqual([
      '    { "when": { "country": "MX" }, "region": "us" },',
      '    { "when": { "country": "BR" }, "region": "eu" },',
    ]);
  });
});

describe("two changes of one table", () => {
  it("are put together where they change other places", () => {
    const mine = changed(BRAZIL, BRAZIL.replace("us", "eu"));
    const theirs = changed(POLAND, `${POLAND},\n    { "when": { "country": "IN" }, "region": "us" }`);
    const merged = mergeTexts(TEXT, mine, theirs);
    expect(merged?.conflicts).toEqual([]);
    expect(merged?.text).toBe(changed(BRAZIL, BRAZIL.replace("us", "eu"), theirs));
  });

  it("in one route are nobody's to guess: a person takes one of the two", () => {
    const mine = changed(BRAZIL, BRAZIL.replace("us", "eu"));
    const theirs = changed(BRAZIL, BRAZIL.replace('"BR"', '["BR", "MX"]'));
    const merged = mergeTexts(TEXT, mine, theirs);
    expect(merged?.text).toBe(theirs);
    const [conflict] = merged?.conflicts ?? [];
    expect(conflict).toMatchObject({
      pointer: "/routes/1",
      mine: '{"when":{"country":"BR"},"region":"eu"}',
      theirs: '{"when":{"country":["BR","MX"]},"region":"us"}',
    });
    const chosen = mergeTexts(TEXT, mine, theirs, new Map([[conflict?.id ?? "", "mine"]]));
    expect(JSON.parse(chosen?.text ?? "")).toEqual(JSON.parse(mine));
  });

  it("beside each other in the list of routes are no guess either: the first route that fits decides", () => {
    const mine = changed(BRAZIL, `{ "when": { "country": ["BR", "DE"] }, "region": "ap" },\n    ${BRAZIL}`);
    const theirs = changed(BRAZIL, BRAZIL.replace("us", "eu"));
    expect(mergeTexts(TEXT, mine, theirs)?.conflicts).toHaveLength(1);
  });

  it("that are the same change are one", () => {
    const both = changed(BRAZIL, BRAZIL.replace("us", "eu"));
    expect(mergeTexts(TEXT, both, both)).toEqual({ text: both, conflicts: [] });
  });

  it("one removes what the other changes: a conflict, and either answer is kept", () => {
    const base = '{ "moved": { "a": "eu", "b": "eu" } }';
    const mine = '{ "moved": { "b": "eu" } }';
    const theirs = '{ "moved": { "a": "us", "b": "eu" } }';
    const [conflict] = mergeTexts(base, mine, theirs)?.conflicts ?? [];
    expect(conflict).toMatchObject({ pointer: "/moved/a", mine: "", theirs: '"us"' });
    const chosen = mergeTexts(base, mine, theirs, new Map([[conflict?.id ?? "", "mine"]]));
    expect(JSON.parse(chosen?.text ?? "")).toEqual(JSON.parse(mine));
  });

  it("of which one is none give the other one's text", () => {
    const theirs = changed(BRAZIL, BRAZIL.replace("us", "eu"));
    expect(mergeTexts(TEXT, TEXT, theirs)?.text).toBe(theirs);
    expect(JSON.parse(mergeTexts(TEXT, theirs, TEXT)?.text ?? "")).toEqual(JSON.parse(theirs));
  });

  it("keep the comments of the draft, with what the other side says", () => {
    const commented = changed(BRAZIL, `// us is full\n    ${BRAZIL.replace("us", "eu")}`);
    const theirs = changed(POLAND, `${POLAND},\n    { "when": { "country": "IN" }, "region": "us" }`);
    const merged = mergeTexts(TEXT, commented, theirs);
    expect(merged?.conflicts).toEqual([]);
    expect(merged?.text).toContain("// us is full");
    const plain = mergeTexts(TEXT, changed(BRAZIL, BRAZIL.replace("us", "eu")), theirs);
    expect(JSON.parse(merged?.text.replace("// us is full", "") ?? "")).toEqual(JSON.parse(plain?.text ?? ""));
  });

  it("in lists: what both sides agree on and what only one changed is never lost", () => {
    const list = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e", "f", "g"), { maxLength: 7 });
    fc.assert(
      fc.property(list, list, list, (base, mine, theirs) => {
        const text = (routes: readonly string[]) => JSON.stringify({ routes });
        const merged = mergeTexts(text(base), text(mine), text(theirs));
        if (merged === undefined || merged.conflicts.length > 0) return;
        const { routes } = JSON.parse(merged.text);
        for (const name of new Set([...base, ...mine, ...theirs])) {
          const wanted = base.includes(name)
            ? mine.includes(name) && theirs.includes(name)
            : mine.includes(name) || theirs.includes(name);
          expect([name, routes.includes(name)]).toEqual([name, wanted]);
        }
      }),
      { numRuns: runs(1_000) },
    );
  });
});
