import fc from "fast-check";
import { parse } from "graphql";
import { expect, test } from "vitest";
import { readDocument } from "../../src/features/graphql/document/document.ts";
import { readAnswer } from "../../src/features/graphql/document/merge.ts";
import { planParts, rootFields } from "../../src/features/graphql/document/plan.ts";
import { readBody, readQuery } from "../../src/features/graphql/document/request.ts";
import { partBody } from "../../src/features/graphql/document/split.ts";
import { duplicateKey } from "../../src/routing/index.ts";
import { runs } from "../setup/property-runs.ts";
import { Choices, randomBody } from "./random.ts";
import { LIMITS, REGIONS, RULES, regionOf } from "./world.ts";

/** Whatever comes is refused or split: nothing throws, and each part is a document that says one region's IDs only. */
function split(body: string): void {
  const request = readBody(body, duplicateKey);
  if (!request.ok) return;
  const { query = "", operationName, variables } = request.value;
  const operation = readDocument(query, operationName, variables, LIMITS);
  if (!operation.ok) return;
  const fields = rootFields(operation.value, RULES, 1000);
  if (!fields.ok) return;
  const home = () => ({ region: "eu" });
  const ofId = ({ text }: { readonly text: string }) => ({ region: regionOf(text) ?? "eu" });
  const plan = planParts(fields.value, { ofId, home, introspection: home, alwaysHome: new Set() });
  for (const [at, part] of plan.parts.entries()) {
    const text = partBody(request.value, operation.value, plan.fields, part, at === 0);
    const sent = readBody(text, duplicateKey);
    if (!sent.ok) throw new Error(`${sent.error.message}: ${text}`);
    parse(sent.value.query ?? "");
    const again = readDocument(sent.value.query ?? "", sent.value.operationName, sent.value.variables, LIMITS);
    if (!again.ok) throw new Error(`${again.error.message}: ${text}`);
    const own = rootFields(again.value, RULES, 1000);
    if (!own.ok) throw new Error(`${own.error.message}: ${text}`);
    const regions = own.value.flatMap(({ ids, list }) =>
      [...ids, ...(list?.items ?? [])].flatMap((id) => (id === null ? [] : [ofId(id).region])),
    );
    expect(new Set([...regions, part.region])).toEqual(new Set([part.region]));
    expect(REGIONS).toContain(part.region);
  }
}

const numbers = fc.array(fc.nat(99_999), { minLength: 60, maxLength: 300 });
const edit = fc.record({
  at: fc.nat(5_000),
  remove: fc.nat(6),
  insert: fc.oneof(
    fc.constantFrom(...'{}[]()"\\:,$@!|&.# \n\0', "...", '"""', "fragment", "on", "query", "null", "\\u0022", "\ud800"),
    fc.string({ unit: "binary", maxLength: 3 }),
  ),
});

test("broken requests are refused or split, and nothing throws", () => {
  fc.assert(
    fc.property(numbers, fc.array(edit, { maxLength: 4 }), fc.boolean(), (choices, edits, inQuery) => {
      const body = randomBody(new Choices(choices));
      const parsed = JSON.parse(body) as { query: string };
      let text = inQuery ? parsed.query : body;
      for (const { at, remove, insert } of edits) {
        const from = at % (text.length + 1);
        text = text.slice(0, from) + insert + text.slice(from + remove);
      }
      // A body comes as UTF-8, which has no half of a pair. As an escape it may be in an ID, which leads nowhere then.
      split(inQuery ? JSON.stringify({ ...parsed, query: text }) : Buffer.from(text).toString());
    }),
    { numRuns: runs(300) },
  );
});

test("any text is an answer or none, and any query is a request or none", () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string({ unit: "binary" })), (text) => {
      for (const each of [text, `{"data":${text}}`, `{"errors":[${text}],"data":${text}}`]) readAnswer(each);
      readQuery(`?query=${text}&variables=${text}`, duplicateKey);
      readBody(text, duplicateKey);
    }),
    { numRuns: runs(300) },
  );
});
