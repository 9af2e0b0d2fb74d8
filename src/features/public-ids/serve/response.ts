import { err, ok, type Result } from "../../../ids/result.ts";
import { decodedBody } from "../../../proxy/codings.ts";
import type { JsonError, JsonFraming } from "../../../proxy/json-bytes.ts";
import { joinBytes } from "../../../routing/bytes.ts";
import type { FieldPaths } from "../table/field-paths.ts";
import { FieldRewriter, type FieldRewriterOptions, type ToPublic } from "./fields.ts";

/** How the answers of public entities are turned for clients. */
export interface PublicResponseOptions {
  /** `undefined`: no field is declared, and bodies go by as they are. */
  readonly paths: FieldPaths | undefined;
  readonly toPublic: ToPublic;
  /** Whether nothing but references is turned: the answer of an entity that is not public itself. */
  readonly keepsTag?: boolean;
  /** Turns a `location` or `content-location` into the public one; `undefined` takes the field away. */
  readonly toPublicReference: (reference: string) => string | undefined;
  /** A body that is not JSON, in which no ID is sought. */
  readonly otherBodies: "pass" | "refuse";
  /** Told when a body turns out to be no JSON, and is broken off. */
  readonly onBroken: (error: BodyError) => void;
}

/** `not-json`: a body that was said to be nothing, and is something. */
export type BodyError = JsonError | { readonly reason: "not-json" };

/** Fields in which any answer may name a public entity. */
export const REFERENCE_FIELDS = ["location", "content-location"] as const;

/** Types of JSON lines. */
const LINE_TYPE = /^application\/((x-)?ndjson|jsonl|(x-)?jsonlines)$/;

/** Fields that describe bytes which are about to change (RFC 9110 §8.6, §14.3; RFC 9530; RFC 1864). */
const BYTE_FIELDS = ["content-length", "accept-ranges", "content-digest", "repr-digest", "digest", "content-md5"];

/**
 * Public IDs in place of internal ones, in references and in the body. Tags become weak, so that a 304 and its 200 agree.
 * The error says why an answer cannot be shown: its body might hold internal IDs. The caller cancels the body.
 */
export function publicResponse(answer: Response, options: PublicResponseOptions): Result<Response, string> {
  const { paths, toPublic, onBroken } = options;
  const headers = new Headers(answer.headers);
  for (const name of REFERENCE_FIELDS) {
    const reference = headers.get(name);
    const shown = reference === null ? undefined : options.toPublicReference(reference);
    if (shown === undefined) headers.delete(name);
    else headers.set(name, shown);
  }
  const tag = options.keepsTag ? null : headers.get("etag");
  if (tag?.startsWith('"')) headers.set("etag", `W/${tag}`);

  const init = { status: answer.status, statusText: answer.statusText, headers };
  // Without declared fields the body came undecoded, and goes on as it came.
  if (paths === undefined) return ok(new Response(answer.body, { ...init, encodeBody: "manual" }));
  const framing = jsonFraming(headers.get("content-type") ?? "");
  const obstacle = answer.body === null ? undefined : obstacleTo(framing, answer, options.otherBodies);
  if (obstacle !== undefined) return err(obstacle);
  if (framing === undefined) {
    if (options.otherBodies === "pass" || answer.body === null) return ok(new Response(answer.body, init));
    const empty = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        if (chunk.length === 0) return;
        onBroken({ reason: "not-json" });
        controller.error(new Error("the origin's body is not JSON"));
      },
    });
    return ok(new Response(answer.body.pipeThrough(empty), init));
  }
  for (const name of [...BYTE_FIELDS, "content-encoding"]) headers.delete(name);
  if (answer.body === null) return ok(new Response(null, init));
  const decoded = decodedBody(answer.body, answer.headers.get("content-encoding"), { asksReadable: true });
  if (!decoded.ok) return err(`its coding ${decoded.error.coding} cannot be decoded`);
  return ok(new Response(decoded.value.pipeThrough(rewriting({ paths, toPublic, framing }, onBroken)), init));
}

const obstacleTo = (
  framing: JsonFraming | undefined,
  { status, headers }: Response,
  otherBodies: PublicResponseOptions["otherBodies"],
): string | undefined => {
  if (framing === undefined) {
    // RFC 9110 §8.3: without a type there may be no content, which shows only when the body is read.
    const mayBeEmpty = (headers.get("content-type") ?? "") === "" || headers.get("content-length") === "0";
    return otherBodies === "pass" || mayBeEmpty ? undefined : "it is not JSON";
  }
  // RFC 9110 §7.7 and RFC 9111 §5.2.2.6: the content must not be transformed, so it is not shown.
  if (/(?:^|[\s,])no-transform(?:$|[\s,])/i.test(headers.get("cache-control") ?? ""))
    return "it is marked no-transform";
  // A part of a document cannot be read (RFC 9110 §15.3.7).
  return status === 206 ? "it is a partial document" : undefined;
};

/** How a body is framed whose `content-type` is JSON (RFC 8259 §11, RFC 6839 §3.1); `undefined` if it is none. */
const jsonFraming = (contentType: string): JsonFraming | undefined => {
  // Several fields are joined with commas: one that says JSON is enough to look.
  const types = contentType.split(",").map((value) => (value.split(";", 1)[0] as string).trim().toLowerCase());
  if (types.some((type) => LINE_TYPE.test(type))) return "lines";
  return types.some((type) => type === "application/json" || type === "text/json" || type.endsWith("+json"))
    ? "document"
    : undefined;
};

/** The rewriter as a stream. A body that is no JSON breaks the stream, and with it the message to the client. */
const rewriting = (options: FieldRewriterOptions, onBroken: PublicResponseOptions["onBroken"]) => {
  const rewriter = new FieldRewriter(options);
  const give = (pieces: ReturnType<FieldRewriter["end"]>, controller: TransformStreamDefaultController<Uint8Array>) => {
    if (pieces.ok) {
      const [first, second] = pieces.value;
      // One chunk for each that came: many small ones would cost a turn of the stream each.
      if (first !== undefined) controller.enqueue(second === undefined ? first : joinBytes(pieces.value));
    } else {
      onBroken(pieces.error);
      controller.error(new Error(`the origin's body is not JSON: ${pieces.error.reason}`));
    }
  };
  return new TransformStream({
    transform: (chunk, controller) => give(rewriter.push(chunk), controller),
    flush: (controller) => give(rewriter.end(), controller),
  });
};
