import type { TableChecks } from "../../../routing/check/feature.ts";
import type { Draft } from "../../../routing/schema/draft.ts";
import { type Place, type Report, reportUnknown } from "../../../routing/schema/faults.ts";
import { optional } from "../../../routing/schema/parts.ts";
import { isInBody } from "./compile.ts";
import { type DeclaredPlace, placesSchema } from "./schema.ts";

const KINDS = ["query", "header", "cookie", "json", "form", "jwtClaim"] as const;

/** Every place is of one kind, is read for one entity, and is named once. */
const checkIdPlaces = (draft: Draft, report: Report): void => {
  for (const [name, { idIn }] of draft.entities) checkPlaces(draft, idIn, name, ["entities", name, "idIn"], report);
  for (const [name, { idIn }] of draft.withoutId) {
    checkPlaces(draft, idIn, undefined, ["withoutId", name, "idIn"], report);
  }
};

function checkPlaces(
  draft: Draft,
  declared: readonly DeclaredPlace[] | undefined,
  owner: string | undefined,
  list: Place,
  report: Report,
): void {
  const before = new Set<string>();
  for (const [index, place] of (declared ?? []).entries()) {
    const at = [...list, index];
    const [kind, second] = KINDS.filter((each) => place[each] !== undefined);
    if (kind === undefined || second !== undefined) {
      report("schema", at, `A place has exactly one of ${KINDS.map((each) => `\`${each}\``).join(", ")}.`);
      continue;
    }
    const named = place[kind] as string;
    const key = JSON.stringify([kind, kind === "header" ? named.toLowerCase() : named]);
    if (before.has(key)) report("schema", at, "This place is in the list twice; remove one of them.");
    before.add(key);
    if (!isInBody(place)) {
      for (const member of ["withinBytes", "otherTypes"] as const) {
        if (place[member] !== undefined) {
          report("schema", [...at, member], `\`${member}\` is about bodies; remove it, or name \`json\` or \`form\`.`);
        }
      }
    }
    const { entity = owner } = place;
    if (entity === undefined)
      report("schema", at, "Name the `entity` whose ID is here: this path has none of its own.");
    else if (!draft.names.entities.has(entity)) {
      reportUnknown("entity", entity, draft.names.entities, [...at, "entity"], report);
    }
  }
}

export const placesChecks: TableChecks = {
  name: "places",
  schema: {
    entity: {
      idIn: optional(
        placesSchema,
        "Where else requests on its paths carry IDs. All of one request must lead to one region.",
      ),
    },
    withoutId: {
      idIn: optional(
        placesSchema,
        "Where these requests carry IDs: they go where these belong, and only without any by `sources`.",
      ),
    },
  },
  requests: checkIdPlaces,
};
