import { toJsonSchema } from "@valibot/to-json-schema";
import { examplesSchema } from "../../../src/cli/examples/schema.ts";

/** The JSON Schema of `examples.json`, for editors. Problem types have no schema for their own sentence. */
export const examplesSchemaFile = (): { readonly path: string; readonly text: string } => {
  const schema = toJsonSchema(examplesSchema, { target: "draft-2020-12", errorMode: "ignore" });
  const named = { $id: "urn:waybill:examples", title: "Examples of a Waybill routing table", ...schema };
  return { path: "src/cli/examples/examples.schema.json", text: `${JSON.stringify(named, undefined, 2)}\n` };
};
