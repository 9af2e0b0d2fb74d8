import { err, ok, type Result } from "../ids/result.ts";
import { decompress } from "./decompress.ts";

/** Codings of content, as `content-encoding` has them (RFC 9110 §8.4). */

/** In the order in which they were applied, in lower case (§8.4.1). `identity` is none. */
export const codingsOf = (field: string | null | undefined): readonly string[] =>
  (field ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");

/** Bounds the text of a problem. */
const SHOWN_MAX = 100;

/** Asks the client for its body without codings, which are not undone for requests; `undefined` where it has none. */
export function codedDetail({ headers }: Request): string | undefined {
  const codings = codingsOf(headers.get("content-encoding")).join(", ").slice(0, SHOWN_MAX);
  return codings === "" ? undefined : `Send the body without the content-encoding ${codings}.`;
}

/** Fields for which workerd itself decodes a body that was asked for readable: as a whole, and in lower case alone. */
const BY_RUNTIME: ReadonlySet<string> = new Set(["gzip", "br"]);

/** Codings that can be undone here. `x-gzip` is gzip (§8.4.1.3), and `deflate` the format of zlib (§8.4.1.2). */
const FORMATS: ReadonlyMap<string, "gzip" | "deflate"> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
] as const);

/** Each may make a thousand bytes of one. */
const CODINGS_MAX = 3;

/** A coding that cannot be undone, or all of too many. */
export interface CodingError {
  readonly coding: string;
}

/**
 * The content of an origin's answer without its codings. A body that is not coded as `field` says breaks the stream.
 * `field`: `content-encoding`. `asksReadable`: as in `ProxyRequest`.
 */
export function decodedBody(
  body: ReadableStream<Uint8Array>,
  field: string | null,
  { asksReadable }: { readonly asksReadable: boolean },
): Result<ReadableStream<Uint8Array>, CodingError> {
  if (field === null || (asksReadable && BY_RUNTIME.has(field))) return ok(body);
  const codings = codingsOf(field);
  if (codings.length > CODINGS_MAX) return err({ coding: codings.join(", ") });
  const unknown = codings.find((coding) => !FORMATS.has(coding));
  if (unknown !== undefined) return err({ coding: unknown });
  return ok(codings.reduceRight((coded, coding) => decompress(coded, FORMATS.get(coding) ?? "gzip"), body));
}

/** The stream once its first chunk is there; `undefined` where it broke before. */
export async function begunBody(body: ReadableStream<Uint8Array>): Promise<ReadableStream<Uint8Array> | undefined> {
  const reader = body.getReader();
  const first = await reader.read().catch(() => undefined);
  if (first === undefined) return undefined;
  const give = (
    { done, value }: ReadableStreamReadResult<Uint8Array>,
    controller: ReadableStreamDefaultController<Uint8Array>,
  ) => (done ? controller.close() : controller.enqueue(value));
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => give(first, controller),
      pull: async (controller) => give(await reader.read(), controller),
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
