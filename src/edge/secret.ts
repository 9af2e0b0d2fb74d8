import * as v from "valibot";

/** What a secret says; `undefined` when it is not as it must be, without saying how: it is secret. */
export function readSecret<const Schema extends v.GenericSchema>(
  schema: Schema,
  text: string,
): v.InferOutput<Schema> | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = v.safeParse(schema, json);
  return parsed.success ? parsed.output : undefined;
}
