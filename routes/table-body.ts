import * as v from "valibot";
import { err, ok, type Result } from "../src/ids/result.ts";
import type { RequestError } from "../src/problems/index.ts";
import { type Fault, NOT_UTF8, parseTableText, TABLE_BYTES_MAX } from "../src/routing/index.ts";
import { readBytes } from "./read-body.ts";

type BodyError = RequestError | { readonly reason: "invalid-table"; readonly faults: readonly Fault[] };

/** A table beside a few members of its own. */
const CHANGE_REQUEST_BYTES_MAX = TABLE_BYTES_MAX + 64 * 1024;

/** What a body that is a table says; every fault of the text is one of the table. */
export async function readTable(request: Request): Promise<Result<{ json: unknown; bytes: Uint8Array }, BodyError>> {
  const bytes = await readBytes(request, TABLE_BYTES_MAX);
  if (!bytes.ok) return bytes;
  const text = decoded(bytes.value);
  if (text === undefined) return err({ reason: "invalid-table", faults: [NOT_UTF8] });
  const json = parseTableText(text);
  return json.ok ? ok({ json: json.value, bytes: bytes.value }) : err({ reason: "invalid-table", faults: json.error });
}

/** The wish in a body; none at all is an empty one. */
export async function readJson<const Schema extends v.GenericSchema>(
  request: Request,
  schema: Schema,
): Promise<Result<v.InferOutput<Schema>, RequestError>> {
  const body = await readWithText(request, schema);
  return body.ok ? ok(body.value.json) : body;
}

/** The same with the text that the wish was read from. */
export async function readWithText<const Schema extends v.GenericSchema>(
  request: Request,
  schema: Schema,
): Promise<Result<{ readonly json: v.InferOutput<Schema>; readonly text: string }, RequestError>> {
  const bytes = await readBytes(request, CHANGE_REQUEST_BYTES_MAX);
  if (!bytes.ok) return bytes;
  const text = decoded(bytes.value);
  if (text === undefined) return err({ reason: "malformed-request", detail: "The body is not UTF-8." });
  const json = text === "" ? ok({}) : parseTableText(text);
  if (!json.ok) return err({ reason: "malformed-request", detail: json.error[0]?.message ?? "The body is not JSON." });
  const parsed = v.safeParse(schema, json.value);
  if (parsed.success) return ok({ json: parsed.output, text });
  const [issue] = parsed.issues;
  const path = v.getDotPath(issue);
  return err({
    reason: "malformed-request",
    detail: path === null ? issue.message : `${path}: ${issue.message}`,
    ...(path === null ? {} : { pointer: `/${path.replaceAll(".", "/")}` }),
  });
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
