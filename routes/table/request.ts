import type { Context } from "hono";
import * as v from "valibot";
import {
  NOTE_CHARACTERS_MAX,
  NOTE_HEADER,
  PAGE_ENTRIES_DEFAULT,
  PAGE_ENTRIES_MAX,
} from "../../src/formats/table-requests.ts";
import type { RequestContext } from "../../src/gateway/request.ts";
import { type Err, err, ok, type Result } from "../../src/ids/result.ts";
import type { ChangeRequest } from "../../src/ports/admin.ts";
import type { TableChangeError } from "../../src/problems/errors.ts";
import type { RequestError } from "../../src/problems/index.ts";
import { decodeUtf8 } from "../../src/proxy/body.ts";
import {
  checkTable,
  type Fault,
  NOT_UTF8,
  ownPortOf,
  parseTableText,
  plainJson,
  TABLE_BYTES_MAX,
} from "../../src/routing/index.ts";
import { callerOf } from "../lib/auth.ts";
import { readBytes } from "../lib/http.ts";

type InvalidTable = Extract<TableChangeError, { readonly reason: "invalid-table" }>;

export const invalidTable = (faults: readonly Fault[]): Err<InvalidTable> => err({ reason: "invalid-table", faults });

export const malformed = (detail: string): Err<RequestError> => err({ reason: "malformed-request", detail });

export const wholeNumber = (text: string): number | undefined =>
  /^(?:0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : undefined;

/** A table and a few members beside it. */
const CHANGE_REQUEST_BYTES_MAX = TABLE_BYTES_MAX + 64 * 1024;

/** The published form is JSON. Bytes that are not UTF-8 are refused later. */
export function withoutComments(bytes: Uint8Array): Uint8Array {
  const jsonc = decodeUtf8(bytes);
  return jsonc === undefined ? bytes : new TextEncoder().encode(plainJson(jsonc));
}

/** The port at which a client on this machine asked the gateway; `undefined` for a client elsewhere. */
export function ownPortIn({ scheme, host }: RequestContext): number | undefined {
  const url = URL.parse(`${scheme}://${host}`);
  return url === null ? undefined : ownPortOf(url.origin.replace(/\.(?=:\d+$|$)/, ""));
}

/** All faults of a table that names the gateway as an origin. Others' faults are for the control plane, which has no port. */
export function loopFaults(bytes: Uint8Array, context: RequestContext): readonly Fault[] {
  const ownPort = ownPortIn(context);
  const json = ownPort === undefined ? undefined : parseTableText(decodeUtf8(bytes) ?? "");
  const checked = json?.ok ? checkTable(json.value, ownPort) : undefined;
  return checked?.ok === false && checked.error.some(({ kind }) => kind === "origin-is-gateway") ? checked.error : [];
}

/** Reads a table from a body, as JSON without its comments; faults of the text are faults of the table. */
export async function readTable(request: Request) {
  const bytes = await readBytes(request, TABLE_BYTES_MAX);
  if (!bytes.ok) return bytes;
  const jsonc = decodeUtf8(bytes.value);
  if (jsonc === undefined) return invalidTable([NOT_UTF8]);
  const text = plainJson(jsonc);
  const json = parseTableText(text);
  return json.ok ? ok({ json: json.value, bytes: new TextEncoder().encode(text) }) : invalidTable(json.error);
}

/** Reads a JSON body and its text; an empty body is an empty object. */
export async function readJson<const Schema extends v.GenericSchema>(
  request: Request,
  schema: Schema,
  bytesMax = CHANGE_REQUEST_BYTES_MAX,
): Promise<Result<{ readonly json: v.InferOutput<Schema>; readonly text: string }, RequestError>> {
  const bytes = await readBytes(request, bytesMax);
  if (!bytes.ok) return bytes;
  const jsonc = decodeUtf8(bytes.value);
  if (jsonc === undefined) return malformed("The body is not UTF-8.");
  const text = plainJson(jsonc);
  const json = text === "" ? ok({}) : parseTableText(text);
  if (!json.ok) return malformed(json.error[0]?.message ?? "The body is not JSON.");
  const parsed = v.safeParse(schema, json.value);
  if (parsed.success) return ok({ json: parsed.output, text });
  const [issue] = parsed.issues;
  const path = v.getDotPath(issue);
  if (path === null) return malformed(issue.message);
  const pointer = `/${path.replaceAll(".", "/")}`;
  return err({ reason: "malformed-request", detail: `${path}: ${issue.message}`, pointer });
}

/** A strong entity tag that is a revision (RFC 9110 §8.8.3); a list or `*` would be ambiguous. */
export const ENTITY_TAG = /^"(0|[1-9][0-9]{0,14})"$/;

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

function decodeNote(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** A page of entries, newest first. */
export function readPageQuery(c: Context) {
  const { before: beforeText, limit: limitText } = c.req.query();
  const before = beforeText === undefined ? undefined : wholeNumber(beforeText);
  const limit = limitText === undefined ? PAGE_ENTRIES_DEFAULT : wholeNumber(limitText);
  const isWrong = (beforeText !== undefined && before === undefined) || limit === undefined;
  return isWrong || limit < 1 || limit > PAGE_ENTRIES_MAX
    ? malformed(`\`before\` is a number of an entry, and \`limit\` one from 1 to ${PAGE_ENTRIES_MAX}.`)
    : ok({ before, limit });
}
