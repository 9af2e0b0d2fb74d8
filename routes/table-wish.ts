import type { Context } from "hono";
import { err, ok, type Result } from "../src/ids/result.ts";
import type { RequestError } from "../src/problems/index.ts";
import type { ChangeRequest } from "../src/table-ports.ts";
import { callerOf } from "./require-scope.ts";

/** Long enough for a sentence and a link; it is shown with every revision. */
export const NOTE_CHARACTERS_MAX = 500;

/** Fields hold no UTF-8 (RFC 9110 §5.5), so that a note is percent-encoded. */
const NOTE_FIELD = "waybill-note";

/** A strong entity tag that is a revision (RFC 9110 §8.8.3); of several, or of `*`, nobody could say which was meant. */
const ENTITY_TAG = /^"(0|[1-9][0-9]{0,14})"$/;

/** Who wants a change, for which revision and why. `note`: from the body, where there is one. */
export function readChangeRequest(c: Context, note?: string): Result<ChangeRequest, RequestError> {
  const match = c.req.header("if-match");
  if (match === undefined) return err({ reason: "precondition-required" });
  const [, revision] = ENTITY_TAG.exec(match.trim()) ?? [];
  if (revision === undefined) return malformed('`if-match` has to be one revision in quotes, such as "41".');
  const text = note ?? decoded(c.req.header(NOTE_FIELD) ?? "");
  if (text === undefined) return malformed(`\`${NOTE_FIELD}\` is not percent-encoded UTF-8.`);
  if (text.length > NOTE_CHARACTERS_MAX || /[\p{Cc}\p{Cs}]/u.test(text)) {
    return malformed(
      `A note has at most ${NOTE_CHARACTERS_MAX} characters, no control characters and no halves of one.`,
    );
  }
  return ok({ expectedRevision: Number(revision), author: callerOf(c).name, note: text });
}

const malformed = (detail: string): Result<never, RequestError> => err({ reason: "malformed-request", detail });

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
