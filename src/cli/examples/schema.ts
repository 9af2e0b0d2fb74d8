import * as v from "valibot";
import type { Result } from "../../ids/index.ts";
import { err, ok } from "../../ids/index.ts";
import { PROBLEM_SLUGS } from "../../problems/catalogue.ts";
import { parseTime } from "../../routing/layouts/fields.ts";
import { type Fault, faultList, nearest, type Place, type Report } from "../../routing/schema/faults.ts";
import { described, list, name, optional, time, token } from "../../routing/schema/parts.ts";
import { isRecord } from "../../routing/schema/records.ts";
import { reportIssue } from "../../routing/schema/validate.ts";

/** Examples of requests, which a team keeps beside its table: each says where the table must send it. */

const EXAMPLES_MAX = 10_000;
const TEXT_LENGTH_MAX = 65_536;

const text = v.pipe(v.string(), v.maxLength(TEXT_LENGTH_MAX));

const fieldValue = v.pipe(text, v.regex(/^[^\0\r\n]*$/, "A header has one line; remove the line break."));

const path = v.pipe(
  text,
  v.regex(/^\/[^\s#]*$/, "Write a path that begins with /, such as /orders/17?full=1; a host is in `host`."),
);

const directoryKeys = v.record(
  name,
  v.record(text, v.nullable(described(name, "The region of the key; null where the directory does not have it."))),
);

const atSchema = optional(time, "The time of the request, such as 2026-06-01T00:00:00Z. Default: now.");

const directorySchema = optional(
  directoryKeys,
  'Answers of directories by name and key: { "slug": { "acme": "eu", "absent": null } }.',
);

const exampleSchema = v.strictObject({
  name: optional(v.pipe(v.string(), v.minLength(1), v.maxLength(200)), "A title in place of method and path."),
  method: optional(
    v.pipe(v.string(), v.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/, "Write a method such as GET.")),
    "Default: GET, or POST with a body.",
  ),
  path: described(path, "The path with its query, as clients send it."),
  host: optional(text, "The host that is asked for, for tables with `hosts`. Default: localhost."),
  headers: optional(v.record(token, v.union([fieldValue, list(fieldValue, 100)])), "Headers of the request by name."),
  body: optional(
    v.union([text, v.array(v.unknown()), v.record(v.string(), v.unknown())]),
    "The body, where IDs are in it: a text, or an object or a list that is sent as JSON.",
  ),
  claims: optional(v.record(v.string(), v.unknown()), "The claims of its bearer token, which is not verified here."),
  clientCountry: optional(
    v.pipe(v.string(), v.regex(/^[A-Z0-9]{2}$/, "Write a code such as KZ.")),
    "Its client's country.",
  ),
  clientContinent: optional(v.picklist(["AF", "AN", "AS", "EU", "NA", "OC", "SA"]), "Its client's continent."),
  at: atSchema,
  directory: directorySchema,
  region: optional(name, "The region that must get the request."),
  problem: optional(
    v.picklist(PROBLEM_SLUGS, ({ input }) => unknownProblem(String(input))),
    "The type of the problem that the request must get.",
  ),
  entity: optional(name, "The entity, or the entry of `withoutId`, whose path it must be."),
  route: optional(
    v.pipe(v.string(), v.regex(/^\//, "Write a JSON pointer into the table, such as /routes/3.")),
    "The JSON pointer of what must decide: /routes/3, /moved/ID, /default.",
  ),
  creates: optional(name, "The entity that it must create; its region follows from the new ID."),
  lists: optional(name, "The entity that it must list over the regions."),
  redirect: optional(path, "The path that its client must be redirected to."),
});

function unknownProblem(given: string): string {
  const near = nearest(given, PROBLEM_SLUGS);
  const remedy = near === undefined ? "docs/reference/problems.md lists all" : `write ${JSON.stringify(near)}`;
  return `There is no problem type ${JSON.stringify(given)}; ${remedy}.`;
}

export const examplesSchema = v.strictObject({
  $schema: optional(v.string(), "Where editors find the schema of this file."),
  at: atSchema,
  directory: directorySchema,
  examples: v.pipe(v.array(exampleSchema), v.minLength(1, "There is no example; add one."), v.maxLength(EXAMPLES_MAX)),
});

export type Example = v.InferOutput<typeof exampleSchema>;

/** Members of an example that say where its request must go. */
export const EXPECTED = ["region", "problem", "entity", "route", "creates", "lists", "redirect"] as const;

/** Those of which each example has one: the others say more of the same outcome. */
const OUTCOMES = ["region", "problem", "creates", "lists", "redirect"] as const;

/** Examples with what the file says for all. */
export const readExamples = (json: unknown): Result<readonly Example[], readonly Fault[]> => {
  const { report, faults } = faultList();
  reportLists(json, report);
  if (faults.length > 0) return err(faults);
  const parsed = v.safeParse(examplesSchema, json);
  for (const issue of parsed.issues ?? []) reportIssue(issue, report, examplesSchema);
  if (!parsed.success) return err(faults);
  const { examples, at, directory } = parsed.output;
  for (const [index, example] of examples.entries()) {
    const place = ["examples", index];
    const outcomes = OUTCOMES.filter((member) => example[member] !== undefined);
    if (outcomes.length === 0)
      report(
        "schema",
        place,
        "It says nowhere what must happen; add `region` or `problem` (or creates, lists, redirect).",
      );
    if (example.problem !== undefined && outcomes.length > 1)
      report("schema", [...place, "problem"], `A request with a problem has no ${outcomes[0]}; remove one of them.`);
    if (example.body !== undefined && /^(?:GET|HEAD)$/i.test(example.method ?? ""))
      report("schema", [...place, "body"], `A ${example.method} has no body; remove it, or name another method.`);
  }
  const times = [...(at === undefined ? [] : [{ place: ["at"], at }]), ...examples.flatMap(timeOf)];
  for (const each of times)
    if (parseTime(each.at) === undefined) report("schema", each.place, "There is no such day or hour; correct it.");
  if (faults.length > 0) return err(faults);
  return ok(
    examples.map((example) => ({
      ...example,
      ...((example.at ?? at) !== undefined && { at: example.at ?? at }),
      directory: withAll(directory, example.directory),
    })) as readonly Example[],
  );
};

/** Reports lists where an object must be: the schema would take a list for one with the keys 0, 1, … */
function reportLists(json: unknown, report: Report): void {
  const reportList = (value: unknown, place: Place): void => {
    if (Array.isArray(value)) report("schema", place, "Expected an object, found a list; correct it.");
  };
  reportList(json, []);
  if (!isRecord(json)) return;
  const { examples, directory } = json;
  const listed = Array.isArray(examples) ? examples.map((example, at) => ({ example, place: ["examples", at] })) : [];
  for (const { example, place } of [{ example: { directory }, place: [] }, ...listed]) {
    reportList(example, place);
    if (!isRecord(example)) continue;
    for (const member of ["headers", "claims", "directory"]) reportList(example[member], [...place, member]);
    const directories = isRecord(example["directory"]) ? Object.entries(example["directory"]) : [];
    for (const [name, keys] of directories) reportList(keys, [...place, "directory", name]);
  }
}

const timeOf = ({ at }: Example, index: number) => (at === undefined ? [] : [{ place: ["examples", index, "at"], at }]);

type Answers = NonNullable<Example["directory"]>;

/** An example's own keys come before those for all, which may be other spellings of the same. */
const withAll = (all: Answers = {}, own: Answers = {}): Answers =>
  Object.fromEntries(
    Object.keys({ ...all, ...own }).map((each) => [each, { ...own[each], ...all[each], ...own[each] }]),
  );
