import { base64 } from "@scure/base";
import { mediaTypeOf } from "../../../gateway/negotiate.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { collect, decodeUtf8 } from "../../../proxy/body.ts";
import { decodedBody } from "../../../proxy/codings.ts";
import { parseJson } from "../../../routing/index.ts";

/** One body among many. `text`: a member `body` as JSON text, with all digits of its numbers. `error`: `undefined` where it broke off. */
type BodyMembers =
  | { readonly members: Readonly<Record<string, unknown>>; readonly text: string }
  | { readonly error: GatewayError | undefined };

const BODY_BYTES_MAX = 256 * 1024;

const JSON_TYPE = /^[^\s/]+\/(?:[^\s/]+\+)?json$/;

/** Reads a body for a JSON object: JSON as it is, other text as a text, all else in base64; an undecodable one as it came. */
export async function bodyMembers(response: Response, budget: { bytesLeft: number }): Promise<BodyMembers> {
  const bytesMax = Math.max(0, Math.min(BODY_BYTES_MAX, budget.bytesLeft));
  const field = response.headers.get("content-encoding");
  const decoded = response.body && decodedBody(response.body, field, { asksReadable: false });
  const coding = decoded?.ok === false ? (field ?? undefined) : undefined;
  let bytes: ArrayBuffer | undefined;
  try {
    bytes = await collect((decoded?.ok === true ? decoded.value : response.body) ?? [], bytesMax);
  } catch {
    return { error: undefined };
  }
  if (bytes === undefined) return { error: { reason: "answer-too-large", bytesMax } };
  budget.bytesLeft -= bytes.byteLength;
  const type = response.headers.get("content-type") ?? undefined;
  const members = { contentType: type, contentEncoding: coding };
  if (bytes.byteLength === 0) return { members, text: "" };
  const text = coding === undefined ? decodeUtf8(bytes) : undefined;
  if (text !== undefined && JSON_TYPE.test(mediaTypeOf(type) ?? "") && parseJson(text) !== undefined) {
    // Line ends stand between values only.
    return { members, text: `"body":${text.trim().replaceAll(/[\r\n]+/g, " ")}` };
  }
  if (text !== undefined) return { members: { ...members, text }, text: "" };
  return { members: { ...members, base64: base64.encode(new Uint8Array(bytes)) }, text: "" };
}
