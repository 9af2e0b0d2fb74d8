import fc from "fast-check";
import { expect, test } from "vitest";
import { Taken } from "../../../src/routing/check/taken-values.ts";
import { sourceOf } from "../../../src/routing/compile/without-id.ts";
import { chooseRegion } from "../../../src/routing/resolve/region-sources.ts";
import type { DeclaredSource } from "../../../src/routing/schema/table.ts";
import { runs } from "../../setup/property-runs.ts";

/** Oracle: all requests with two headers of these values. A value of a source decides, or none of the requests gets to it. */
const VALUES = [undefined, "x", "y", "z", "xx", "xy", "xz", "xxz"] as const;
const REQUESTS = VALUES.flatMap((a) => VALUES.map((b) => ({ a, b })));

const value = fc.constantFrom("x", "y", "xx", "xy");
const header = fc.constantFrom("a", "b");
const sourceWith = fc.record({
  header,
  values: fc.uniqueArray(value, { minLength: 1, maxLength: 3 }),
  prefixes: fc.uniqueArray(fc.constantFrom("x", "xx"), { maxLength: 2 }),
  goesOn: fc.boolean(),
});
const headersOf = fc.oneof(
  fc.record({ a: fc.uniqueArray(value, { minLength: 1 }), b: fc.uniqueArray(value, { minLength: 1 }) }),
  fc.record({ a: fc.uniqueArray(value, { minLength: 1 }) }),
);

/** Each value has a region of its own, which tells that it decided. */
const declaredOf = (all: readonly (typeof sourceWith | typeof headersOf extends fc.Arbitrary<infer T> ? T : never)[]) =>
  all.map((each, at): DeclaredSource => {
    if (!("header" in each)) return { headers: { ...each }, region: `s${at}` };
    const entries = (texts: readonly string[], part: string) =>
      texts.length === 0 ? {} : { [part]: Object.fromEntries(texts.map((text) => [text, `s${at}-${part}-${text}`])) };
    const { header, goesOn, values, prefixes } = each;
    return {
      header,
      unlisted: goesOn ? "next" : "refuse",
      ...entries(values, "values"),
      ...entries(prefixes, "prefixes"),
    };
  });

test("a source or value is unreachable if and only if no request gets to it", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(sourceWith, headersOf), { minLength: 1, maxLength: 5 }), (all) => {
      const declared = declaredOf(all);
      const compiled = declared.map((source) => sourceOf(source, new Map()));
      const taken = new Taken(new Set(), true);
      const decided = new Set<string>();
      // The source that a request ends at: the first whose list without those behind it does not end in silence.
      const ends = new Set<number>();
      for (const { a, b } of REQUESTS) {
        const says = {
          host: "",
          path: "/",
          query: "",
          country: () => undefined,
          continent: () => undefined,
          header: (name: string) => (name === "a" ? a : b),
        };
        const choice = chooseRegion(compiled, says);
        if (choice.ok) decided.add(choice.value.region);
        const end = compiled.findIndex((_, at) => {
          const part = chooseRegion(compiled.slice(0, at + 1), says);
          return part.ok || part.error.reason !== "region-unknown";
        });
        ends.add(end);
      }
      for (const [at, source] of declared.entries()) {
        const goesOn = source.headers !== undefined || source.unlisted === "next";
        const places = taken.add(source, source.headers === undefined ? "header" : "headers", goesOn);
        const isWhole = places.some((place) => place.length === 0);
        expect(isWhole).toBe(!ends.has(at));
        if (isWhole || source.headers !== undefined) continue;
        const dead = places.map(([part, text]) => `s${at}-${part}-${text}`);
        const own = (["values", "prefixes"] as const).flatMap((part) => Object.values(source[part] ?? {}).map(String));
        expect(dead.toSorted()).toEqual(own.filter((region) => !decided.has(region)).toSorted());
      }
    }),
    { numRuns: runs(1000) },
  );
});
