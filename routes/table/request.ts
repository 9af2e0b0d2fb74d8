import type { Context } from "hono";
import * as v from "valibot";
import type { ChangeRequest } from "../../src/admin-ports.ts";
import { err, ok, type Result } from "../../src/ids/result.ts";
import type { RequestError } from "../../src/problems/index.ts";
import { NOTE_CHARACTERS_MAX, NOTE_HEADER } from "../../src/published/table-requests.ts";
import { type Fault, NOT_UTF8, parseTableText, TABLE_BYTES_MAX } from "../../src/routing/index.ts";
import { callerOf } from "../lib/auth.ts";
import { readBytes } from "../lib/http.ts";

type BodyError = RequestError | { readonly reason: "invalid-table"; readonly faults: readonly Fault[] };

/** A table and a few members beside it. */
const CHANGE_REQUEST_BYTES_MAX = TABLE_BYTES_MAX + 64 * 1024;

/** Reads a table from a body; faults of the text are faults of the table. */
export async function readTable(request: Request): Promise<Result<{ json: unknown; bytes: Uint8Array }, BodyError>> {
  const bytes = await readBytes(request, TABLE_BYTES_MAX);
  if (!bytes.ok) return bytes;
  const text = decodeUtf8(bytes.value);
  if (text === undefined) return err({ reason: "invalid-table", faults: [NOT_UTF8] });
  const json = parseTableText(text);
  return json.ok ? ok({ json: json.value, bytes: bytes.value }) : err({ reason: "invalid-table", faults: json.error });
}

/** Reads a JSON body; an empty body is an empty object. */
export async function readJson<const Schema extends v.GenericSchema>(
  request: Request,
  schema: Schema,
): Promise<Result<v.InferOutput<Schema>, RequestError>> {
  const body = await readWithText(request, schema);
  return body.ok ? ok(body.value.json) : body;
}

/** The same, with the text of the body. */
export async function readWithText<const Schema extends v.GenericSchema>(
  request: Request,
  schema: Schema,
): Promise<Result<{ readonly json: v.InferOutput<Schema>; readonly text: string }, RequestError>> {
  const bytes = await readBytes(request, CHANGE_REQUEST_BYTES_MAX);
  if (!bytes.ok) return bytes;
  const text = decodeUtf8(bytes.value);
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

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** A strong entity tag that is a revision (RFC 9110 §8.8.3); a list or `*` would be ambiguous. */
const ENTITY_TAG = /^"(0|[1-9][0-9]{0,14})"$/;

/** Reads the author, the expected revision and the note of a change. `note`: from the body, if it has one. */
export function readChangeRequest(c: Context, note?: string): Result<ChangeRequest, RequestError> {
  const match = c.req.header("if-match");
  if (match === undefined) return err({ reason: "precondition-required" });
  const [, revision] = ENTITY_TAG.exec(match.trim()) ?? [];
  if (revision === undefined) return malformed('`if-match` must be one revision in quotes, such as "41".');
  const text = note ?? decodeNote(c.req.header(NOTE_HEADER) ?? "");
  if (text === undefined) return malformed(`\`${NOTE_HEADER}\` is not percent-encoded UTF-8.`);
  if (text.length > NOTE_CHARACTERS_MAX || /[\p{Cc}\p{Cs}]/u.test(text)) {
    return malformed(
      `A note has at most ${NOTE_CHARACTERS_MAX} characters, no control characters and no unpaired surrogates.`,
    );
  }
  return ok({ expectedRevision: Number(revision), author: callerOf(c).name, note: text });
}

const malformed = (detail: string): Result<never, RequestError> => err({ reason: "malformed-request", detail });

function decodeNote(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
