import { answer, type Exchange, respondWithError } from "./exchange.ts";
import { type JsonValue, mergePatch } from "./json.ts";

/** Demo documents are a few lines; large bodies go to `/upload`. */
const BODY_BYTES_MAX = 1024 * 1024;

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/** Reads and writes the document that the path names. */
export async function handleDocument(exchange: Exchange): Promise<void> {
  const { store, documentPath, request, response } = exchange;
  const known = store.read(documentPath);
  switch (request.method) {
    case "GET":
    case "HEAD":
      return known === undefined ? unknownDocument(exchange) : answer(exchange, 200, { entity: known });
    case "OPTIONS":
      response.setHeader("allow", METHODS);
      return answer(exchange, 200, { entity: known ?? null });
    case "DELETE":
      return store.remove(documentPath) ? answer(exchange, 200, { entity: null }) : unknownDocument(exchange);
    case "PUT":
    case "PATCH":
    case "POST":
      return await writeDocument(exchange, known);
    default:
      response.setHeader("allow", METHODS);
      return respondWithError(exchange, 405, "this origin has no such method");
  }
}

async function writeDocument(exchange: Exchange, known: JsonValue | undefined): Promise<void> {
  const body = await readJson(exchange);
  if ("fault" in body) return respondWithError(exchange, body.status, body.fault);
  const method = exchange.request.method;
  // An action on a document leaves the document as it is, and answers with what it was given.
  if (method === "POST") return answer(exchange, 200, { entity: known ?? null, received: body.value });
  if (method === "PATCH" && known === undefined) return unknownDocument(exchange);
  const entity = method === "PATCH" ? mergePatch(known, body.value) : body.value;
  const isNew = exchange.store.write(exchange.documentPath, entity);
  answer(exchange, isNew ? 201 : 200, { entity });
}

const unknownDocument = (exchange: Exchange): void =>
  respondWithError(exchange, 404, "this region has no such document");

type Body = { readonly value: JsonValue } | { readonly status: number; readonly fault: string };

async function readJson(exchange: Exchange): Promise<Body> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Reads to the end whatever comes: a request that is cut off never sees its answer.
  for await (const chunk of exchange.request) {
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  if (bytes > BODY_BYTES_MAX) return { status: 413, fault: `a document has at most ${BODY_BYTES_MAX} bytes` };
  if (bytes === 0) return { value: null };
  try {
    return { value: JSON.parse(Buffer.concat(chunks).toString("utf8")) };
  } catch {
    return { status: 400, fault: "a document is JSON" };
  }
}
