import { readFileSync } from "node:fs";

/** Names of members by the table's JSON Schema. Read as a file: a module of JSON would take the console's JSX into the tests' types. */

interface Part {
  readonly properties?: Readonly<Record<string, Part>>;
  readonly additionalProperties?: Part;
  readonly items?: Part;
}

const schema = JSON.parse(
  readFileSync(new URL("../../src/routing/routing-table.schema.json", import.meta.url), "utf8"),
) as Part;

const namesOf = (part: Part | undefined): readonly string[] => Object.keys(part?.properties ?? {}).toSorted();

const route = schema.properties?.["routes"]?.items;

export const ROUTE_MEMBERS = namesOf(route);
export const WHEN_MEMBERS = namesOf(route?.properties?.["when"]);
export const ENTITY_SCHEMA_MEMBERS = namesOf(schema.properties?.["entities"]?.additionalProperties);
export const SOURCE_SCHEMA_MEMBERS = namesOf(schema.properties?.["sources"]?.items);
