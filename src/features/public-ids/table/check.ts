import type { TableChecks } from "../../../routing/check/feature.ts";
import { type Budget, COMPLEXITY_MAX } from "../../../routing/limits.ts";
import type { Draft } from "../../../routing/schema/draft.ts";
import { listNames, type Place, type Report } from "../../../routing/schema/faults.ts";
import type { DeclaredEntity } from "../../../routing/schema/table.ts";
import type { DeclaredWithoutId } from "../../../routing/schema/without-id.ts";
import { fieldPathsOf, incompatibility, publicKindOf } from "./entities.ts";
import type { FieldPathError } from "./field-paths.ts";
import { entityMembers, withoutIdMembers } from "./schema.ts";

/** A public entity has one layout that fits its kind of public ID; each public field names one public entity. */
const checkPublic = (draft: Draft, report: Report, budget: Budget): void => {
  const checkFields = (name: string, declared: DeclaredEntity | DeclaredWithoutId, whole: Place): void => {
    for (const [index, field] of (declared.publicFields ?? []).entries()) {
      const named = typeof field === "string" ? name : field.entity;
      const place = [...whole, "publicFields", index];
      if (!draft.names.entities.has(named)) {
        const message = `There is no entity ${JSON.stringify(named)}; use one of ${listNames(draft.names.entities)}.`;
        report("unknown-name", [...place, "entity"], message);
      } else if (draft.entities.get(named)?.public === undefined && draft.entities.has(named)) {
        report("public-ids", place, `${JSON.stringify(named)} is not public; make it so, or remove the field.`);
      }
    }
    const paths = fieldPathsOf(name, declared, budget);
    const kind = !paths.ok && paths.error.reason === "too-complex" ? "too-complex" : "public-ids";
    if (!paths.ok) report(kind, [...whole, "publicFields"], sentenceOf(paths.error));
    if (declared.otherBodies !== undefined && declared.publicFields === undefined) {
      const message = "Without `publicFields` no body is read; declare some, or remove this.";
      report("public-ids", [...whole, "otherBodies"], message);
    }
  };
  for (const [name, entity] of draft.entities) {
    const kind = publicKindOf(entity.public);
    const [id, second] = entity.ids;
    if (kind !== undefined && second !== undefined) {
      const message = "A public ID does not name its layout; give a public entity only one layout.";
      report("public-ids", ["entities", name, "ids"], message);
    }
    const layout = id === undefined ? undefined : draft.known.get(id.layout);
    if (kind !== undefined && layout !== undefined) {
      const fit = incompatibility(layout, kind);
      if (!fit.ok) report("public-ids", ["entities", name, "public"], `${fit.error}; choose another \`as\`.`);
    }
    checkFields(name, entity, ["entities", name]);
  }
  for (const [name, entry] of draft.withoutId) checkFields(name, entry, ["withoutId", name]);
};

const sentenceOf = (error: FieldPathError): string => {
  switch (error.reason) {
    case "too-many-fields":
      return `There are ${error.actual} fields, but at most ${error.max} are allowed; join some with \`*\`.`;
    case "malformed-path":
      return `${JSON.stringify(error.path)} is not a JSON pointer; write it like /items/*/id.`;
    case "ambiguous-field":
      return `${error.paths.map((path) => JSON.stringify(path)).join(" and ")} may name one place for two entities; narrow one.`;
    case "too-many-states":
      return `The paths make more than ${error.max} states together; use fewer \`**\`.`;
    case "too-complex":
      return `With these fields, checking and compiling the table would take more than ${COMPLEXITY_MAX} cells; use fewer of them, or fewer \`**\`.`;
  }
};

export const publicIdsChecks: TableChecks = {
  name: "public-ids",
  schema: { entity: entityMembers, withoutId: withoutIdMembers },
  entities: checkPublic,
};
