import type { TableChecks } from "../../../routing/check/feature.ts";
import { checkRegion } from "../../../routing/check/names.ts";
import { checkRegions } from "../../../routing/check/sources.ts";
import type { Draft } from "../../../routing/schema/draft.ts";
import type { Place, Report } from "../../../routing/schema/faults.ts";
import { optional } from "../../../routing/schema/parts.ts";
import { valuesOf } from "../../../routing/schema/records.ts";
import { readCopiesSchema } from "./schema.ts";

/** Every region that is named must be there, and some client must be able to read from a copy. */
const checkCopies = (draft: Draft, report: Report): void => {
  for (const [entity, { readCopies }] of draft.entities) {
    if (readCopies === undefined) continue;
    const place: Place = ["entities", entity, "readCopies"];
    const { clientCountry, clientContinent, owners = [] } = readCopies;
    checkRegions(draft, readCopies, place, report);
    for (const [at, owner] of owners.entries()) {
      checkRegion(draft, owner, [...place, "owners", at], report);
      if (owners.indexOf(owner) < at) {
        report("schema", [...place, "owners", at], `${JSON.stringify(owner)} is duplicated; remove one of them.`);
      }
    }
    if (readCopies.countryHeader !== undefined && clientCountry === undefined) {
      report(
        "schema",
        [...place, "countryHeader"],
        "No country has a region here; add `clientCountry`, or remove this.",
      );
    }
    const copies = new Set(
      [clientCountry, clientContinent].flatMap((map) => valuesOf(map).map(({ region }) => region)),
    );
    if (clientCountry === undefined && clientContinent === undefined) {
      report("schema", place, "No client reads from a copy; add `clientCountry` or `clientContinent`.");
    } else if (isAlone(copies, owners.length === 0 ? [...draft.names.regions] : owners)) {
      const message =
        "The only copy is in the only region that owns these entities; name another region, or remove this.";
      report("same-region", place, message);
    }
  }
};

const isAlone = (copies: ReadonlySet<unknown>, owners: readonly string[]): boolean =>
  owners.length === 1 && copies.size === 1 && copies.has(owners[0]);

export const copiesChecks: TableChecks = {
  name: "copies",
  schema: {
    entity: {
      readCopies: optional(
        readCopiesSchema,
        "Reads go to the copy that is nearest to the client; writes go to the owner.",
      ),
    },
  },
  requests: checkCopies,
};
