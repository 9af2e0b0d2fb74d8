import { describe, expect, it } from "vitest";
import { compileFieldPaths, FIELDS_MAX, STATES_MAX } from "../../../src/features/public-ids/table/field-paths.ts";
import { entityFields } from "./documents.ts";

describe("fields that make no machine", () => {
  it.each([
    ["a path without a slash", entityFields("id"), { reason: "malformed-path", path: "id" }],
    ["a bad escape", entityFields("/a~2"), { reason: "malformed-path", path: "/a~2" }],
    [
      "too many",
      entityFields(...new Array<string>(FIELDS_MAX + 1).fill("/id")),
      {
        reason: "too-many-fields",
        max: FIELDS_MAX,
        actual: FIELDS_MAX + 1,
      },
    ],
    ["too many states", entityFields(`/**/a${"/*".repeat(12)}`), { reason: "too-many-states", max: STATES_MAX }],
  ])("%s", (_, fields, error) => expect(compileFieldPaths(fields)).toEqual({ ok: false, error }));

  it("a path that is too long", () =>
    expect(compileFieldPaths(entityFields(`/${"a".repeat(512)}`))).toMatchObject({
      ok: false,
      error: { reason: "malformed-path" },
    }));

  it.each([
    ["/id", "/id"],
    ["/*/id", "/**/id"],
    ["/items/0", "/items/*"],
    ["/**", "/a/b/c"],
  ])("%s and %s of two entities", (one, other) =>
    expect(
      compileFieldPaths([
        { path: one, entity: "order" },
        { path: other, entity: "person" },
      ]),
    ).toEqual({ ok: false, error: { reason: "ambiguous-field", paths: [one, other] } }),
  );
});

it("places that two paths of one entity share are one field", () =>
  expect(compileFieldPaths(entityFields("/id", "/**/id", "/id"))).toMatchObject({ ok: true }));
